"""Where the notes of clouds cover neither points nor each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from narrows.figures.model import Cloud, Floats, Panel
from narrows.figures.paper import curve, ends_of, part_of

PT = 1 / 72
NOTE_IN = 0.12
"""The height of a note in inches."""
GAP_PT = 5.0
CENTRE, OUTSIDE, NOTE = 10, 100, 1000
"""How much worse than a point of a line it is to cover a centre, an axis or another note."""


class NotePlace(NamedTuple):
    """The distance of a note's edge from the centre of its cloud, in points, up and to the right.

    An edge at a negative distance is the right or the upper one; without a distance to the right
    the note is centred.
    """

    right: float
    up: float


PLACES = tuple(
    NotePlace(right, up)
    for distance in (1.0, 3.4, 5.8)
    for up in (GAP_PT * distance, -GAP_PT * distance)
    for right in (GAP_PT, -GAP_PT, 0.0)
)
"""In the order in which they are tried: beside the centre, then further above and below it."""


class NoteBox(NamedTuple):
    """The ends of a rectangle in inches."""

    left: float
    low: float
    right: float
    high: float

    def overlaps(self, other: NoteBox) -> bool:
        """Returns True if two rectangles have a part in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.low < other.high and other.low < self.high

    def points_in(self, x: Floats, y: Floats) -> int:
        """The number of points inside."""
        across = (x > self.left) & (x < self.right)
        return int(np.count_nonzero(across & (y > self.low) & (y < self.high)))


def note_places(
    panel: Panel, size_in: tuple[float, float], letter_in: float
) -> Iterator[tuple[Cloud, NotePlace]]:
    """The clouds with a note, and the first place of each that covers the least.

    The axes are as wide and high as `size_in` says, a letter is as wide as `letter_in`.
    """
    clouds = [mark for mark in panel.marks if isinstance(mark, Cloud) and len(_points(mark)[0])]
    if not any(cloud.note for cloud in clouds):
        return
    wide, high = size_in
    parts = [_on_axes(panel, *_points(cloud)) for cloud in clouds]
    parts += [curve(panel, line) for line in panel.lines]
    x, y = (np.concatenate(each) for each in zip(*parts, strict=True))
    middle = np.array([centre(cloud) for cloud in clouds])
    centres = _on_axes(panel, middle[:, 0], middle[:, 1])
    taken: list[NoteBox] = []
    for cloud, *at in zip(clouds, centres[0] * wide, centres[1] * high, strict=True):
        if not cloud.note:
            continue
        boxes = {place: _box(at, place, letter_in * len(cloud.note)) for place in PLACES}
        costs = {
            place: box.points_in(x * wide, y * high)
            + CENTRE * box.points_in(centres[0] * wide, centres[1] * high)
            + OUTSIDE * (min(box.left, box.low) < 0 or box.high > high + NOTE_IN / 2)
            + NOTE * sum(map(box.overlaps, taken))
            for place, box in boxes.items()
        }
        best = min(PLACES, key=costs.__getitem__)
        taken.append(boxes[best])
        yield cloud, best


def _points(cloud: Cloud) -> tuple[Floats, Floats]:
    """The points of a cloud without those whose x or y isn't known."""
    finite = np.isfinite(cloud.x) & np.isfinite(cloud.y)
    return cloud.x[finite], cloud.y[finite]


def centre(cloud: Cloud) -> tuple[float, float]:
    """The means of a cloud's points."""
    x, y = _points(cloud)
    return float(x.mean()), float(y.mean())


def _on_axes(panel: Panel, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    return (
        part_of(x, panel.x_scale, ends_of(panel, "x")),
        part_of(y, panel.y_scale, ends_of(panel, "y")),
    )


def _box(at: list[float], place: NotePlace, width: float) -> NoteBox:
    """The rectangle of a note of this width at a place beside a centre."""
    left = at[0] + place.right * PT - (width if place.right < 0 else 0.0)
    left -= width / 2 if place.right == 0 else 0.0
    low = at[1] + place.up * PT - (NOTE_IN if place.up < 0 else 0.0)
    return NoteBox(left, low, left + width, low + NOTE_IN)
