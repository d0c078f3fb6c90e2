"""Pure functions that measure series for verdicts: periods, intervals, bursts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from narrows.figures.model import Floats

Stretch = tuple[float, float]
"""Start and end in seconds."""


@dataclass(frozen=True, slots=True)
class Period:
    """A period in seconds and the correlation of the series one period later (at most 1)."""

    seconds: float
    correlation: float


def period(values: Floats, step_s: float, shortest_s: float, longest_s: float) -> Period | None:
    """Returns the period of an evenly sampled series by its autocorrelation.

    It is the first lag between the limits at which the autocorrelation has a peak of at least 90 %
    of its highest peak there; later peaks are multiples. The position of the peak is refined by a
    parabola through it and its neighbours. None if there is no positive peak or the series is
    shorter than twice the longest lag.
    """
    centred = values - values.mean()
    first, last = round(shortest_s / step_s), round(longest_s / step_s)
    if len(values) < 2 * last or not np.any(centred):
        return None
    lags = np.arange(first - 1, last + 2)
    height = np.array([_correlation(centred, int(lag)) for lag in lags])
    inner = height[1:-1]
    peaks = np.flatnonzero((inner > height[:-2]) & (inner >= height[2:]) & (inner > 0)) + 1
    if not len(peaks):
        return None
    best = int(peaks[height[peaks] >= 0.9 * height[peaks].max()][0])
    before, top, after = height[best - 1 : best + 2]
    shift = 0.5 * (before - after) / (before - 2 * top + after)
    return Period(float((lags[best] + shift) * step_s), float(top))


def _correlation(centred: Floats, lag: int) -> float:
    """Returns Pearson's correlation of a series around zero with itself `lag` steps later."""
    early, late = centred[:-lag], centred[lag:]
    norm = float(np.sqrt((early @ early) * (late @ late)))
    return float(early @ late) / norm if norm else 0.0


def smooth(values: Floats, width: int) -> Floats:
    """Returns the mean over `width` neighbours around each value; fewer at the ends."""
    kernel = np.ones(width)
    sums: Floats = np.convolve(values, kernel, "same")
    return sums / np.convolve(np.ones(len(values)), kernel, "same")


def stretches(times: Floats, holds: Sequence[bool]) -> list[Stretch]:
    """Returns the spans in which a condition held.

    Each lasts from a sample at which it holds to one at which it doesn't.
    """
    flags = np.asarray(holds, dtype=bool)
    turns = np.flatnonzero(np.diff(flags.astype(np.int8), prepend=0, append=0))
    starts, ends = turns[::2], np.minimum(turns[1::2], len(flags) - 1)
    return [(float(times[a]), float(times[b])) for a, b in zip(starts, ends, strict=True)]


def within(times: Floats, spans: Sequence[Stretch]) -> np.ndarray:
    """Returns for every time whether it lies inside one of the spans, excluding their ends."""
    inside = np.zeros(len(times), dtype=bool)
    for start, end in spans:
        inside |= (times >= start) & (times < end)
    return inside
