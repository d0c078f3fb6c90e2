"""Section V: BBR over 4G, 5G and satellites, which the paper leaves to future work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures.model import Bar, Figure, Guide, Panel
from narrows.reproduce import run_frames
from narrows.reproduce.conditions import dumbbell, mix
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, make_note

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

NETWORKS = {"lte": "4G", "5g": "5G", "leo": "low orbit", "geo": "geostationary"}
"""Presets of paths with their names here."""
MIXES = {"4 BBR": {"bbr": 4}, "4 CUBIC": {"cubic": 4}, "2 BBR + 2 CUBIC": {"bbr": 2, "cubic": 2}}
SHARED = "2 BBR + 2 CUBIC"
COLOURS = {"4 BBR": "bbr", "4 CUBIC": "cubic", SHARED: "neutral"}
MEASURES = {
    "busy": ("Utilisation (%)", "How busy the link is: its mean utilisation.", " %"),
    "queue": ("Mean queue (BDP)", "The queue's mean length.", " BDP"),
    "loss": ("Loss (%)", "Packets dropped at the queue of packets arrived.", " %"),
}
WIDTH = 0.26
JITTER = "20us"
"""Noise that makes the trials of CUBIC alone differ."""


def cases(scope: Scope) -> Iterator[Case]:
    """Every mix over every network; a quarter is warm-up."""
    for preset in NETWORKS:
        for label, counts in MIXES.items():
            spec = dumbbell(
                "panaderia",
                {"preset": preset},
                mix(**counts),
                profile=scope.profile,
                host={**testbed.host(scope), "jitter": JITTER},
                duration="40s" if scope.quick else "80s",
                warmup="10s" if scope.quick else "20s",
                trials=testbed.TRIALS,
                record="summary",
            )
            yield Case({"network": preset, "mix": label}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Utilisation, queue, loss, and BBR's share beside CUBIC."""
    row = run_frames.summary(trial)
    kinds = {str(flow["cca"]) for flow in trial.scenario["flows"]}
    share = 100 * pl.col("bbr.share") if kinds == {"bbr", "cubic"} else pl.lit(None, pl.Float64)
    return {
        "outcome": row.select(
            busy=100 * pl.col("utilization"),
            queue=pl.col("queue_mean_bdp"),
            loss=100 * pl.col("loss_rate"),
            share=share,
        )
    }


def draw(data: Data) -> list[Picture]:
    """Each measure over the networks, a bar for each mix; BBR's share beside CUBIC."""
    panels = [_panel(data, value, label, tuple(MIXES)) for value, (label, *_) in MEASURES.items()]
    panels.append(_panel(data, "share", "BBR's share (%)", (SHARED,)))
    figure = Figure(
        "BBR and CUBIC over 4G, 5G and satellites",
        f"Presets of paths; mean and range of the trials; {data.scope.profile}",
        tuple(panels),
        "Bars for four networks: utilisation, queue and loss of three mixes, and BBR's share.",
        columns=2,
        height=2.4,
    )
    return [Picture("", "Utilisation, queue, loss and share over four networks", figure)]


def _panel(data: Data, value: str, label: str, mixes: tuple[str, ...]) -> Panel:
    bars = []
    for step, words in enumerate(mixes):
        for place, network in enumerate(NETWORKS):
            found = data.values(value, network=network, mix=words)
            at = place + (step - (len(mixes) - 1) / 2) * WIDTH
            bars.append(
                Bar(words, at, sum(found) / len(found), COLOURS[words], (min(found), max(found)),
                    width=0.9 * WIDTH)
            )  # fmt: skip
    ticks = tuple((float(place), words) for place, words in enumerate(NETWORKS.values()))
    guides = (Guide(50, "fair"),) if value == "share" else ()
    return Panel("", label, tuple(bars), ticks=ticks, y_range=(0, None), guides=guides)


def judge(data: Data) -> list[Finding]:
    """The results; the paper only says that such an evaluation is important."""
    notes = [
        make_note(f"{label.partition(' (')[0]}.", how, _describe(data, value, unit, tuple(MIXES)))
        for value, (label, how, unit) in MEASURES.items()
    ]
    share = _describe(data, "share", " %", (SHARED,))
    notes.append(make_note("What BBR has beside CUBIC.", "BBR's share of the goodput.", share))
    return [Finding("panaderia/networks", [], notes=notes)]


def _describe(data: Data, value: str, unit: str, mixes: tuple[str, ...]) -> str:
    descriptions = []
    for network, words in NETWORKS.items():
        each = (
            (label, interval(data, data.values(value, network=network, mix=label), 3, unit))
            for label in mixes
        )
        descriptions.append(f"{words}: {', '.join(f'{found} ({label})' for label, found in each)}")
    return "; ".join(descriptions)
