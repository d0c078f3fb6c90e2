"""A metric over an axis."""

from __future__ import annotations

from narrows.figures.axes import axis
from narrows.figures.looks import asides
from narrows.figures.model import Figure, Mark, Panel
from narrows.figures.sweeps.view import (
    View,
    bounds_of,
    choose_lines,
    fair_shares,
    figure,
    from_zero,
    limits,
    means_line,
    metrics,
    numbers,
    over,
    shared_name,
    split,
    styles,
    valued_columns,
    x_of,
)
from narrows.late import pl
from narrows.metrics.leading import of_applications

UTILIZATION = "utilization"


def lines(frame: pl.DataFrame, view: View) -> Figure:
    """A metric over an axis, a line for each value of another, or for each class.

    Without a choice, the first metric of an application, or else utilization.
    """
    x = x_of(frame, view)
    metric = view.metric or next(iter(of_applications(numbers(valued_columns(frame)))), UTILIZATION)
    wanted = metrics(frame, view, metric)
    metric = shared_name(wanted)
    view = from_zero(choose_lines(frame, view, (x,), len(wanted)), metric)
    by, styled = view.by, styles(frame, view, [group for group in wanted if group])

    pairs = list(wanted.items())
    frame = frame.filter(pl.any_horizontal(pl.col(column).is_not_null() for _, column in pairs))

    across = axis(x, frame[x].to_list(), view.xscale)

    guides = bounds_of(view, wanted.values())

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        marks: list[Mark] = []
        parts = [(*part, *pair) for part in split(rows, by, styled.shades) for pair in pairs]
        for (value, part, group, column), aside in zip(parts, asides(len(parts)), strict=True):
            known = part.drop_nulls(column)
            label, look = styled.of(value, group)
            if known.height:
                marks.append(means_line(known, across, column, label, look, aside))
        fair = (
            fair_shares(rows, wanted, view.controls) if metric.rpartition(".")[2] == "share" else ()
        )
        return over(across, view.label(metric), marks, title, limits(wanted, marks), fair + guides)

    used = (x,) if by is None else (x, by)
    return figure(frame, view, used, panel, view.phrase(metric), "A metric over an axis.")
