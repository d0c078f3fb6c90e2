"""Where the marks of a panel are on paper, as parts of its axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from narrows.figures.model import Bar, Floats, Line, Panel, Scale, heights

STEPS = 40
"""Points between two of a line's, where it has few."""
MANY = 2000
"""A line with more points has them where its curve is."""
MARGIN = 0.05
"""The part of an axis on each side of its values."""


def points_of(panel: Panel) -> tuple[Floats, Floats]:
    """Points of all marks and their spreads, as parts of the axes."""
    parts = [curve(panel, _with_risers(line)) for line in panel.lines]
    parts += [*_spreads(panel), *_bars(panel)]
    if not parts:
        return np.array([]), np.array([])
    x, y = zip(*parts, strict=True)
    return np.concatenate(x), np.concatenate(y)


def _with_risers(line: Line) -> Line:
    """The line with the upright parts of its steps as parts of its own."""
    if line.kind != "step" or len(line.x) < 2:
        return line
    return replace(line, kind="line", x=np.repeat(line.x, 2)[1:], y=np.repeat(line.y, 2)[:-1])


def curve(panel: Panel, line: Line) -> tuple[Floats, Floats]:
    """Points along a line, as parts of the axes."""
    x = part_of(line.x, panel.x_scale, ends_of(panel, "x"))
    y = part_of(line.y, panel.y_scale, ends_of(panel, "y"))
    if line.kind == "points" or len(x) < 2 or len(x) > MANY:
        return x, y
    between = np.linspace(0, len(x) - 1, (len(x) - 1) * STEPS + 1)
    numbers = np.arange(len(x))
    held = np.floor(between).astype(int)
    return np.interp(between, numbers, x), (
        y[held] if line.kind == "step" else np.interp(between, numbers, y)
    )


def _spreads(panel: Panel) -> Iterator[tuple[Floats, Floats]]:
    """Points along the error bars of lines, and along the edges of their bands."""
    for line in panel.lines:
        if line.low is None or line.high is None:
            continue
        if line.band:
            yield curve(panel, replace(line, y=line.low))
            yield curve(panel, replace(line, y=line.high))
            continue
        x = part_of(line.x, panel.x_scale, ends_of(panel, "x"))
        low, high = (part_of(y, panel.y_scale, ends_of(panel, "y")) for y in (line.low, line.high))
        yield np.repeat(x, STEPS), np.linspace(low, high, STEPS, axis=1).ravel()


def _bars(panel: Panel) -> Iterator[tuple[Floats, Floats]]:
    for bar in panel.marks:
        if isinstance(bar, Bar):
            x = np.linspace(bar.x - bar.width / 2, bar.x + bar.width / 2, 5)
            y = np.linspace(0, max(heights(bar)), STEPS)
            across, up = np.meshgrid(
                part_of(x, panel.x_scale, ends_of(panel, "x")),
                part_of(y, panel.y_scale, ends_of(panel, "y")),
            )
            yield across.ravel(), up.ravel()


def ends_of(panel: Panel, which: str) -> tuple[float, float]:
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


def part_of(values: Floats, scale: Scale, ends: tuple[float, float]) -> Floats:
    """Values as parts of an axis."""
    low, high = ends
    return (_on_scale(values, scale) - low) / ((high - low) or 1.0)


def _on_scale(values: Floats, scale: Scale) -> Floats:
    return np.log(np.maximum(values, 1e-12)) if scale == "log" else np.asarray(values, dtype=float)
