"""The last backup slides: 1 CUBIC against 1 BBR by the size of the buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.figures.palette import name
from narrows.report import Check
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.ietf98 import testbed
from narrows.reproduce.judging import between, interval

if TYPE_CHECKING:
    from narrows.store import StoredTrial

KINDS = ("cubic", "bbr")
BUFFERS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 50.0)
QUICK_BUFFERS = (0.5, 1.0, 2.0, 8.0, 16.0)
POINT = 8.0
MEASURED = {"cubic": 6.31, "bbr": 3.26}
"""Mbit/s at 8 BDP, from the slide."""
NEAR = 0.1
SHALLOW, DEEP = 1.5, 6.0
COLLAPSE = 0.05
"""Of the rate: with less a flow has collapsed."""
REASONABLE = 16.0


def cases(scope: Scope) -> Iterator[Case]:
    """Buffers and orders of starting, 4 minutes each."""
    offsets = testbed.OFFSETS[:1] if scope.quick else testbed.OFFSETS
    for room in QUICK_BUFFERS if scope.quick else BUFFERS:
        for place, (first, second) in enumerate(offsets):
            flows = [{"cca": "cubic", "start": first}, {"cca": "bbr", "start": second}]
            path = {**testbed.SLOW, "buffer": f"{room:g}bdp"}
            spec = testbed.spec(scope, path, flows, duration="240s", sample_interval="500ms")
            yield Case({"buffer_bdp": room, "order": place}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Goodput of both; throughput in windows of 1 s of the one run that is shown."""
    rates = run_frames.throughput(trial, 1.0, whole=True)
    return {"goodput": testbed.per_flow(trial), "throughput": rates}


def draw(data: Data) -> list[Picture]:
    """Goodput against the buffer, as the slide; and the run of the data point over time."""
    figure = Figure(
        "1 CUBIC against 1 BBR by the size of the buffer",
        f"10 Mbit/s, 40 ms, 4 minutes; mean and range of the orders; {data.scope.profile}",
        (_sweep(data), _point(data)),
        "Goodput of CUBIC and BBR against the buffer: BBR is ahead up to 1.5 BDP, CUBIC from 3 "
        "BDP on. Below, both over time at 8 BDP.",
        height=3.0,
    )
    return [Picture("", "Goodput by the size of the buffer, and over time at 8 BDP", figure)]


def _sweep(data: Data) -> Panel:
    lines = [spread.line(by_buffer(data, kind), "buffer_bdp", name(kind), kind) for kind in KINDS]
    ticks = tuple((room, f"{room:g}") for room in (0.5, 1, 2, 4, 8, 16, 32, 50))
    return Panel("Buffer (BDP)", "Goodput (Mbit/s)", tuple(lines), x_scale="log",
                 y_range=(0, 10), ticks=ticks)  # fmt: skip


def _point(data: Data) -> Panel:
    rows = data["throughput"].filter((pl.col("buffer_bdp") == POINT) & (pl.col("order") == 0))
    lines = []
    for kind in KINDS:
        mine = rows.filter(pl.col("class") == kind)
        x, y = frames.column(mine, "start_s"), frames.column(mine, "throughput_mbps")
        lines.append(Line(name(kind), x, y, kind, width=1.1))
    return Panel("Time (s)", "Throughput (Mbit/s)", tuple(lines), title="8 BDP, windows of 1 s",
                 x_range=(0, 240), y_range=(0, 10))  # fmt: skip


def by_buffer(data: Data, kind: str) -> pl.DataFrame:
    """Mean, least and greatest goodput over the orders: `buffer_bdp`, `mean`, `low`, `high`."""
    rows = data["goodput"].filter(pl.col("cca") == kind)
    return spread.over(rows, "buffer_bdp", "goodput_mbps")


def judge(data: Data) -> list[Finding]:
    """The numbers at 8 BDP; who is ahead where; that BBR doesn't collapse."""
    point = [at_point(data, kind) for kind in KINDS]
    sweep = [shallow(data), deep(data), alive(data)]
    return [
        Finding("ietf98/deep-buffer-point", point),
        Finding("ietf98/buffer-sweep", sweep),
    ]


def at_point(data: Data, kind: str) -> Check:
    """Goodput at 8 BDP against the slide's."""
    rows = data["goodput"].filter((pl.col("buffer_bdp") == POINT) & (pl.col("cca") == kind))
    expected = MEASURED[kind]
    low, high = (1 - NEAR) * expected, (1 + NEAR) * expected
    return between(
        f"{name(kind)} has {expected:g} Mbit/s at 8 BDP.",
        "Goodput over 4 minutes, mean over the orders of starting; within "
        f"{100 * NEAR:g} % of the slide's.",
        f"{expected:g} Mbit/s",
        rows["goodput_mbps"].to_list(),
        (round(low, 2), round(high, 2)),
        " Mbit/s",
    )


def _gap(data: Data) -> pl.DataFrame:
    both = [by_buffer(data, kind).select("buffer_bdp", kind=pl.col("mean")) for kind in KINDS]
    cubic, bbr = both
    wide = cubic.join(bbr, on="buffer_bdp", suffix="_bbr")
    return wide.select("buffer_bdp", ahead=pl.col("kind_bbr") - pl.col("kind"))


def shallow(data: Data) -> Check:
    """How far BBR is ahead in shallow buffers."""
    rows = _gap(data).filter(pl.col("buffer_bdp") <= SHALLOW)
    least = testbed.number(rows["ahead"].min())
    return Check(
        "BBR is ahead in shallow buffers.",
        f"BBR's mean goodput minus CUBIC's, the least over the buffers up to {SHALLOW:g} BDP. "
        "Passes above zero.",
        "ahead",
        f"{least:.2f} Mbit/s",
        least > 0,
    )


def deep(data: Data) -> Check:
    """How far CUBIC is ahead in deep buffers."""
    rows = _gap(data).filter(pl.col("buffer_bdp") >= DEEP)
    least = -testbed.number(rows["ahead"].max())
    return Check(
        "CUBIC is ahead in deep ones.",
        f"CUBIC's mean goodput minus BBR's, the least over the buffers from {DEEP:g} BDP on. "
        "Passes above zero.",
        "ahead",
        f"{least:.2f} Mbit/s",
        least > 0,
    )


def alive(data: Data) -> Check:
    """BBR's least goodput."""
    rows = data["goodput"].filter(pl.col("cca") == "bbr")
    usual = rows.filter(pl.col("buffer_bdp") <= REASONABLE)["goodput_mbps"]
    deepest = rows.filter(pl.col("buffer_bdp") == rows["buffer_bdp"].max())["goodput_mbps"]
    least = testbed.number(rows["goodput_mbps"].min())
    return Check(
        "BBR never collapses.",
        f"BBR's least goodput over all buffers and orders. Passes from {100 * COLLAPSE:g} % of the "
        "rate on.",
        "it adapts; BBR's probing drives the system toward fairness",
        f"{least:.2f} Mbit/s; {testbed.number(usual.min()):.2f} up to {REASONABLE:g} BDP, "
        f"{interval(deepest.to_list())} in the deepest",
        least >= COLLAPSE * 10,
    )
