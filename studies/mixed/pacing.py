"""The common part of Figures 12 and 15: a large BBR flow's pacing rate beside CUBIC flows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Floats, Guide, Line, Panel
from narrows.reproduce.exhibit import Case, Data, Scope

from . import testbed

BUFFERS = (1.0, 2.0)
SETTLED_S = 2.0


def cases(scope: Scope, rate: int, size: str) -> Iterator[Case]:
    """Two buffers; samples of 50 ms."""
    for buffer in BUFFERS:
        spec = testbed.spec(
            scope, "bbr", "cubic", rate, buffer, size=size,
            record="samples", sample_interval="50ms",
        )  # fmt: skip
        yield Case({"buffer_bdp": buffer}, spec)


def rates(data: Data, buffer: float, trial: int | None = None) -> pl.DataFrame:
    """Samples of the pacing rate in one buffer, of one trial or of all."""
    rows = data["pacing"].filter(pl.col("buffer_bdp") == buffer).sort("trial", "time_s")
    return rows if trial is None else rows.filter(pl.col("trial") == trial)


def low_part(data: Data, buffer: float, limit_mbps: float) -> list[float]:
    """The percentage of samples after `SETTLED_S` below a rate, by trial."""
    rows = rates(data, buffer).filter(pl.col("time_s") >= SETTLED_S)
    found = rows.group_by("trial", maintain_order=True).agg(
        (pl.col("pacing_mbps") < limit_mbps).mean() * 100
    )
    return found["pacing_mbps"].to_list()


def medians(data: Data, buffer: float) -> list[float]:
    """The median rate after `SETTLED_S`, by trial."""
    rows = rates(data, buffer).filter(pl.col("time_s") >= SETTLED_S)
    return (
        rows.group_by("trial", maintain_order=True)
        .agg(pl.col("pacing_mbps").median())["pacing_mbps"]
        .to_list()
    )


def figure(data: Data, title: str, rate: int, shown_s: float) -> Figure:
    """The pacing rate over time, a line for each buffer."""
    lines = []
    for buffer, colour in zip(BUFFERS, ("step:0", "step:4"), strict=True):
        rows = rates(data, buffer, 1)
        x, y = frames.column(rows, "time_s"), frames.column(rows, "pacing_mbps")
        lines.append(Line(f"{buffer:g} BDP", x, y, colour, kind="step", width=1.2))
    high = float(np.nanmax(np.concatenate([_late(line) for line in lines])))
    panel = Panel(
        "Time (s)",
        "Pacing rate (Mbit/s)",
        tuple(lines),
        x_range=(0, shown_s),
        y_range=(0, 1.1 * high),
        guides=(Guide(rate, "bottleneck"),),
    )
    return Figure(
        title,
        f"{rate} Mbit/s, 45 ms, first repetition; {data.scope.profile}",
        (panel,),
        "The pacing rate over time in buffers of 1 and 2 BDP.",
        height=3.4,
    )


def _late(line: Line) -> Floats:
    """The axis from values after slow start, whose rates would flatten the rest."""
    return line.y[line.x >= SETTLED_S]
