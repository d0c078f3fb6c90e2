"""Completion times of smaller flows beside BBR and beside CUBIC, over the buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Floats, Line, Panel
from narrows.figures.palette import name
from narrows.reproduce.exhibit import Case, Data, Picture, Scope

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial


def cases(
    scope: Scope, rate: int, size: str, buffers: Sequence[float] = testbed.BUFFERS
) -> Iterator[Case]:
    """Successive CUBIC flows of one size beside a large flow of BBR or of CUBIC."""
    for large in ("bbr", "cubic"):
        for buffer in buffers:
            spec = testbed.spec(scope, large, "cubic", rate, buffer, size=size)
            yield Case({"beside": large, "buffer_bdp": buffer}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Completion times of the smaller flows."""
    return {"times": testbed.smaller(trial).drop("name")}


def pictures(data: Data, title: str, subtitle: str) -> list[Picture]:
    """Completion times over the buffer with their spread; the subtitle ends with the profile."""
    drawn = figure(data, title, f"{subtitle}; {data.scope.profile}")
    return [Picture("", "Mean completion time; bars: standard deviation of the flows", drawn)]


def penalty(data: Data, buffer: float) -> float:
    """The mean completion time beside BBR divided by that beside CUBIC."""
    return mean(data, "bbr", buffer) / mean(data, "cubic", buffer)


def of(data: Data, beside: str, buffer: float) -> Floats:
    """All completion times in seconds in one buffer beside one control."""
    rows = data["times"].filter((pl.col("beside") == beside) & (pl.col("buffer_bdp") == buffer))
    return frames.column(rows, "fct_s")


def mean(data: Data, beside: str, buffer: float) -> float:
    """The mean completion time in one buffer beside one control; NaN without flows."""
    values = of(data, beside, buffer)
    return float(values.mean()) if len(values) else float("nan")


def spread(data: Data, beside: str, buffer: float) -> float:
    """The standard deviation relative to the mean; NaN of fewer than two flows."""
    values = of(data, beside, buffer)
    return float(values.std(ddof=1) / values.mean()) if len(values) > 1 else float("nan")


def figure(data: Data, title: str, subtitle: str) -> Figure:
    """Mean and standard deviation over the buffer, a line for each control of the large flow."""
    sizes = data["times"]["buffer_bdp"].unique().sort().to_list()
    lines = []
    for place, beside in enumerate(("bbr", "cubic")):
        middle: Floats = np.array([mean(data, beside, buffer) for buffer in sizes])
        parts: Floats = np.array([spread(data, beside, buffer) for buffer in sizes])
        reach: Floats = np.asarray(middle * parts, dtype=np.float64)
        x: Floats = np.arange(len(sizes), dtype=np.float64) + 0.08 * (2 * place - 1)
        lines.append(
            Line(
                f"beside {name(beside)}",
                x,
                middle,
                beside,
                middle - reach,
                middle + reach,
                marker="o",
            )
        )
    ticks = tuple((float(place), f"{buffer:g} BDP") for place, buffer in enumerate(sizes))
    panel = Panel("Buffer", "Completion time (s)", tuple(lines), ticks=ticks)
    words = "Completion time over the buffer, beside BBR and beside CUBIC, with its spread."
    return Figure(title, subtitle, (panel,), words, height=3.4)
