"""Slide on open challenges: the window's room for bursts, which TSO needs, in later versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

CLAIM = "ietf98/tso-quantization"
PLAIN, LATER, THIRD = "4.11", "6.12", "bbr3"
VARIANTS = {
    PLAIN: ("BBR of Linux 4.11", "bbr", "linux-4.11", "bbr"),
    LATER: ("BBR of Linux 6.12", "bbr", "linux-6.12", "bbr#1"),
    THIRD: ("BBRv3", "bbr3", "linux-6.12", "bbr3"),
}
"""Label, control, kernel and colour of each version."""
FLOWS, RTT_MS = 8, 25
RATES = (10, 20, 40, 80)
"""Rates in Mbit/s, at which a flow's BDP is 2.6 to 21 packets, beside three bursts of two."""
TRIALS = 3
ENOUGH = 90.0
"""The utilisation from which on its axis shows it, unless one is less."""


def cases(scope: Scope) -> Iterator[Case]:
    """Eight flows on slow paths, with each version of BBR."""
    for name, (_, cca, profile, _) in VARIANTS.items():
        for rate in RATES:
            spec = testbed.spec(
                Scope(profile, scope.quick),
                {"rate": f"{rate}mbit", "rtt": f"{RTT_MS}ms", "buffer": "4bdp"},
                [{"cca": cca, "count": FLOWS}],
                duration="45s" if scope.quick else "75s",
                warmup="15s",
                trials=TRIALS,
                record="summary",
            )
            yield Case({"variant": name, "rate_mbps": rate}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The mean queue in BDP, and the utilisation in percent."""
    row = run_frames.summary(trial)
    return {"outcome": row.select(queue="queue_mean_bdp", busy=100 * pl.col("utilization"))}


def draw(data: Data) -> list[Picture]:
    """Queue and utilisation over the rate."""
    busy = data["outcome"]
    panels = tuple(
        Panel("Rate (Mbit/s)", label, tuple(_lines(data, value)), y_range=(low, None))
        for value, label, low in (
            ("queue", "Mean queue (BDP)", 0.0),
            ("busy", "Utilisation (%)", min(ENOUGH, frames.column(busy, "busy").min())),
        )
    )
    figure = Figure(
        "The window's room for bursts",
        f"{FLOWS} flows, {RTT_MS} ms, 4 BDP, mean and range of the trials",
        panels,
        "Queue and utilisation of eight flows over the rate, for three versions of BBR.",
        columns=2,
        height=3.2,
    )
    return [Picture("", "Queue and utilisation where a flow's BDP is a few packets", figure)]


def _lines(data: Data, value: str) -> Iterator[Line]:
    for name, (label, _, _, colour) in VARIANTS.items():
        rows = data["outcome"].filter(pl.col("variant") == name)
        yield spread.line(spread.over(rows, "rate_mbps", value), "rate_mbps", label, colour)


def judge(data: Data) -> list[Finding]:
    """The queue is shorter at the same utilisation, in today's version 1 and in version 3."""
    return [Finding(CLAIM, [shorter(data, LATER), shorter(data, THIRD), as_busy(data)])]


def _cell(data: Data, variant: str, rate: int, value: str) -> list[float]:
    return data.values(value, variant=variant, rate_mbps=rate)


def shorter(data: Data, variant: str) -> Check:
    """The queue against that of plain BBR."""
    told = "; ".join(
        f"{interval(data, _cell(data, variant, rate, 'queue'))} instead of "
        f"{interval(data, _cell(data, PLAIN, rate, 'queue'))} BDP, {rate} Mbit/s"
        for rate in RATES
    )
    return judge_bounds(
        data,
        CLAIM,
        "shorter",
        f"{VARIANTS[variant][0]} queues less where a BDP is a few packets.",
        f"Mean queue of {FLOWS} flows over that with {VARIANTS[PLAIN][0]}.",
        {
            f"{rate} Mbit/s": ratios(*(_cell(data, v, rate, "queue") for v in (variant, PLAIN)))
            for rate in RATES
        },
        f" ({told})",
    )


def as_busy(data: Data) -> Check:
    """The utilisation against that of plain BBR."""
    return judge_bounds(
        data,
        CLAIM,
        "busy",
        "The link is used as much.",
        f"Utilisation over that with {VARIANTS[PLAIN][0]}.",
        {
            f"{VARIANTS[v][0]}, {rate} Mbit/s": ratios(
                *(_cell(data, one, rate, "busy") for one in (v, PLAIN))
            )
            for v in (LATER, THIRD)
            for rate in RATES
        },
    )
