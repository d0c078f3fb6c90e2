"""Decides by its whole interval whether a mean lies within bounds: yes, no, or undecided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from narrows.metrics.equivalence import LEAST_TRIALS, Difference
from narrows.metrics.intervals import LEVEL, deviation, half_width, mean


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a measurement lies within limits; if undecided, `more` trials would decide."""

    passed: bool | None
    more: int | None = 0


def decide(values: Sequence[float], low: float, high: float, level: float = LEVEL) -> Decision:
    """Compares the interval of a mean, by default of 95 %, with limits; one may be infinite.

    It passes if all of the interval lies within, and fails if all of it lies outside. Otherwise it
    is undecided, as always with fewer than three values. `more` is None if more than a thousand
    trials would be needed.
    """
    known = [float(v) for v in values if not math.isnan(v)]
    if len(known) < LEAST_TRIALS:
        return Decision(None, LEAST_TRIALS - len(known))
    if any(math.isinf(v) for v in known):
        inside = [low <= v <= high for v in known]
        if all(inside) or not any(inside):
            return Decision(all(inside))
        return Decision(None, None)
    middle, reach = mean(known), half_width(known, level)
    slack = 1e-9 * max(abs(middle), 1e-9)
    if low - slack <= middle - reach and middle + reach <= high + slack:
        return Decision(True)
    if middle + reach < low - slack or middle - reach > high + slack:
        return Decision(False)
    room = min(abs(middle - low), abs(middle - high))
    spread = Difference(0.0, reach, len(known), deviation(known), 1, level)
    return Decision(None, spread.more_trials(room))
