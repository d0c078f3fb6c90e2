"""The last backup slides: 1 CUBIC against 1 BBR by the size of the buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.figures.palette import name
from narrows.report import Check
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

KINDS = ("cubic", "bbr")
BUFFERS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 50.0)
QUICK_BUFFERS = (0.5, 1.0, 2.0, 8.0, 16.0)
POINT = 8.0
MEASURED = {"cubic": 6.31, "bbr": 3.26}
"""Mbit/s at 8 BDP, from the slide."""
SHALLOW, DEEP = 1.5, 6.0


def cases(scope: Scope) -> Iterator[Case]:
    """Buffers and orders of starting, 4 minutes each."""
    offsets = testbed.OFFSETS[: 3 if scope.quick else None]
    for room in QUICK_BUFFERS if scope.quick else BUFFERS:
        for place, (first, second) in enumerate(offsets):
            flows = [{"cca": "cubic", "start": first}, {"cca": "bbr", "start": second}]
            path = {**testbed.SLOW, "buffer": f"{room:g}bdp"}
            spec = testbed.spec(scope, path, flows, duration="240s", sample_interval="500ms")
            yield Case({"buffer_bdp": room, "order": place}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Goodput of both flows; throughput in windows of 1 s of the run shown."""
    rates = run_frames.throughput(trial, 1.0, whole=True)
    return {"goodput": testbed.per_flow(trial), "throughput": rates}


def draw(data: Data) -> list[Picture]:
    """Goodput against the buffer, as on the slide, and the run of the data point over time."""
    figure = Figure(
        "1 CUBIC against 1 BBR by the size of the buffer",
        f"10 Mbit/s, 40 ms, 4 minutes; mean and range of the orders; {data.scope.profile}",
        (_sweep(data), _point(data)),
        "Goodput of CUBIC and BBR against the buffer. Below, both over time at 8 BDP.",
        height=3.0,
    )
    return [Picture("", "Goodput by the size of the buffer, and over time at 8 BDP", figure)]


def _sweep(data: Data) -> Panel:
    lines = [spread.line(by_buffer(data, kind), "buffer_bdp", name(kind), kind) for kind in KINDS]
    for kind, mbps in MEASURED.items():
        at, value = np.array([POINT]), np.array([mbps])
        lines.append(Line(f"{name(kind)}, the slide", at, value, kind, marker="s", kind="points"))
    ticks = tuple((room, f"{room:g}") for room in (0.5, 1, 2, 4, 8, 16, 32, 50))
    return Panel("Buffer (BDP)", "Goodput (Mbit/s)", tuple(lines), x_scale="log",
                 y_range=(0, 10), ticks=ticks)  # fmt: skip


def _point(data: Data) -> Panel:
    first = (pl.col("order") == 0) & (pl.col("trial") == 1)
    rows = data["throughput"].filter((pl.col("buffer_bdp") == POINT) & first)
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
    """The numbers at 8 BDP, which flow is ahead in which buffers, and that BBR doesn't collapse."""
    point = [at_point(data, kind) for kind in KINDS]
    sweep = [shallow(data), deep(data), alive(data)]
    return [
        Finding("ietf98/deep-buffer-point", point),
        Finding("ietf98/buffer-sweep", sweep),
    ]


def _goodputs(data: Data, kind: str, room: float) -> list[float]:
    """A flow's goodput in a buffer, by starting order."""
    rows = data["goodput"].filter((pl.col("buffer_bdp") == room) & (pl.col("cca") == kind))
    return rows.sort("order")["goodput_mbps"].to_list()


def at_point(data: Data, kind: str) -> Check:
    """Goodput at 8 BDP against the slide's."""
    return judge_bounds(
        data,
        "ietf98/deep-buffer-point",
        kind,
        f"{name(kind)} has {MEASURED[kind]:g} Mbit/s at 8 BDP.",
        "Goodput over 4 minutes, in each order of starting.",
        _goodputs(data, kind, POINT),
    )


def _ahead(data: Data, first: str, second: str, low: float, high: float) -> dict[str, list[float]]:
    """How far one flow is ahead of the other in a range of buffers."""
    rooms = [room for room in data["goodput"]["buffer_bdp"].unique().sort() if low <= room <= high]
    return {
        f"{room:g} BDP": differences(_goodputs(data, first, room), _goodputs(data, second, room))
        for room in rooms
    }


def shallow(data: Data) -> Check:
    """How far BBR is ahead in shallow buffers."""
    return judge_bounds(
        data,
        "ietf98/buffer-sweep",
        "shallow",
        "BBR is ahead in shallow buffers.",
        f"BBR's goodput less CUBIC's in every buffer up to {SHALLOW:g} BDP.",
        _ahead(data, "bbr", "cubic", 0.0, SHALLOW),
    )


def deep(data: Data) -> Check:
    """How far CUBIC is ahead in deep buffers."""
    return judge_bounds(
        data,
        "ietf98/buffer-sweep",
        "deep",
        "CUBIC is ahead in deep ones.",
        f"CUBIC's goodput less BBR's in every buffer from {DEEP:g} BDP on.",
        _ahead(data, "cubic", "bbr", DEEP, 1e9),
    )


def alive(data: Data) -> Check:
    """BBR's goodput in every buffer."""
    rooms = data["goodput"]["buffer_bdp"].unique().sort().to_list()
    return judge_bounds(
        data,
        "ietf98/buffer-sweep",
        "alive",
        "BBR never collapses.",
        "BBR's goodput in every buffer.",
        {f"{room:g} BDP": _goodputs(data, "bbr", room) for room in rooms},
    )
