"""The picture of a study: a panel of bars for each of its figures."""

from __future__ import annotations

from typing import Any

import polars as pl

from narrows.figures.model import Bar, Figure, Guide, Panel
from narrows.figures.palette import COLOURS
from narrows.reproduce.exhibit import Data, Picture
from narrows.reproduce.study_files import Table

WIDTH = 0.8
"""Of all bars at one place; places are 1 apart."""


def draw(study: Table, data: Data) -> Picture:
    """Every figure as a panel: means of the trials, with their range."""
    panels = tuple(_panel(figure, study, data) for figure in study["figure"])
    words = "; ".join(panel.title.lower() for panel in panels)
    conditions = study["conditions"]
    figure = Figure(
        study["title"],
        f"{conditions[0].upper()}{conditions[1:]}; mean and range of trials; {data.scope.profile}",
        panels,
        f"Bars: {words}.",
        columns=min(len(panels), 2),
        height=2.6,
    )
    return Picture("", f"{study['title']}: {words}", figure)


def matching(data: Data, where: Table) -> pl.DataFrame:
    """The rows of the conditions whose labels are those of `where`, one or several."""
    rows = data["outcome"]
    for axis, label in where.items():
        rows = rows.filter(pl.col(axis).is_in(label if isinstance(label, list) else [label]))
    return rows


def _panel(figure: Table, study: Table, data: Data) -> Panel:
    x, by, measure = figure["x"], figure.get("by"), study["measures"][figure["y"]]
    rows = matching(data, figure.get("where", {}))
    places = rows[x].unique(maintain_order=True).to_list()
    kinds = rows[by].unique(maintain_order=True).to_list() if by else [""]
    marks = [
        bar
        for number, kind in enumerate(kinds)
        for place, label in enumerate(places)
        if (bar := _bar(rows, figure, {x: label, **({by: kind} if by else {})}, kind,
                        place + _shift(number, len(kinds)), number, WIDTH / len(kinds)))
    ]  # fmt: skip
    guides = tuple(Guide(value, words) for words, value in figure.get("guides", {}).items())
    ticks = tuple((float(place), str(label)) for place, label in enumerate(places))
    what, _, unit = measure["label"].partition(" (")
    title = f"{figure['title']}: {what}" if "title" in figure else what
    return Panel("", unit.rstrip(")"), tuple(marks), title=title, ticks=ticks,
                 y_range=(0, figure.get("y_to")), guides=guides)  # fmt: skip


def _shift(number: int, count: int) -> float:
    return (number - (count - 1) / 2) * WIDTH / count


def _bar(rows: Any, figure: Table, cell: Table, kind: Any, at: float, number: int,  # noqa: ANN401
         width: float) -> Bar | None:  # fmt: skip
    """The bar of a condition; None if nothing was measured there."""
    found = rows.filter(**cell)[figure["y"]].drop_nulls().to_list()
    if not found:
        return None
    own = str(kind or cell[figure["x"]]).lower()
    colour = own if own in COLOURS else f"flow:{number % 7}"
    spread = (min(found), max(found))
    return Bar(str(kind), at, sum(found) / len(found), colour, spread, width=0.9 * width)
