"""Section V: whether BBR is unstable beside any control that fills buffers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures.model import Bar, Figure, Panel
from narrows.figures.palette import name
from narrows.reproduce import run_frames
from narrows.reproduce.conditions import dumbbell, mix
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, make_note

from . import testbed
from .cycle import INFLATED

if TYPE_CHECKING:
    from narrows.store import StoredTrial

BUFFER = 1.75
CONTROLS = ("cubic", "reno", "dctcp", "ledbat", "illinois", "westwood", "vegas")


def cases(scope: Scope) -> Iterator[Case]:
    """2 BBR flows beside 2 of each other control."""
    for cca in CONTROLS:
        spec = dumbbell(
            "panaderia",
            testbed.path(80, BUFFER),
            mix(**{"bbr": 2, cca: 2}),
            profile=scope.profile,
            host=testbed.host(scope),
            duration="120s" if scope.quick else "180s",
            warmup="60s",
            trials=testbed.TRIALS,
            sample_interval="200ms",
        )
        yield Case({"beside": cca}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The part of the time with an inflated RTprop; BBR's share and its spread."""
    limit = INFLATED * float(trial.scenario["path"]["rtt_ns"]) / 1e6
    high = run_frames.internal(trial, "min_rtt_ms").select(
        inflated=100 * (pl.col("value") > limit).cast(pl.Float64).mean()
    )
    percent = pl.col("percent")
    rates = run_frames.throughput(trial).filter(pl.col("class") == "bbr").select(
        share=percent.mean(), spread=percent.quantile(0.75) - percent.quantile(0.25)
    )  # fmt: skip
    return {"outcome": pl.concat([high, rates], how="horizontal")}


def draw(data: Data) -> list[Picture]:
    """Both measures of instability, a bar for each control."""
    panels = tuple(
        _panel(data, value, label)
        for value, label in (
            ("inflated", "RTprop inflated (% of time)"),
            ("spread", "Quartiles of BBR's share apart (points)"),
        )
    )
    figure = Figure(
        "BBR beside other controls that fill buffers",
        f"2 BBR + 2 others, 80 Mbit/s, 25 ms, 1.75 BDP; {data.scope.profile}",
        panels,
        "Bars for each control: how long BBR's RTprop is inflated, and how far its share spreads.",
        height=2.6,
    )
    return [Picture("", "How long RTprop is inflated, and how far BBR's share spreads", figure)]


def _panel(data: Data, value: str, label: str) -> Panel:
    bars = []
    for place, cca in enumerate(CONTROLS):
        found = data.values(value, beside=cca)
        bars.append(Bar("", place, sum(found) / len(found), cca, (min(found), max(found))))
    ticks = tuple((float(place), name(cca)) for place, cca in enumerate(CONTROLS))
    return Panel("", label, tuple(bars), ticks=ticks, y_range=(0, None))


def judge(data: Data) -> list[Finding]:
    """The results; the paper leaves this to future work."""

    def describe(value: str, unit: str) -> str:
        each = (
            (name(cca), interval(data, data.values(value, beside=cca), 3, unit)) for cca in CONTROLS
        )
        return "; ".join(f"{label}: {words}" for label, words in each)

    notes = [
        make_note(
            "How long RTprop is inflated.",
            f"Part of the time in which a BBR flow's RTprop is above {INFLATED:g} times the path's "
            "delay.",
            describe("inflated", " %"),
        ),
        make_note(
            "How far BBR's share spreads.",
            "Distance of the quartiles of BBR's throughput in windows of 500 ms.",
            describe("spread", " points"),
        ),
        make_note(
            "What BBR has.", "BBR's mean throughput, percent of the rate.", describe("share", " %")
        ),
    ]
    return [Finding("panaderia/any-filler", [], notes=notes)]
