"""A metric over an axis."""

from __future__ import annotations

import polars as pl

from narrows.figures.axes import axis
from narrows.figures.looks import asides
from narrows.figures.model import Figure, Mark, Panel
from narrows.figures.sweeps.view import (
    View,
    bounds_of,
    choose_lines,
    figure,
    label_of,
    limits,
    means_line,
    metrics,
    over,
    split,
    styles,
    x_of,
)


def lines(frame: pl.DataFrame, view: View) -> Figure:
    """A metric over an axis, a line for each value of another, or for each class."""
    x = x_of(frame, view)
    wanted = metrics(frame, view.metric or "utilization")
    view = choose_lines(frame, view, (x,), len(wanted))
    by, styled = view.by, styles(frame, view, [group for group in wanted if group])

    pairs = list(wanted.items())
    frame = frame.filter(pl.any_horizontal(pl.col(metric).is_not_null() for _, metric in pairs))

    across = axis(x, frame[x].to_list(), view.xscale)

    guides = bounds_of(view, wanted.values())

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        marks: list[Mark] = []
        parts = [(*part, *pair) for part in split(rows, by, styled.shades) for pair in pairs]
        for (value, part, group, metric), aside in zip(parts, asides(len(parts)), strict=True):
            known = part.drop_nulls(metric)
            label, look = styled.of(value, group)
            if known.height:
                marks.append(means_line(known, across, metric, label, look, aside))
        return over(
            across, view.metric or "utilization", marks, title, limits(wanted, marks), guides
        )

    used = (x,) if by is None else (x, by)
    what = label_of(view.metric or "utilization")
    return figure(frame, view, used, panel, what, "A metric over an axis.")
