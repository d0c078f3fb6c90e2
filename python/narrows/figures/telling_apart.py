"""Shapes that tell lines apart where colours don't, as in print in grey.

Lines with markers differ in these everywhere. Lines without markers differ in their dashes in a
paper only, as dashes hide much of a line over time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from narrows.figures.looks import DASHES
from narrows.figures.model import Figure, Line, Mark, entry_of

Shape = TypeVar("Shape", bound=str)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
"""Markers in the order of their use, as matplotlib names them."""


def tell_apart(figure: Figure) -> Figure:
    """The figure whose lines of different entries differ in more than their colours."""
    entries: dict[str, list[Line]] = {}
    for line in (line for panel in figure.panels for line in panel.lines):
        if entry_of(line) and not line.hollow and not line.exact:
            entries.setdefault(entry_of(line), []).append(line)
    markers = _distinct(entries, lambda line: line.marker, MARKERS)
    plain = {key: lines for key, lines in entries.items() if _is_plain(lines)}
    in_paper = figure.paper_in is not None
    dashes = _distinct(plain, lambda line: line.dash, DASHES) if in_paper else {}
    by_colour = {line.colour: markers[key] for key in markers for line in entries[key]}

    def change(mark: Mark) -> Mark:
        if not isinstance(mark, Line):
            return mark
        key = entry_of(mark)
        if mark.hollow:  # a ring has the shape of the marker that it is around
            return replace(mark, marker=by_colour.get(mark.colour, mark.marker))
        return replace(mark, marker=markers.get(key, mark.marker), dash=dashes.get(key, mark.dash))

    panels = (replace(p, marks=tuple(map(change, p.marks))) for p in figure.panels)
    return replace(figure, panels=tuple(panels))


def _is_plain(lines: Sequence[Line]) -> bool:
    return not any(line.marker or line.kind == "points" for line in lines)


def _distinct(
    entries: Mapping[str, Sequence[Line]], own: Callable[[Line], Shape], choices: Sequence[Shape]
) -> dict[str, Shape]:
    """The shape of each entry that has only one: its own, or another if an earlier entry has it."""
    found: dict[str, Shape] = {}
    for key, lines in entries.items():
        shapes = {own(line) for line in lines}
        if len(shapes) > 1 or "" in shapes:
            continue
        [shape] = shapes
        if shape in found.values():
            shape = next((one for one in choices if one not in found.values()), shape)
        found[key] = shape
    return found
