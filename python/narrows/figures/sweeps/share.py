"""The shares of classes over an axis."""

from __future__ import annotations

from dataclasses import replace

from narrows.errors import InputError
from narrows.figures.axes import axis
from narrows.figures.frames import MOST_NAMED
from narrows.figures.looks import asides, looks_of
from narrows.figures.model import Figure, Mark, Panel
from narrows.figures.sweeps.view import (
    View,
    bounds_of,
    classes_of,
    fair_shares,
    figure,
    means_line,
    over,
    runs_in,
    x_of,
)
from narrows.late import pl
from narrows.words import count_of, join_words


def share(frame: pl.DataFrame, view: View) -> Figure:
    """The share of each class over an axis, usually the buffer, with the fair share."""
    several = frame.filter(_class_count(frame) > 1)
    if several.is_empty():
        raise InputError.at("DIR", "no combination with two classes", "a sweep with some")
    x, looks = x_of(several, view), looks_of(classes_of(several), view.controls)

    alone = runs_in(frame) - runs_in(several)
    note = f"without {count_of(alone, 'run')} of a single class" if alone else ""
    view = replace(view, runs=max(view.runs, runs_in(frame)), whole=True)

    across = axis(x, several[x].to_list(), view.xscale)

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        marks: list[Mark] = []
        known = [name for name in classes_of(rows) if rows[f"{name}.share"].count()]
        for label, aside in zip(known, asides(len(known)), strict=True):
            part, column = rows.drop_nulls(f"{label}.share"), f"{label}.share"
            marks += means_line(part, across, column, view.words(label), looks[label], aside)
        guides = fair_shares(rows, known, view.controls) + bounds_of(
            view, [f"{name}.share" for name in known]
        )
        return over(across, "Share of the goodput (%)", marks, title, (0.0, 100.0), guides)

    shown = [view.words(name) for name in looks]
    what = f"Shares of {join_words(shown)}" if len(shown) <= MOST_NAMED else "Shares"
    alt = "Share of each class, with the fair share."
    return figure(several, view, (x,), panel, what, alt, note)


def _class_count(frame: pl.DataFrame) -> pl.Expr:
    parts = [pl.col(f"{c}.flows").is_not_null().cast(pl.Int64) for c in classes_of(frame)]
    return pl.sum_horizontal(parts) if parts else pl.lit(0)
