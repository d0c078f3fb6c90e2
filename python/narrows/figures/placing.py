"""Where the label of a guide covers no mark, and which panels share their axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from narrows.figures.model import HEADROOM_OF_LABEL, Figure, Floats, Guide, Panel, heights
from narrows.figures.paper import STEPS, ends_of, part_of, points_of

MOST_APART = 2.0
"""Panels whose largest values differ by a larger factor don't share their axis."""
MOST_OUTSIDE = 0.5
"""A guide's label that takes a larger part of a panel isn't written outside the axes."""
LABEL_GAP = 0.09
"""The part of the y axis from a label outside of it to the next one."""
ROOM = 1.05
"""How far a shared axis reaches above the largest value."""


class LabelPlace(NamedTuple):
    """At the right or the left end of a guide, above it or below.

    `left` is where the label begins if it is at neither end, as a part of the axis.
    """

    right: bool
    below: bool
    left: float | None = None

    def begin(self, width: float) -> float:
        """Where a label that takes `width` of the axis begins."""
        if self.left is not None:
            return self.left
        return 1 - width if self.right else 0.0


def places_across(panel: Panel, letter: float) -> Iterator[tuple[Guide, LabelPlace | float]]:
    """The guides across a panel, and where their labels cover neither a mark nor each other.

    That is at an end of the guide, or outside the axes, where a number says by which part of the
    axis the label is above the guide. A letter takes the part `letter` of the x axis.
    """
    taken = points_of(panel)
    outside: list[Guide] = []
    for guide in panel.guides:
        if guide.upright:
            continue
        width = letter * len(guide.label)
        place, covered = _best_place(panel, guide, width, taken)
        if covered and width <= MOST_OUTSIDE:
            outside.append(guide)
            continue
        if covered:
            place, _ = _best_place(panel, guide, width, taken, inner=True)
        taken = _with_label(taken, _height(panel, guide), place, width)
        yield guide, place
    outside.sort(key=lambda guide: guide.value)
    yield from zip(outside, _shifts([_height(panel, guide) for guide in outside]), strict=True)


def _shifts(heights: Sequence[float]) -> list[float]:
    """How far to move labels at ascending heights, no further than needed, to have them apart."""
    blocks: list[list[float]] = []
    for number, at in enumerate(heights):
        blocks.append([at - number * LABEL_GAP])
        while len(blocks) > 1 and np.mean(blocks[-2]) > np.mean(blocks[-1]):
            last = blocks.pop()
            blocks[-1] += last
    return [float(np.mean(block)) - one for block in blocks for one in block]


def _height(panel: Panel, guide: Guide) -> float:
    """Where a guide is on the y axis, as a part of it."""
    return float(part_of(np.array([guide.value]), panel.y_scale, ends_of(panel, "y"))[0])


def _with_label(
    taken: tuple[Floats, Floats], at: float, place: LabelPlace, width: float
) -> tuple[Floats, Floats]:
    """The points that are taken, with as many for a label, which another one must not cover."""
    x, y = taken
    left = place.begin(width)
    up = np.array([0.2, 0.5, 0.8]) * (-HEADROOM_OF_LABEL if place.below else HEADROOM_OF_LABEL)
    across, rows = np.meshgrid(np.linspace(left, left + width, STEPS), at + up)
    weight = max(len(x) // STEPS, 1)
    return (
        np.concatenate([x, *[across.ravel()] * weight]),
        np.concatenate([y, *[rows.ravel()] * weight]),
    )


def label_places(
    panel: Panel, x_range: tuple[float, float], letter: float, title: float = 0.0
) -> Iterator[tuple[Guide, LabelPlace]]:
    """The guides of a panel of a stack, and where their labels cover the least of marks and labels.

    That is anywhere along a guide if both ends cover something. A letter takes the part `letter` of
    the x axis, and the panel's title above the axes the part `title`.
    """
    shown = replace(panel, x_range=x_range, y_range=panel.limits(x_range))
    taken = points_of(shown)
    for guide in panel.guides:
        width = letter * len(guide.label)
        place, covered = _best_place(shown, guide, width, taken, title=title)
        if covered:
            place, _ = _best_place(shown, guide, width, taken, inner=True, title=title)
        yield guide, place
        taken = _with_label(taken, _height(shown, guide), place, width)


def _best_place(
    panel: Panel,
    guide: Guide,
    width: float,
    taken: tuple[Floats, Floats],
    *,
    inner: bool = False,
    title: float = 0.0,
) -> tuple[LabelPlace, int]:
    """The first of the places with the fewest points below the label, and their number.

    With `inner` also those between the ends of the guide.
    """
    x, y = taken
    at = _height(panel, guide)
    known = np.isfinite(x) & np.isfinite(y) & (x >= 0) & (x <= 1)
    x, y = x[known], y[known]
    found = []
    for place in _places(guide, width, inner):
        below, left = place.below, place.begin(width)
        low, high = (at - HEADROOM_OF_LABEL, at) if below else (at, at + HEADROOM_OF_LABEL)
        above = high <= 1 or (left >= title and high <= 1 + 0.75 * HEADROOM_OF_LABEL)
        inside = low >= 0 if below else above
        over = (x >= left) & (x <= left + width)
        covered = int(np.count_nonzero(over & (y > low) & (y < high)))
        found.append((place, covered if inside else len(x) + 1))
    return min(found, key=lambda one: one[1])


def _places(guide: Guide, width: float, inner: bool) -> Iterator[LabelPlace]:
    """Yields the places of a label at the ends of its guide, and with `inner` those between."""
    sides = (True, False) if guide.below else (False, True)
    yield from (LabelPlace(right, below) for right in (True, False) for below in sides)
    if inner:
        between = np.linspace(0, max(1 - width, 0), STEPS)
        yield from (LabelPlace(False, side, float(left)) for left in between for side in sides)


def share_heights(panels: Sequence[Panel], of: Sequence[str]) -> tuple[Panel, ...]:
    """The panels; those `of` the same quantity get the same y axis, so that they can be compared.

    Not if one's values are so small that nothing would be seen of them, nor if an axis has a given
    upper end.
    """
    tops: dict[str, list[float]] = {}
    for panel, quantity in zip(panels, of, strict=True):
        known = np.concatenate([np.array([0.0]), *(heights(mark) for mark in panel.marks)])
        tops.setdefault(quantity, []).append(float(known[np.isfinite(known)].max()))
    common = {
        quantity: max(its)
        for quantity, its in tops.items()
        if quantity and len(its) > 1 and 0 < max(its) <= MOST_APART * min(its)
    }
    return tuple(
        replace(panel, y_range=(panel.y_range[0], ROOM * common[quantity]))
        if quantity in common and _is_free(panel)
        else panel
        for panel, quantity in zip(panels, of, strict=True)
    )


def _is_free(panel: Panel) -> bool:
    """Returns True if the y axis begins at zero and ends where the data do."""
    return panel.y_range == (0, None) and panel.y_ends[0] == 0 and panel.y_scale == "linear"


def comparable(figure: Figure) -> Figure:
    """The figure with the same y axis in all panels whose labels say that they show the same."""
    if figure.stack is not None:
        return figure
    quantities = [panel.y_label if " (" in panel.y_label else "" for panel in figure.panels]
    return replace(figure, panels=share_heights(figure.panels, quantities))
