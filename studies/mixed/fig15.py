"""Figure 15: pacing rate of a large BBR flow beside 100 KB CUBIC flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds

from . import pacing

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

RATE = 5


def cases(scope: Scope) -> Iterator[Case]:
    """Two buffers at 5 Mbit/s."""
    yield from pacing.cases(scope, RATE, "100kb")


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The large flow's pacing rate."""
    rows = run_frames.samples(trial, ["pacing_mbps"], whole=True).filter(pl.col("name") == "large")
    return {"pacing": rows.select("time_s", "pacing_mbps")}


def draw(data: Data) -> list[Picture]:
    """The first 40 s."""
    figure = pacing.figure(data, "Pacing rate of BBR beside 100 KB CUBIC flows", RATE, 40.0)
    return [Picture("", "Pacing rate of the large flow; the 100 KB flows start at 0.5 s", figure)]


def judge(data: Data) -> list[Finding]:
    """The rate is high in both buffers."""
    return [Finding("mixed/fig15", [high(data)])]


def high(data: Data) -> Check:
    """The median of the rate."""
    return judge_bounds(
        data,
        "mixed/fig15",
        "high",
        "The pacing rate stays high at 1 and 2 BDP.",
        f"Median pacing rate from {pacing.SETTLED_S:g} s on, in percent of the bottleneck's.",
        {
            f"{buffer:g} BDP": [100 * value / RATE for value in pacing.medians(data, buffer)]
            for buffer in pacing.BUFFERS
        },
    )
