"""Lines of a panel that hide each other: rims around them, and titles that name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from narrows.figures.model import Floats, Line, Panel, entry_of
from narrows.figures.paper import curve
from narrows.words import join_words

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
is for lines over time, which show more of themselves."""
FEW = 2
"""With more lines without markers, as of flows that converge, rims would hide the others. Then only
lines that coincide have them."""
ASPECT = 2.0
"""How many times wider than high axes are taken to be, to compare distances along both."""
RIM = 2.0
"""How much wider a line is than the one that covers it, in points."""
MOST_WIDER = 2


def show_hidden(panel: Panel) -> Panel:
    """The panel with a rim around lines that others cover, which are drawn on top of them."""
    lines = [mark for mark in panel.marks if isinstance(mark, Line) and mark.kind != "points"]
    curves = {id(line): curve(panel, line) for line in lines}
    if climb := all(map(_climbs, lines)):
        curves = {key: _turn(*one) for key, one in curves.items()}
    widths = _widths(panel, LOW_IN)
    for place, line in enumerate(lines):
        if not line.marker and len(lines) > FEW:
            continue
        least = HIDDEN if line.marker or climb else MOSTLY_HIDDEN
        covers = sum(
            _covered_part(curves[id(line)], curves[id(top)]) > least for top in lines[place + 1 :]
        )
        own = line.width + RIM * min(covers, MOST_WIDER)
        widths[id(line)] = max(widths.get(id(line), 0.0), own)
    return _widen(panel, widths)


def _widen(panel: Panel, widths: Mapping[int, float]) -> Panel:
    """The panel whose lines have these widths, by identity, where they are larger than theirs."""
    marks = tuple(
        replace(mark, width=widths[id(mark)])
        if isinstance(mark, Line) and widths.get(id(mark), 0.0) > mark.width
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
    return name_coinciding(_widen(panel, _widths(panel, height_in)), height_in)


def _widths(panel: Panel, height_in: float) -> dict[int, float]:
    """The widths, by identity, of lines that coincide: those drawn first are the broadest."""
    return {
        id(line): group[-1].width + RIM * min(above, MOST_WIDER)
        for group in _coinciding(panel, height_in)
        for above, line in enumerate(reversed(group))
        if not line.exact  # a rim would hide lines that are near
    }


def _coinciding(panel: Panel, height_in: float) -> list[list[Line]]:
    """The groups of lines that are one to the eye; none if all are zero throughout."""
    lines = [line for line in panel.lines if line.label and np.isfinite(line.y).any()]
    reach = max((float(np.nanmax(line.y) - np.nanmin(line.y)) for line in lines), default=0.0)
    size = max((float(np.nanmax(np.abs(line.y))) for line in lines), default=0.0)
    part = ALIKE_IN / height_in
    groups: list[list[Line]] = []
    for line in lines if size else ():
        alike = (
            group
            for group in groups
            if (
                _same_way(curve(panel, group[0]), curve(panel, line), part)
                if _climbs(group[0]) and _climbs(line)
                else _same(group[0], line, part * (reach or size))
            )
        )
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


def _climbs(line: Line) -> bool:
    """Returns True for a distribution: its values never fall, and rise upright."""
    across, up = np.diff(line.x), np.diff(line.y)
    return bool(np.all(across >= 0) and np.all(up >= 0) and np.any(across == 0))


def _turn(along: Floats, up: Floats) -> tuple[Floats, Floats]:
    """A curve that climbs, on axes turned by 45 degrees, on which no part of it is upright."""
    return (ASPECT * along + up) / (ASPECT + 1), (up - ASPECT * along) / 2


def _same_way(one: tuple[Floats, Floats], other: tuple[Floats, Floats], part: float) -> bool:
    """Returns True if two curves that climb are nowhere further apart than a `part` of the axis."""
    (along, off), (other_along, other_off) = _turn(*one), _turn(*other)
    at = np.union1d(along, other_along)
    return bool(
        np.all(np.abs(np.interp(at, along, off) - np.interp(at, other_along, other_off)) <= part)
    )


def _covered_part(below: tuple[Floats, Floats], above: tuple[Floats, Floats]) -> float:
    """The part of the x axis over which a curve runs along another one."""
    (x, y), (other_x, other_y) = below, above
    if len(x) < 2 or len(other_x) < 2:
        return 0.0
    there = np.interp(x, other_x, other_y, left=np.nan, right=np.nan)
    same = np.abs(y - there) < NEAR
    steps = np.diff(x)
    return float(steps[same[:-1] & same[1:]].sum())
