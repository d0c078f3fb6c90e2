"""Long lines with fewer points, for a page."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from narrows.figures.model import Line

COLUMNS = 900
"""Width in pixels that long lines are thinned for."""


def thin(line: Line, columns: int = COLUMNS) -> Line:
    """The line with at most four points in each of `columns` intervals of x.

    Each interval keeps its first, minimum, maximum and last value, at their own times. Gaps (NaN)
    stay gaps. Shorter lines, `exact` lines and lines with a spread are returned unchanged.
    """
    if line.exact or line.low is not None or len(line.x) <= 2 * columns:
        return line
    start, end = float(line.x[0]), float(line.x[-1])
    part = (line.x - start) / max(end - start, 1e-9)
    place = np.minimum((part * columns).astype(np.int64), columns - 1)
    borders = np.flatnonzero(np.diff(place, prepend=-1))
    ends = np.append(borders[1:], len(place))
    keep = np.zeros(len(place), dtype=bool)
    for a, b in zip(borders, ends, strict=True):
        keep[[a, b - 1]] = True
        stretch = line.y[a:b]
        if np.isfinite(stretch).any():
            keep[[a + int(np.nanargmin(stretch)), a + int(np.nanargmax(stretch))]] = True
    gaps = np.isnan(line.y)
    keep |= gaps & ~np.roll(gaps, 1)
    return replace(line, x=line.x[keep], y=line.y[keep])
