"""The method: every experiment in two independent environments, from one description.

Here they are the simulator and a Linux kernel in virtual time (`narrows kernel build`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.reproduce import run_frames
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, judge_bounds, per_trial, rows_where

from . import testbed

if TYPE_CHECKING:
    from narrows.figures.model import Floats
    from narrows.report import Check
    from narrows.store import StoredTrial

PLACES = {"sim": "the simulator", "uml": "Linux in virtual time"}
EXPERIMENTS = {
    "CUBIC alone": ({"buffer": "262500b"}, [{"cca": "cubic"}], 8),
    "BBR alone": ({"buffer": "262500b"}, [{"cca": "bbr"}], 8),
    "CUBIC and BBR, 6 BDP": ({"buffer": "200pkt"}, [{"cca": "cubic"}, {"cca": "bbr"}], 100),
}
"""Buffer, flows and seconds: the two flows of Figure 5, and the extension."""
ALONE = ("CUBIC alone", "BBR alone")
SHARED = "CUBIC and BBR, 6 BDP"
CLAIM = "cs244/two-environments"
SETTLED_S = 1.0
QUANTILES = (0.1, 0.5, 0.9)
TRIALS = 5


def cases(scope: Scope) -> Iterator[Case]:
    """Every experiment in both environments, paced by fq."""
    for place in PLACES:
        for label, (path, flows, length) in EXPERIMENTS.items():
            spec = dumbbell(
                "cs244",
                {**testbed.SLOW, **path},
                flows,
                profile=scope.profile,
                host={"fq": True, "jitter": testbed.JITTER},
                duration=f"{length}s",
                trials=TRIALS,
                sample_interval="20ms" if label in ALONE else "500ms",
            )
            yield Case({"place": place, "experiment": label}, spec, backend=place)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Smoothed RTTs every 20 ms (the kernel reports no others); throughput in windows of 1 s."""
    rtt = run_frames.samples(trial, ["srtt_ms"], whole=True).drop_nulls("srtt_ms")
    return {
        "rtt": rtt.select("time_s", "cca", "srtt_ms"),
        "throughput": run_frames.throughput(trial, 1.0, whole=True),
    }


def draw(data: Data) -> list[Picture]:
    """RTT of each alone, and BBR's throughput beside CUBIC, from both."""
    panels = [*(_rtts(data, label) for label in ALONE), _shares(data)]
    figure = Figure(
        "One description, two environments",
        f"10 Mbit/s, 40 ms; {', '.join(PLACES.values())}; {data.scope.profile}",
        tuple(panels),
        "RTT of CUBIC and of BBR alone, and the throughput of both together, in two environments.",
        height=2.3,
    )
    return [Picture("", "RTT of each flow alone, and BBR's throughput beside CUBIC", figure)]


def _rtts(data: Data, label: str) -> Panel:
    kind = label.partition(" ")[0].lower()
    lines = []
    for place, words in PLACES.items():
        x, y = _rtt(rows_where(data, "trial", 1), place, label)
        if len(x):
            lines.append(_line(words, x, y, kind, place))
    return Panel("Time (s)", "Smoothed RTT (ms)", tuple(lines), title=label, x_range=(0, 8))


def _line(words: str, x: Floats, y: Floats, kind: str, place: str) -> Line:
    """The simulator's lines broad and coloured, the kernel's dashed on top."""
    if place == "sim":
        return Line(words, x, y, kind, width=2.4)
    return Line(words, x, y, "loss", dash="dash", width=1.1)


def _rtt(data: Data, place: str, label: str) -> tuple[Floats, Floats]:
    rows = data["rtt"].filter((pl.col("place") == place) & (pl.col("experiment") == label))
    return frames.column(rows, "time_s"), frames.column(rows, "srtt_ms")


def _shares(data: Data) -> Panel:
    lines = []
    for place, words in PLACES.items():
        rows = _throughput(rows_where(data, "trial", 1), place).filter(pl.col("class") == "bbr")
        if rows.height:
            x, y = frames.column(rows, "start_s"), frames.column(rows, "throughput_mbps")
            lines.append(_line(words, x, y, "bbr", place))
    return Panel("Time (s)", "BBR's throughput (Mbit/s)", tuple(lines), title=SHARED,
                 x_range=(0, 100), y_range=(0, 10))  # fmt: skip


def _throughput(data: Data, place: str) -> pl.DataFrame:
    return data["throughput"].filter((pl.col("place") == place) & (pl.col("experiment") == SHARED))


def judge(data: Data) -> list[Finding]:
    """RTTs and shares are the same; undecided if no kernel is built."""
    checks = [*(same_rtt(data, label) for label in ALONE), same_share(data)]
    return [Finding(CLAIM, checks)]


def _apart(data: Data, value: Callable[..., float]) -> list[float]:
    """A value in the simulator minus that in the kernel, by trial; none if it wasn't run."""
    if set(PLACES) - set(data["rtt"]["place"].unique()):
        return []
    sim, other = (per_trial(data, partial(value, place=place)) for place in PLACES)
    return differences(sim, other)


def same_rtt(data: Data, label: str) -> Check:
    """The distribution of the RTT over time, which doesn't depend on phases of cycles."""

    def quantile(one: Data, place: str, part: float) -> float:
        times, rtt = _rtt(one, place, label)
        return float(np.quantile(rtt[times >= SETTLED_S], part))

    return judge_bounds(
        data,
        CLAIM,
        "rtt",
        f"{label}: the same RTTs from both.",
        f"Quantiles of the smoothed RTT from {SETTLED_S:g} to 8 s, the simulator's less the "
        "kernel's: when a cycle of gains begins is decided by chance in both, so that the curves "
        "aren't compared instant by instant.",
        {
            f"{100 * part:g}th percentile": _apart(data, partial(quantile, part=part))
            for part in QUANTILES
        },
    )


def same_share(data: Data) -> Check:
    """BBR's share in both."""

    def share(one: Data, place: str) -> float:
        rows = _throughput(one, place)
        mine = testbed.number(rows.filter(pl.col("class") == "bbr")["throughput_mbps"].sum())
        total = testbed.number(rows["throughput_mbps"].sum())
        return 100 * mine / total if total else float("nan")

    return judge_bounds(
        data,
        CLAIM,
        "share",
        f"{SHARED}: the same shares from both.",
        "BBR's share of the throughput over 100 s, the simulator's less the kernel's.",
        _apart(data, share),
    )
