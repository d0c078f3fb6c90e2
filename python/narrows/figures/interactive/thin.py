"""Long lines with fewer points, for a page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from narrows.figures.model import Floats, Line

COLUMNS = 900
"""Width in pixels that long lines are thinned for."""


def thin(line: Line, columns: int = COLUMNS) -> Line:
    """The line with at most four points in each of `columns` intervals of x.

    Each interval keeps its first, minimum, maximum and last value, at their own times. Gaps (NaN)
    stay gaps. A line with a band keeps the mean of its values and the ends of its band. Shorter
    lines, `exact` lines and lines with error bars are returned unchanged.
    """
    if line.exact or len(line.x) <= 2 * columns or (line.low is not None and not line.band):
        return line
    start, end = float(line.x[0]), float(line.x[-1])
    part = (line.x - start) / max(end - start, 1e-9)
    place = np.minimum((part * columns).astype(np.int64), columns - 1)
    borders = np.flatnonzero(np.diff(place, prepend=-1))
    if line.low is not None and line.high is not None:
        return _thin_band(line, line.low, line.high, borders)
    gaps = np.isnan(line.y)
    keep = gaps & ~np.roll(gaps, 1)
    keep[borders] = keep[borders - 1] = True  # the last point is the one before the first border
    keep[_lowest(line.y, borders)] = keep[_lowest(-line.y, borders)] = True
    return replace(line, x=line.x[keep], y=line.y[keep])


def _lowest(values: Floats, borders: NDArray[np.intp]) -> NDArray[np.intp]:
    """The place of the first lowest known value of each interval; none if all are unknown."""
    lengths = np.diff(borders, append=len(values))
    lowest = np.repeat(np.fmin.reduceat(values, borders), lengths)
    interval = np.repeat(np.arange(len(borders)), lengths)
    places = np.flatnonzero(values == lowest)
    return places[np.diff(interval[places], prepend=-1) > 0]


def _thin_band(line: Line, low: Floats, high: Floats, borders: NDArray[np.intp]) -> Line:
    """One point for each interval: the mean of the known values, the lowest, the highest."""
    known = np.isfinite(line.y)
    count = np.add.reduceat(known, borders, dtype=np.int64)
    mean = np.full(len(borders), np.nan)
    total = np.add.reduceat(np.where(known, line.y, 0.0), borders)
    np.divide(total, count, out=mean, where=count > 0)
    return replace(
        line, x=line.x[borders], y=mean,
        low=np.fmin.reduceat(low, borders), high=np.fmax.reduceat(high, borders),
    )  # fmt: skip
