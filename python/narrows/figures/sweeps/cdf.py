"""The distribution of a metric over flows."""

from __future__ import annotations

import numpy as np
import polars as pl

from narrows.figures.axes import short
from narrows.figures.model import Figure, Line, Mark, Panel
from narrows.figures.palette import name as cca_name
from narrows.figures.sweeps.view import (
    DASHES,
    View,
    figure,
    label_of,
    numbers,
    require,
    shades_of,
    split,
)


def cdf(frame: pl.DataFrame, view: View) -> Figure:
    """The distribution of a metric over flows, a line for each class; of the table `flows`."""
    metric = view.metric or ("fct_s" if frame["fct_s"].null_count() < frame.height else "share")
    require(frame, metric, "--metric", numbers(frame))
    by = view.by
    shades = shades_of(frame, view)

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        marks: list[Mark] = []
        for number, (value, part) in enumerate(split(rows, by, shades)):
            label = short(by, value) if by else ""
            for group in part["class"].unique(maintain_order=True).to_list():
                values = part.filter(pl.col("class") == group)[metric].drop_nulls().sort()
                if values.len():
                    x = np.repeat(values.to_numpy().astype(float), 2)
                    steps = np.arange(values.len() + 1) / values.len()
                    y = np.repeat(steps, 2)[1:-1]
                    dash = DASHES[number % len(DASHES)]
                    text = " ".join(t for t in (label, cca_name(str(group))) if t)
                    marks.append(Line(text, x, y, str(group), dash=dash))
        return Panel(
            label_of(metric), "Part of the flows", tuple(marks), title, y_range=(0.0, 1.02)
        )

    used = () if by is None else (by,)
    return figure(
        frame, view, used, panel, f"Distribution of {label_of(metric)}", "Distribution functions."
    )
