"""Metrics over an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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
from narrows.metrics.leading import main_subjects
from narrows.words import begin_lower, begin_upper, join_words

UTILIZATION = "utilization"
METRIC_IN = 2.5
"""The height of a panel that is alone in its row, above that of another metric."""


def lines(frame: pl.DataFrame, view: View) -> Figure:
    """A metric over an axis, a line for each value of another, or for each class.

    Without a choice, two metrics of an application below each other, or else utilization.
    """
    if view.metric is None:
        own = main_subjects(numbers(valued_columns(frame)))
        if len(own) > 1:
            return _below([_lines(frame, view, name, _title(view, own)) for name in own])
        view = replace(view, metric=next(iter(own), UTILIZATION))
    return _lines(frame, view, str(view.metric))


def _title(view: View, columns: Sequence[str]) -> str:
    """Metrics of one class in a title: "Frozen time and delay p95 of call"."""
    *before, last = columns
    names = [view.phrase(column.rpartition(".")[2]) for column in before]
    return begin_upper(join_words(map(begin_lower, (*names, view.phrase(last)))))


def _below(drawn: Sequence[Figure]) -> Figure:
    """Figures of several metrics as one, each below the one before."""
    panels = tuple(panel for figure in drawn for panel in figure.panels)
    single = len(panels) == len(drawn)
    return replace(drawn[0], panels=panels, height=METRIC_IN if single else drawn[0].height)


def _lines(frame: pl.DataFrame, view: View, metric: str, title: str = "") -> Figure:
    """A metric over an axis; the `title` says so by default."""
    x = x_of(frame, view)
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
                marks += means_line(known, across, column, label, look, aside)
        fair = (
            fair_shares(rows, wanted, view.controls) if metric.rpartition(".")[2] == "share" else ()
        )
        return over(across, view.label(metric), marks, title, limits(wanted, marks), fair + guides)

    used = (x,) if by is None else (x, by)
    what = title or view.phrase(metric)
    return figure(frame, view, used, panel, what, "A metric over an axis.")
