"""The picture of a study: a panel of bars for each of its figures."""

from __future__ import annotations

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
    """The places of one axis with a bar for each label of another, or one bar."""
    x, by = figure["x"], figure.get("by")
    rows = matching(data, figure.get("where", {}))
    places = rows[x].unique(maintain_order=True).to_list()
    kinds = rows[by].unique(maintain_order=True).to_list() if by else [None]
    width = WIDTH / len(kinds)
    marks = []
    for number, kind in enumerate(kinds):
        shift = (number - (len(kinds) - 1) / 2) * width
        for place, label in enumerate(places):
            cell = rows.filter(**{x: label}, **({by: kind} if by else {}))
            found = cell[figure["y"]].drop_nulls().to_list()
            if found:
                colour = _colour(label if kind is None else kind, number)
                marks.append(_bar(kind or "", place + shift, found, colour, 0.9 * width))
    what, _, unit = study["measures"][figure["y"]]["label"].partition(" (")
    return Panel(
        "",
        unit.rstrip(")"),
        tuple(marks),
        title=f"{figure['title']}: {what}" if "title" in figure else what,
        ticks=tuple((float(place), str(label)) for place, label in enumerate(places)),
        y_range=(0, figure.get("y_to")),
        guides=tuple(Guide(value, words) for words, value in figure.get("guides", {}).items()),
    )


def _colour(label: object, number: int) -> str:
    """That of a control, if it is one; else one of a row."""
    own = str(label).lower()
    return own if own in COLOURS else f"flow:{number % 7}"


def _bar(label: object, at: float, found: list[float], colour: str, width: float) -> Bar:
    mean = sum(found) / len(found)
    return Bar(str(label), at, mean, colour, (min(found), max(found)), width=width)
