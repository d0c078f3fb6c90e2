"""Lines that would fill their panel in an image, as means and ranges over windows.

A page keeps the samples, since one can zoom in.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from narrows.figures.model import Line, Panel
from narrows.figures.static.style import DPI

SAMPLES = 2
"""A line with at most this many samples for each dot of the width is drawn as it is."""
SWINGS_PER_IN = 10.0
"""So is one that runs through its range at most this often, as its strokes are apart."""
WINDOWS_PER_IN = 50.0


def average_long(panel: Panel, x_range: tuple[float, float], wide_in: float) -> Panel:
    """The panel, `wide_in` inches wide, with means and ranges for lines that would fill it.

    The title says over which windows.
    """
    window = _window((x_range[1] - x_range[0]) / (WINDOWS_PER_IN * wide_in))
    marks = tuple(
        _average(mark, x_range, window)
        if isinstance(mark, Line) and _fills(mark, x_range, wide_in)
        else mark
        for mark in panel.marks
    )
    if all(mark is shown for mark, shown in zip(panel.marks, marks, strict=True)):
        return panel
    words = f"{window:g} s" if window >= 1 else f"{1000 * window:g} ms"
    return replace(panel, marks=marks, title=f"{panel.title}; mean and range of {words} windows")


def _window(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that isn't below a length of time."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(float(f"{n * power:.6g}") for n in (1, 2, 5, 10) if n * power >= 0.999 * least)


def _inside(line: Line, x_range: tuple[float, float]) -> NDArray[np.bool_]:
    start, end = x_range
    return (line.x >= start) & (line.x <= end)


def _fills(line: Line, x_range: tuple[float, float], wide_in: float) -> bool:
    """Returns True if a line has too many samples and swings for a width."""
    if line.kind == "points" or line.marker or line.exact or line.low is not None:
        return False
    inside = _inside(line, x_range)
    if np.count_nonzero(inside) <= SAMPLES * DPI * wide_in or np.any(np.diff(line.x) < 0):
        return False
    y = line.y[inside & np.isfinite(line.y)]
    swings = float(np.abs(np.diff(y)).sum()) / (float(np.ptp(y)) or 1.0) if len(y) else 0.0
    return swings > SWINGS_PER_IN * wide_in


def _average(line: Line, x_range: tuple[float, float], window: float) -> Line:
    """The mean of each window with a band from its minimum to its maximum, in place of a tint."""
    inside = _inside(line, x_range)
    x, y = line.x[inside], line.y[inside]
    last = math.ceil((x_range[1] - x_range[0]) / window - 1e-9) - 1
    number = np.minimum(np.floor((x - x_range[0]) / window + 1e-9), last)
    borders = np.flatnonzero(np.diff(number, prepend=-1.0))
    known = np.isfinite(y)
    count = np.add.reduceat(known, borders, dtype=np.int64)
    mean = np.full(len(borders), np.nan)
    np.divide(np.add.reduceat(np.where(known, y, 0.0), borders), count, out=mean, where=count > 0)
    low, high = np.fmin.reduceat(y, borders), np.fmax.reduceat(y, borders)
    starts = x_range[0] + window * number[borders]
    if line.kind == "step":  # which holds its last value to the end
        mean, low, high = (np.append(each, each[-1]) for each in (mean, low, high))
        at = np.append(starts, min(starts[-1] + window, x_range[1]))
    else:
        at = np.minimum(starts + window / 2, x_range[1])
    return replace(line, x=at, y=mean, low=low, high=high, band=True, fill=False)
