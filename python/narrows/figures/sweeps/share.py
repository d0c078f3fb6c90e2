"""The shares of classes over an axis."""

from __future__ import annotations

import polars as pl

from narrows.errors import InputError
from narrows.figures.axes import axis
from narrows.figures.looks import looks_of, words
from narrows.figures.model import Figure, Guide, Mark, Panel
from narrows.figures.sweeps.view import (
    View,
    classes_of,
    figure,
    means_line,
    over,
    x_of,
)


def share(frame: pl.DataFrame, view: View) -> Figure:
    """The share of each class over an axis, usually the buffer, with the fair share."""
    several = frame.filter(_class_count(frame) > 1)
    if several.is_empty():
        raise InputError.at("DIR", "no combination with two classes", "a sweep with some")
    x, looks = x_of(several, view), looks_of(classes_of(several))

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        across = axis(x, rows[x].to_list())
        marks: list[Mark] = []
        fair: dict[float, str] = {}
        for label in classes_of(rows):
            part = rows.drop_nulls(f"{label}.share")
            if part.height:
                look = looks[label]
                marks.append(
                    means_line(part, across, f"{label}.share", words(label), look.hue, look.dash)
                )
                level = float(part[f"{label}.flows"][0] / part["flows"][0])
                fair[round(level, 6)] = "fair"
        guides = tuple(Guide(value, words) for value, words in fair.items())
        return over(across, "Share of the goodput", marks, title, (0.0, 1.0), guides)

    return figure(several, view, (x,), panel, "Shares", "Share of each class, with the fair share.")


def _class_count(frame: pl.DataFrame) -> pl.Expr:
    parts = [pl.col(f"{c}.flows").is_not_null().cast(pl.Int64) for c in classes_of(frame)]
    return pl.sum_horizontal(parts) if parts else pl.lit(0)
