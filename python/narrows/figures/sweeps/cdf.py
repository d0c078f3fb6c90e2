"""The distribution of a metric over flows."""

from __future__ import annotations

from narrows.figures.model import Figure, Mark, Panel
from narrows.figures.names import uncapitalize
from narrows.figures.sweeps.view import (
    View,
    by_class,
    choose_lines,
    figure,
    numbers,
    value_columns,
)
from narrows.figures.transfers import distribution
from narrows.late import pl
from narrows.metrics.catalogue import scale_of
from narrows.metrics.headings import column_of


def cdf(frame: pl.DataFrame, view: View) -> Figure:
    """The distribution of a metric over flows, a line for each class, from the table `flows`."""
    metric = view.metric or ("fct_s" if frame["fct_s"].null_count() < frame.height else "share")
    metric = column_of(metric, numbers(frame), "--metric")
    value_columns(frame, {"": metric}, metric)
    view = choose_lines(frame, view, (), frame["class"].n_unique())
    classes = by_class(frame, view)

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        marks: list[Mark] = []
        for label, look, part in classes(rows):
            values = part[metric].drop_nulls()
            if values.len():
                shown = scale_of(metric) * values.to_numpy()
                marks.append(distribution(label, shown, look.hue, look.dash))
        return Panel(
            view.label(metric), "Fraction of flows", tuple(marks), title, y_range=(0.0, 1.02)
        )

    used = () if view.by is None else (view.by,)
    what = f"Distribution of {uncapitalize(view.phrase(metric))}"
    return figure(frame, view, used, panel, what, "Distribution functions.")
