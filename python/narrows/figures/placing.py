"""Where the label of a guide covers no mark, and which lines of a panel hide each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from narrows.figures.model import (
    HEADROOM_OF_LABEL,
    Bar,
    Figure,
    Floats,
    Guide,
    Line,
    Panel,
    Scale,
    entry_of,
    heights,
)
from narrows.words import join_words

STEPS = 40
"""Points between two of a line's, where it has few."""
MANY = 2000
"""A line with more points has them where its curve is."""
MARGIN = 0.05
"""The part of an axis on each side of its values."""
ALIKE_IN = 0.0062
"""Lines that are closer, in inches, look like one: a pixel at 160 dots per inch."""
ENDS = 0.01
"""Lines with the same ends may begin and stop this part of the axis apart."""
LOW_IN = 1.55
"""The height in inches of a panel where none is given."""
NEAR = 0.006
"""Curves that are closer than this part of the axis look like one."""
HIDDEN, MOSTLY_HIDDEN = 0.2, 0.5
"""A line that another one covers over a smaller part of the axis shows anyway; the second number
is for lines without markers, which show more of themselves."""
FEW = 2
"""With more lines without markers, as of flows that converge, rims would hide the others."""
RIM = 2.0
"""How much wider a line is than the one that covers it, in points."""
MOST_WIDER = 2
MOST_APART = 2.0
"""Panels whose largest values differ by a larger factor don't share their axis."""
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


def label_place(panel: Panel, guide: Guide, width: float) -> LabelPlace | None:
    """The place within the panel of a label that takes `width` of it; None if all cover a mark."""
    place, covered = _best_place(panel, guide, width, _on_paper(panel))
    return None if covered else place


def label_places(
    panel: Panel, x_range: tuple[float, float], letter: float
) -> Iterator[tuple[Guide, LabelPlace]]:
    """The guides of a panel of a stack, and where their labels cover the least of marks and labels.

    That is anywhere along a guide if both ends cover something. A letter takes the part `letter` of
    the x axis.
    """
    shown = replace(panel, x_range=x_range, y_range=panel.limits(x_range))
    x, y = _on_paper(shown)
    for guide in panel.guides:
        width = letter * len(guide.label)
        place, covered = _best_place(shown, guide, width, (x, y))
        if covered:
            place, _ = _best_place(shown, guide, width, (x, y), inner=True)
        yield guide, place
        (at,) = _part(np.array([guide.value]), "linear", _ends(shown, "y"))
        left = place.begin(width)
        own_x = np.linspace(left, left + width, STEPS)
        own_y = np.full(STEPS, at + (-0.5 if place.below else 0.5) * HEADROOM_OF_LABEL)
        weight = max(len(x) // STEPS, 1)  # a label must not cover another one
        x, y = (np.concatenate([x, *[own_x] * weight]), np.concatenate([y, *[own_y] * weight]))


def _best_place(
    panel: Panel,
    guide: Guide,
    width: float,
    taken: tuple[Floats, Floats],
    *,
    inner: bool = False,
) -> tuple[LabelPlace, int]:
    """The first of the places with the fewest points below the label, and their number.

    With `inner` also those between the ends of the guide.
    """
    x, y = taken
    (at,) = _part(np.array([guide.value]), panel.y_scale, _ends(panel, "y"))
    known = np.isfinite(x) & np.isfinite(y) & (x >= 0) & (x <= 1)
    x, y = x[known], y[known]
    found = []
    for place in _places(guide, width, inner):
        below, left = place.below, place.begin(width)
        low, high = (at - HEADROOM_OF_LABEL, at) if below else (at, at + HEADROOM_OF_LABEL)
        inside = low >= 0 if below else high <= 1 + 0.75 * HEADROOM_OF_LABEL
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


def show_hidden(panel: Panel) -> Panel:
    """The panel with a rim around lines that others cover, which are drawn on top of them."""
    lines = [mark for mark in panel.marks if isinstance(mark, Line) and mark.kind != "points"]
    curves = {id(line): _curve(panel, line) for line in lines}
    wider = {}
    for place, line in enumerate(lines):
        if not line.marker and len(lines) > FEW:
            continue
        least = HIDDEN if line.marker else MOSTLY_HIDDEN
        covers = sum(
            _covered_part(curves[id(line)], curves[id(top)]) > least for top in lines[place + 1 :]
        )
        wider[id(line)] = RIM * min(covers, MOST_WIDER)
    marks = tuple(
        replace(mark, width=mark.width + wider[id(mark)])
        if isinstance(mark, Line) and wider.get(id(mark))
        else mark
        for mark in panel.marks
    )
    return replace(panel, marks=marks)


def has_rims(panel: Panel) -> bool:
    """Returns True if some line is drawn broad, since another one covers it."""
    pairs = zip(panel.marks, show_hidden(panel).marks, strict=True)
    return any(mark is not shown for mark, shown in pairs)


def name_coinciding(panel: Panel, height_in: float = LOW_IN) -> Panel:
    """The panel, whose title says which of its lines can't be told apart."""
    told = [
        f"{join_words(names)} coincide"
        for group in _coinciding(panel, height_in)
        if len(names := dict.fromkeys(filter(None, map(entry_of, group)))) > 1
    ]
    return replace(panel, title="; ".join(part for part in (panel.title, *told) if part))


def show_coinciding(panel: Panel, height_in: float = LOW_IN) -> Panel:
    """The panel with a rim around lines that coincide with later ones, which its title names."""
    wider = {
        id(line): group[-1].width + RIM * min(above, MOST_WIDER)
        for group in _coinciding(panel, height_in)
        for above, line in enumerate(reversed(group))
        if not line.exact  # a rim would hide lines that are near
    }
    marks = tuple(
        replace(mark, width=max(mark.width, wider[id(mark)]))
        if isinstance(mark, Line) and id(mark) in wider
        else mark
        for mark in panel.marks
    )
    return replace(name_coinciding(panel, height_in), marks=marks)


def _coinciding(panel: Panel, height_in: float) -> list[list[Line]]:
    """The groups of lines that are one to the eye; none if all are zero throughout."""
    lines = [line for line in panel.lines if line.label and np.isfinite(line.y).any()]
    reach = max((float(np.nanmax(line.y) - np.nanmin(line.y)) for line in lines), default=0.0)
    size = max((float(np.nanmax(np.abs(line.y))) for line in lines), default=0.0)
    groups: list[list[Line]] = []
    for line in lines if size else ():
        alike = (g for g in groups if _same(g[0], line, ALIKE_IN / height_in * (reach or size)))
        group = next(alike, None)
        if group is None:
            groups.append([line])
        else:
            group.append(line)
    return [group for group in groups if len(group) > 1]


def _same(one: Line, other: Line, tolerance: float) -> bool:
    """Returns True if two lines are one to the eye."""
    if "points" in (one.kind, other.kind):
        return False
    if one.x.shape == other.x.shape and np.isfinite(one.y + other.y).all():
        near = np.allclose(one.x, other.x, rtol=ALIKE_IN / LOW_IN, atol=0)
        return near and bool(np.all(np.abs(one.y - other.y) <= tolerance))
    return _same_course(one, other, tolerance)


def _same_course(one: Line, other: Line, tolerance: float) -> bool:
    """Returns True if lines with points at different x have the same ends and values between."""
    both = [line.x[np.isfinite(line.y)] for line in (one, other)]
    if any(np.any(np.diff(x) < 0) for x in both):
        return False
    ends = np.array([(x[0], x[-1]) for x in both])
    at = np.union1d(*both)
    at = at[(at >= ends[:, 0].max()) & (at <= ends[:, 1].min())]
    close = np.all(np.ptp(ends, axis=0) <= ENDS * np.ptp(ends))
    return bool(close) and bool(np.all(np.abs(_at(one, at) - _at(other, at)) <= tolerance))


def _at(line: Line, x: Floats) -> Floats:
    """The height of a line at each x, also within its gaps."""
    known = np.isfinite(line.y)
    own_x, y = line.x[known], line.y[known]
    if line.kind == "step":
        return y[np.searchsorted(own_x, x, side="right") - 1]
    return np.interp(x, own_x, y)


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


def _covered_part(below: tuple[Floats, Floats], above: tuple[Floats, Floats]) -> float:
    """The part of the x axis over which a curve runs along another one."""
    (x, y), (other_x, other_y) = below, above
    if len(x) < 2 or len(other_x) < 2:
        return 0.0
    there = np.interp(x, other_x, other_y, left=np.nan, right=np.nan)
    same = np.abs(y - there) < NEAR
    steps = np.diff(x)
    return float(steps[same[:-1] & same[1:]].sum())


def _on_paper(panel: Panel) -> tuple[Floats, Floats]:
    """Points of all marks, as parts of the axes."""
    parts = [_curve(panel, _with_risers(line)) for line in panel.lines] + list(_bars(panel))
    if not parts:
        return np.array([]), np.array([])
    x, y = zip(*parts, strict=True)
    return np.concatenate(x), np.concatenate(y)


def _with_risers(line: Line) -> Line:
    """The line with the upright parts of its steps as parts of its own."""
    if line.kind != "step" or len(line.x) < 2:
        return line
    return replace(line, kind="line", x=np.repeat(line.x, 2)[1:], y=np.repeat(line.y, 2)[:-1])


def _curve(panel: Panel, line: Line) -> tuple[Floats, Floats]:
    """Points along a line, as parts of the axes, with the ends of its spread."""
    x = _part(line.x, panel.x_scale, _ends(panel, "x"))
    y = _part(line.y, panel.y_scale, _ends(panel, "y"))
    if line.kind == "points" or len(x) < 2 or len(x) > MANY:
        return x, y
    between = np.linspace(0, len(x) - 1, (len(x) - 1) * STEPS + 1)
    numbers = np.arange(len(x))
    held = np.floor(between).astype(int)
    return np.interp(between, numbers, x), (
        y[held] if line.kind == "step" else np.interp(between, numbers, y)
    )


def _bars(panel: Panel) -> Iterator[tuple[Floats, Floats]]:
    for bar in panel.marks:
        if isinstance(bar, Bar):
            x = np.linspace(bar.x - bar.width / 2, bar.x + bar.width / 2, 5)
            y = np.linspace(0, max(heights(bar)), STEPS)
            across, up = np.meshgrid(
                _part(x, panel.x_scale, _ends(panel, "x")),
                _part(y, panel.y_scale, _ends(panel, "y")),
            )
            yield across.ravel(), up.ravel()


def _ends(panel: Panel, which: str) -> tuple[float, float]:
    """The ends of an axis on its scale, which follow the values unless they are given."""
    if which == "x":
        values = [line.x for line in panel.lines]
        values += [np.array([m.x - m.width, m.x + m.width]) for m in _all_bars(panel)]
        given, scale = panel.x_range, panel.x_scale
    else:
        values = [heights(mark) for mark in panel.marks]
        values += [np.array([guide.value]) for guide in panel.guides if not guide.upright]
        given, scale = panel.y_ends, panel.y_scale
    pool = np.concatenate([np.array([]), *values])
    pool = pool[np.isfinite(pool) & ((pool > 0) | (scale == "linear"))]
    known = _on_scale(pool, scale) if pool.size else np.array([0.0, 1.0])
    air = MARGIN * float(np.ptp(known))
    low, high = float(known.min()) - air, float(known.max()) + air
    first, last = given
    if first is not None and (first > 0 or scale == "linear"):
        low = float(_on_scale(np.array([first]), scale)[0])
    if last is not None:
        high = float(_on_scale(np.array([last]), scale)[0])
    return low, high


def _all_bars(panel: Panel) -> list[Bar]:
    return [mark for mark in panel.marks if isinstance(mark, Bar)]


def _part(values: Floats, scale: Scale, ends: tuple[float, float]) -> Floats:
    """Values as parts of an axis."""
    low, high = ends
    return (_on_scale(values, scale) - low) / ((high - low) or 1.0)


def _on_scale(values: Floats, scale: Scale) -> Floats:
    return np.log(np.maximum(values, 1e-12)) if scale == "log" else np.asarray(values, dtype=float)
