"""Section IV-D over all of Table I: how BBR's share spreads beside CUBIC, by flows and rate."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures.model import Figure, Guide, Panel
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds, per_trial

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

CLAIM = "panaderia/table-cycle"
BELOW, ABOVE = (0.5, 1.0), (1.75, 2.0)
"""Buffers on both sides of the 1.5 BDP from which on the text sees the cycle."""
FLOWS = testbed.FLOWS


def cases(scope: Scope) -> Iterator[Case]:
    """Half BBR and half CUBIC, in every number of flows and at every rate of Table I."""
    for count in FLOWS:
        for rate in (80,) if scope.quick else testbed.RATES:
            for room in (*BELOW, *ABOVE):
                case = testbed.cell(scope, "mix", count, rate, room)
                key = {name: case.key[name] for name in ("flows", "rate_mbps", "buffer_bdp")}
                yield Case(key, case.spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The interquartile range of BBR's throughput, in percent of the rate."""
    percent = pl.col("percent")
    rows = run_frames.throughput(trial).filter(pl.col("class") == "bbr")
    return {
        "spread": rows.select(points=percent.quantile(0.75) - percent.quantile(0.25)),
    }


def draw(data: Data) -> list[Picture]:
    """The spread over the buffer, a panel for each rate and a line for each number of flows."""
    rates = data["spread"]["rate_mbps"].unique().sort().to_list()
    figure = Figure(
        "The cycle of BBR and CUBIC over Table I",
        f"Half BBR, half CUBIC, 25 ms, 500 ms windows; {data.scope.profile}",
        tuple(_panel(data, rate) for rate in rates),
        "The interquartile range of BBR's throughput over the buffer, for three rates.",
        height=2.4,
    )
    return [
        Picture("", "Interquartile range of BBR's throughput; mean and range of trials", figure)
    ]


def _panel(data: Data, rate: int) -> Panel:
    lines = []
    for step, count in enumerate(FLOWS):
        rows = data["spread"].filter((pl.col("rate_mbps") == rate) & (pl.col("flows") == count))
        found = spread.over(rows, "buffer_bdp", "points")
        lines.append(spread.line(found, "buffer_bdp", f"{count} flows", f"step:{2 * step}"))
    return Panel("Buffer (BDP)", "Interquartile range (points)", tuple(lines), y_range=(0, None),
                 title=f"{rate} Mbit/s", guides=(Guide(1.5, "", upright=True),))  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """The spread grows above 1.5 BDP everywhere."""
    return [Finding(CLAIM, [grows(data)])]


def grows(data: Data) -> Check:
    """The spread above 1.5 BDP over that below."""

    def ratio(one: Data, count: int, rate: int) -> float:
        rows = one["spread"].filter((pl.col("flows") == count) & (pl.col("rate_mbps") == rate))
        means = [
            float(rows.filter(pl.col("buffer_bdp").is_in(rooms))["points"].sum()) / len(rooms)
            for rooms in (ABOVE, BELOW)
        ]
        return means[0] / means[1]

    rates = data["spread"]["rate_mbps"].unique().sort().to_list()
    return judge_bounds(
        data,
        CLAIM,
        "grows",
        "Above 1.5 BDP the spread of the throughput grows, over the full range of Table I.",
        "Interquartile range of BBR's throughput in windows of 500 ms, mean of "
        f"{ABOVE[0]:g} and {ABOVE[1]:g} BDP over that of {BELOW[0]:g} and {BELOW[1]:g} BDP, for "
        "each number of flows and rate.",
        {
            f"{count} flows, {rate} Mbit/s": per_trial(data, partial(ratio, count=count, rate=rate))
            for count in FLOWS
            for rate in rates
        },
    )
