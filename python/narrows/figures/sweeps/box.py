"""A metric's quartiles over an axis."""

from __future__ import annotations

import polars as pl

from narrows.figures.axes import axis
from narrows.figures.model import Box, Figure, Mark, Panel
from narrows.figures.palette import name as cca_name
from narrows.figures.sweeps.view import (
    View,
    figure,
    label_of,
    limits,
    metrics,
    x_of,
)


def box(frame: pl.DataFrame, view: View) -> Figure:
    """A metric's quartiles over an axis, side by side for each class."""
    x = x_of(frame, view)
    wanted = metrics(frame, view.metric or "utilization")

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        across = axis(x, rows[x].to_list())
        marks: list[Mark] = []
        step = 0.8 / len(wanted)
        for place, value in enumerate(across.positions):
            part = rows.filter(pl.col(x) == value)
            for number, (words, metric) in enumerate(wanted.items()):
                known = part[metric].drop_nulls().to_numpy().astype(float)
                at = place + (number - (len(wanted) - 1) / 2) * step
                if len(known):
                    marks.append(Box(cca_name(words), at, known, words or "cubic"))
        ticks = tuple((float(i), words) for i, words in enumerate(across.words.values()))
        ends = (-0.6, len(ticks) - 0.4)
        label = label_of(view.metric or "utilization")
        low, high = limits(wanted)
        return Panel(across.label, label, tuple(marks), title, ends, (low, high), ticks=ticks)

    what = label_of(view.metric or "utilization")
    return figure(frame, view, (x,), panel, what, "Quartiles of a metric over an axis.")
