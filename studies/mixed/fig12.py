"""Figure 12: pacing rate of a large BBR flow beside 1 MB CUBIC flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, interval, judge_bounds

from . import pacing, testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

RATE = 20
LOW = 0.75


def cases(scope: Scope) -> Iterator[Case]:
    """Two buffers at 20 Mbit/s."""
    yield from pacing.cases(scope, RATE, "1mb")


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The large flow's pacing rate, and the completion times of the 1 MB flows."""
    rows = run_frames.samples(trial, ["pacing_mbps"], whole=True).filter(pl.col("name") == "large")
    return {"pacing": rows.select("time_s", "pacing_mbps"), "times": testbed.smaller(trial)}


def draw(data: Data) -> list[Picture]:
    """The first 15 s."""
    figure = pacing.figure(data, "Pacing rate of BBR beside 1 MB CUBIC flows", RATE, 15.0)
    return [Picture("", "Pacing rate of the large flow; the 1 MB flows start at 0.5 s", figure)]


def judge(data: Data) -> list[Finding]:
    """The rate is lower for long periods at 2 BDP; the first flow suffers most."""
    return [Finding("mixed/fig12", [lower(data), than(data), first(data)])]


def lower(data: Data) -> Check:
    """How often the rate is low at 2 BDP."""
    return judge_bounds(
        data,
        "mixed/fig12",
        "lower",
        "The pacing rate is clearly lower for long stretches at 2 BDP.",
        f"Samples from {pacing.SETTLED_S:g} s on with a rate below {100 * LOW:g} % of the "
        "bottleneck's.",
        pacing.low_part(data, 2.0, LOW * RATE),
    )


def than(data: Data) -> Check:
    """How often the rate is low at 2 BDP, compared with 1 BDP."""
    one, two = (pacing.low_part(data, buffer, LOW * RATE) for buffer in pacing.BUFFERS)
    return judge_bounds(
        data,
        "mixed/fig12",
        "than",
        "At 1 BDP it is so much more rarely.",
        "The same part at 2 BDP less that at 1 BDP.",
        differences(two, one),
        f" ({interval(data, two)} % at 2 BDP, {interval(data, one)} % at 1 BDP)",
    )


def first(data: Data) -> Check:
    """The first flow's completion time against the later ones'."""
    rows = data["times"].filter(pl.col("buffer_bdp") == 2.0)
    found = []
    for _, mine in rows.group_by("trial", maintain_order=True):
        times = mine.sort("instance")["fct_s"].to_list()
        found.append(times[0] / (sum(times[1:]) / len(times[1:])))
    return judge_bounds(
        data,
        "mixed/fig12",
        "first",
        "At 2 BDP the first CUBIC flow suffers most.",
        "Completion time of the first 1 MB flow over the mean of the later ones.",
        found,
    )
