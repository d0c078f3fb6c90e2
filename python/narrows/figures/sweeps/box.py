"""A metric's quartiles over an axis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from narrows.figures.axes import axis
from narrows.figures.model import BoxPlot, Figure, Line, Mark, Panel
from narrows.figures.sweeps.unsettled import is_unsettled, rings
from narrows.figures.sweeps.view import (
    View,
    bounds_of,
    figure,
    from_zero,
    limits,
    metrics,
    shared_name,
    styles,
    x_of,
)
from narrows.late import pl
from narrows.metrics.catalogue import scale_of


def box(frame: pl.DataFrame, view: View) -> Figure:
    """A metric's quartiles over an axis, side by side for each class."""
    x = x_of(frame, view)
    wanted = metrics(frame, view, view.metric or "utilization")
    metric = shared_name(wanted)
    view, what = from_zero(view, metric), view.label(metric)
    styled = styles(frame, replace(view, by=None), [group for group in wanted if group])

    across = axis(x, frame[x].to_list())
    guides = bounds_of(view, wanted.values())

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        marks: list[Mark] = []
        unsettled: list[Line] = []
        step = 0.8 / len(wanted)
        for place, value in enumerate(across.positions):
            part = rows.filter(pl.col(x) == value)
            for number, (group, column) in enumerate(wanted.items()):
                known = scale_of(column) * part[column].drop_nulls().to_numpy().astype(float)
                at = place + (number - (len(wanted) - 1) / 2) * step
                if len(known):
                    label, look = styled.of(None, group)
                    marks.append(BoxPlot(label, at, known, look.hue))
                    if is_unsettled(part.drop_nulls(column), column):
                        unsettled += rings([(at, float(np.median(known)))], look.hue)
        ticks = tuple((float(i), words) for i, words in enumerate(across.words.values()))
        ends = (-0.6, len(ticks) - 0.4)
        low, high = limits(wanted, marks)
        return Panel(
            across.label, what, (*marks, *unsettled), title, ends, (low, high),
            guides=guides, ticks=ticks,
        )  # fmt: skip

    alt = "Quartiles of a metric over an axis."
    return figure(frame, view, (x,), panel, view.phrase(metric), alt, "quartiles of the runs")
