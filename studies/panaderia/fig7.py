"""Figure 7: BBR's loss by the size of the buffer."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures.model import Figure, Line, Panel
from narrows.report import Check
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds, per_trial

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

COLOURS = {40: "step:0", 80: "step:2", 120: "step:4"}
"""The colours of the rates, whose flows all have the same control."""
SHALLOW = 1.5
LEAST_POINTS = 4
"""A line fits two points whatever they are, and three nearly so."""
NAMED = {1.0: 5.5, 0.5: 11.0}
"""The points that the paper names: buffer in BDP, loss in percent."""


def cases(scope: Scope) -> Iterator[Case]:
    """BBR at three rates over all buffers; at 80 Mbit/s with other timers too."""
    for rate in (80,) if scope.quick else testbed.RATES:
        for room in testbed.buffers(scope):
            case = testbed.cell(scope, "bbr", rate_mbps=rate, buffer_bdp=room)
            yield Case({"timers": "late", **case.key}, case.spec)
    if testbed.host(scope):
        for timers, rooms in (("perfect", testbed.buffers(scope)),):
            for room in rooms:
                lateness = testbed.TIMERS[timers]
                case = testbed.cell(scope, "bbr", buffer_bdp=room, lateness=lateness)
                yield Case({"timers": timers, **case.key}, case.spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Loss and utilisation after the warm-up: one row."""
    row = run_frames.summary(trial).select((pl.col("loss_rate") * 100).alias("loss"), "utilization")
    return {"loss": row}


def mean_loss(data: Data, rate: int, timers: str = "late") -> pl.DataFrame:
    """Mean, least and greatest loss over the trials by buffer."""
    rows = data["loss"].filter((pl.col("rate_mbps") == rate) & (pl.col("timers") == timers))
    return spread.over(rows, "buffer_bdp", "loss")


def draw(data: Data) -> list[Picture]:
    """Loss over buffer, a line for each rate."""
    lines = [
        spread.line(mean_loss(data, rate), "buffer_bdp", f"{rate} Mbit/s", colour)
        for rate, colour in COLOURS.items()
        if rate in data["loss"]["rate_mbps"]
    ]
    perfect = mean_loss(data, 80, "perfect")
    if perfect.height:
        label = "80 Mbit/s, perfect timers"
        lines.append(spread.line(perfect, "buffer_bdp", label, "neutral", dash="dash"))
    stated = sorted(NAMED.items())
    lines.append(
        Line(
            "the paper",
            np.array([room for room, _ in stated]),
            np.array([loss for _, loss in stated]),
            "loss",
            marker="s",
            dash="dot",
        )
    )
    panel = Panel(
        "Router queue (multiples of BDP)",
        "Loss (%)",
        tuple(lines),
        x_range=(0.15, 2.1),
        y_range=(0, None),
    )
    figure = Figure(
        "BBR's loss by the size of the buffer",
        f"4 BBR, 25 ms, {testbed.span(data.scope)}, mean and range of the trials; "
        f"{data.scope.profile}",
        (panel,),
        "Lines of the loss over the size of the buffer, for each rate.",
        height=3.6,
    )
    return [Picture("", "Loss at the bottleneck against the size of its queue", figure)]


def judge(data: Data) -> list[Finding]:
    """The points that the paper names, the line between them, and the throughput."""
    checks = [at(data, "one-bdp", 1.0), at(data, "half-bdp", 0.5), *linear(data), none(data)]
    return [
        Finding("panaderia/fig7", checks),
        Finding("panaderia/shallow-throughput", [busy(data), in_spite(data)]),
    ]


def _losses(data: Data, room: float) -> list[float]:
    rows = data["loss"].filter((pl.col("timers") == "late") & (pl.col("buffer_bdp") == room))
    by_rate = rows.group_by("trial", maintain_order=True).agg(pl.col("loss").mean())
    return by_rate["loss"].to_list()


def at(data: Data, check: str, room: float) -> Check:
    """The loss at one size of the buffer."""
    return judge_bounds(
        data,
        "panaderia/fig7",
        check,
        f"The loss is about {NAMED[room]:g} % at {room:g} BDP.",
        "Packets dropped of packets arrived, minutes 2 to 4, mean over the rates.",
        _losses(data, room),
    )


def linear(data: Data) -> Iterator[Check]:
    """The deviation of the loss from a straight line over the shallow buffers.

    Nothing on a grid with too few of them for a line through them to fail.
    """
    rooms = [room for room in testbed.buffers(data.scope) if room <= SHALLOW]
    if len(rooms) < LEAST_POINTS:
        return
    off = {room: per_trial(data, partial(_off_line, rooms=rooms, room=room)) for room in rooms}
    yield judge_bounds(
        data,
        "panaderia/fig7",
        "linear",
        "It falls linearly in between.",
        f"How far the loss of each buffer up to {SHALLOW:g} BDP is from the straight line that "
        "fits all of them best, in points.",
        {f"{room:g} BDP": values for room, values in off.items()},
    )


def _off_line(data: Data, rooms: list[float], room: float) -> float:
    """The residual of one buffer from the line through several."""
    losses = [float(np.mean(_losses(data, one))) for one in rooms]
    slope, level = np.polyfit(rooms, losses, 1)
    return losses[rooms.index(room)] - float(slope * room + level)


def none(data: Data) -> Check:
    """The loss of the larger buffers."""
    rows = data["loss"].filter((pl.col("timers") == "late") & (pl.col("buffer_bdp") >= SHALLOW))
    return judge_bounds(
        data,
        "panaderia/fig7",
        "none",
        "From 1.5 BDP on there is next to no loss.",
        "The loss of every rate and buffer from 1.5 BDP on.",
        _cells(rows, "loss"),
    )


def _cells(rows: pl.DataFrame, value: str) -> dict[str, list[float]]:
    """A column in every cell, by trial."""
    cells = rows.group_by("rate_mbps", "buffer_bdp", maintain_order=True)
    return {f"{rate} Mbit/s, {room:g} BDP": cell[value].to_list() for (rate, room), cell in cells}


def in_spite(data: Data) -> Check:
    """The loss in spite of which the link is used."""
    rows = data["loss"].filter((pl.col("timers") == "late") & (pl.col("buffer_bdp") < 1))
    return judge_bounds(
        data,
        "panaderia/shallow-throughput",
        "in-spite",
        "There is a loss in spite of which it does.",
        "The loss of every rate and buffer below 1 BDP.",
        _cells(rows, "loss"),
    )


def busy(data: Data) -> Check:
    """The utilisation in spite of the loss."""
    rows = data["loss"].filter((pl.col("timers") == "late") & (pl.col("buffer_bdp") < SHALLOW))
    return judge_bounds(
        data,
        "panaderia/shallow-throughput",
        "busy",
        "BBR's throughput stays high in spite of the loss.",
        "The utilisation of every rate and buffer below 1.5 BDP.",
        _cells(rows.with_columns(percent=100 * pl.col("utilization")), "percent"),
    )
