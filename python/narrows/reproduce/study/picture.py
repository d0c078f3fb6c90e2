"""Draws the picture of a study: a panel of bars or of lines for each of its figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from narrows.figures.axes import ChartAxis
from narrows.figures.looks import Look, looks
from narrows.figures.model import Bar, Figure, Guide, Panel
from narrows.figures.palette import SHADES
from narrows.figures.placing import share_heights
from narrows.late import pl
from narrows.reproduce import spread
from narrows.reproduce.exhibit import Data, Picture
from narrows.reproduce.library import Table
from narrows.reproduce.study import labels
from narrows.words import begin_lower

MOST_TICKS = 6
"""A line with more places has numbers on its axis instead of their labels."""
WIDTH = 0.8
"""The width of all bars at one place; places are 1 apart."""


def draw(study: Table, data: Data) -> Picture:
    """Draws every figure as a panel: means of the trials, with their range."""
    drawn = [_panel(figure, study, data) for figure in study["figure"]]
    panels = share_heights(drawn, [figure["y"] for figure in study["figure"]])
    words = "; ".join(begin_lower(panel.title) for panel in panels)
    conditions = study.get("conditions", study["source"])
    lines = all(one.get("kind") == "lines" for one in study["figure"])
    figure = Figure(
        study["title"],
        f"{conditions[0].upper()}{conditions[1:]}; mean and range of trials; {data.scope.profile}",
        panels,
        f"{'Lines' if lines else 'Bars'}: {words}.",
        columns=min(len(panels), 2),
        height=2.6,
    )
    return Picture("", f"{study['title']}: {words}", figure)


def matching(data: Data, where: Table) -> pl.DataFrame:
    """Returns the rows of the conditions whose labels are those of `where`, one or several."""
    rows = data["outcome"]
    for axis, label in where.items():
        rows = rows.filter(pl.col(axis).is_in(label if isinstance(label, list) else [label]))
    return rows


def _panel(figure: Table, study: Table, data: Data) -> Panel:
    """Draws a panel: `kind` says whether with bars or with lines."""
    return (
        _lines(figure, study, data) if figure.get("kind") == "lines" else _bars(figure, study, data)
    )


def _lines(figure: Table, study: Table, data: Data) -> Panel:
    """Draws a measure over the numbers of one axis.

    There is a line for each label of another axis, or one line.
    """
    x, by = figure["x"], figure.get("by")
    rows = matching(data, figure.get("where", {}))
    across = None if "x_label" in figure else labels.scale(study, x)
    present = rows[x].unique(maintain_order=True)
    places = {label: _place(study, x, label, across) for label in present}
    rows = rows.with_columns(at=pl.col(x).replace_strict(places, return_dtype=pl.Float64))
    kinds = rows[by].unique(maintain_order=True).to_list() if by else [None]
    marks = []
    for kind, look in zip(kinds, _looks(figure, study, kinds), strict=True):
        mine = rows if by is None else rows.filter(pl.col(by) == kind)
        found = spread.over(mine.drop_nulls(figure["y"]), "at", figure["y"])
        label = "" if by is None else labels.say_in_legend(study, by, kind)
        marks.append(spread.line(found, "at", label, look.hue, dash=look.dash))
    what, _, unit = study["measures"][figure["y"]]["label"].partition(" (")
    ticks = tuple((place, str(label)) for label, place in places.items() if place is not None)
    logarithmic = figure.get("y_scale") == "log"
    return Panel(
        across.label if across else figure.get("x_label", labels.title(study, x)),
        unit.rstrip(")"),
        tuple(marks),
        title=_title(figure, what),
        ticks=ticks if across is None and len(ticks) <= MOST_TICKS else (),
        y_range=(None if logarithmic else 0, figure.get("y_to")),
        x_scale=figure.get("x_scale", "linear"),
        y_scale=figure.get("y_scale", "linear"),
        guides=_guides(figure),
    )


def _place(study: Table, name: str, label: object, across: ChartAxis | None) -> float | None:
    """Returns where a label is on an axis of numbers."""
    if across is None:
        return labels.number(label)
    return across.positions[labels.set_by(study, name, label)[across.place]]


def _title(figure: Table, what: str) -> str:
    return f"{figure['title']}: {what}" if "title" in figure else what


def _guides(figure: Table) -> tuple[Guide, ...]:
    return tuple(Guide(value, words) for words, value in figure.get("guides", {}).items())


def _bars(figure: Table, study: Table, data: Data) -> Panel:
    """Draws the places of one axis with a bar for each label of another, or one bar."""
    x, by = figure["x"], figure.get("by")
    rows = matching(data, figure.get("where", {}))
    places = rows[x].unique(maintain_order=True).to_list()
    kinds = rows[by].unique(maintain_order=True).to_list() if by else [None]
    width = WIDTH / len(kinds)
    looks_of_kinds = _looks(figure, study, kinds)
    measured = labels.control_of_measure(study, figure["y"])
    marks = []
    for number, (kind, look) in enumerate(zip(kinds, looks_of_kinds, strict=True)):
        shift = (number - (len(kinds) - 1) / 2) * width
        for place, label in enumerate(places):
            cell = rows.filter(**{x: label}, **({by: kind} if by else {}))
            found = cell[figure["y"]].drop_nulls().to_list()
            if found:
                said = labels.say_in_legend(study, by, kind) if by else ""
                hue = look.hue if by or measured else labels.control(study, x, label) or look.hue
                marks.append(_bar(said, place + shift, found, hue, 0.9 * width))
    what, _, unit = study["measures"][figure["y"]]["label"].partition(" (")
    bare = all(labels.NUMBER.fullmatch(str(label)) for label in places)
    return Panel(
        figure.get(
            "x_label", labels.title(study, x) if bare or labels.names_place(study, x) else ""
        ),
        unit.rstrip(")"),
        tuple(marks),
        title=_title(figure, what),
        ticks=tuple(
            (float(place), str(label) if bare else labels.say(study, x, label))
            for place, label in enumerate(places)
        ),
        y_range=(0, figure.get("y_to")),
        guides=_guides(figure),
    )


def _looks(figure: Table, study: Table, kinds: Sequence[object]) -> list[Look]:
    """Returns the look of each label of the axis `by`; without one, of the measure's control.

    The values of a quantity are shades of one colour, from faint to strong.
    """
    if "by" in figure:
        controls = [labels.control(study, figure["by"], kind) for kind in kinds]
        if any(controls) or labels.scale(study, figure["by"]) is None or len(kinds) > len(SHADES):
            return looks(controls)
        steps = np.linspace(0, len(SHADES) - 1, len(kinds)).round().astype(int)
        return [Look(f"step:{step}", "solid") for step in steps]
    return [Look(labels.control_of_measure(study, figure["y"]) or "ink", "solid")]


def _bar(label: str, at: float, found: list[float], colour: str, width: float) -> Bar:
    mean = sum(found) / len(found)
    return Bar(label, at, mean, colour, (min(found), max(found)), width=width)
