"""A metric over an axis."""

from __future__ import annotations

import polars as pl

from narrows.figures.axes import axis, short
from narrows.figures.model import Figure, Mark, Panel
from narrows.figures.palette import name as cca_name
from narrows.figures.sweeps.view import (
    DASHES,
    View,
    figure,
    label_of,
    limits,
    means_line,
    metrics,
    over,
    shades_of,
    split,
    x_of,
)


def lines(frame: pl.DataFrame, view: View) -> Figure:
    """A metric over an axis, a line for each value of another, or for each class."""
    x = x_of(frame, view)
    wanted = metrics(frame, view.metric or "utilization")
    by = view.by
    shades = shades_of(frame, view)

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        across = axis(x, rows[x].to_list())
        marks: list[Mark] = []
        for value, part in split(rows, by, shades):
            label = short(by, value) if by else ""
            for style, (words, metric) in enumerate(wanted.items()):
                known = part.drop_nulls(metric)
                hue = shades[value] if by else (words or "cubic")
                text = " ".join(t for t in (label, cca_name(words)) if t)
                if known.height:
                    dash = DASHES[style % len(DASHES)] if by else "solid"
                    marks.append(means_line(known, across, metric, text, hue, dash))
        return over(across, view.metric or "utilization", marks, title, limits(wanted), ())

    used = (x,) if by is None else (x, by)
    what = label_of(view.metric or "utilization")
    return figure(frame, view, used, panel, what, "A metric over an axis.")
