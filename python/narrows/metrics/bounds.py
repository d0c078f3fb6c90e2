"""Judges whether the mean of a metric lies within bounds, by its whole interval.

Checks of a specification, situations of a suite and claims of a document are all judged here, with
the same three verdicts.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from narrows.metrics.equivalence import LEAST_TRIALS, MOST_TRIALS, Difference
from narrows.metrics.intervals import LEVEL, deviation, half_width, mean, share_interval


class CheckVerdict(StrEnum):
    """The verdict on a check."""

    MET = "met"
    NOT_MET = "not met"
    UNDECIDED = "undecided"

    @classmethod
    def of(cls, passed: bool | None) -> CheckVerdict:
        """Returns the verdict for an answer; None stands for undecided."""
        return {True: cls.MET, False: cls.NOT_MET, None: cls.UNDECIDED}[passed]


def combine(answers: Iterable[bool | None]) -> bool | None:
    """Returns False if any answer is, else None if any is or there are none, else True."""
    known = list(answers)
    if False in known:
        return False
    return None if None in known or not known else True


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision whether a measurement lies within limits.

    `more` trials would decide an undecided one.
    """

    passed: bool | None
    more: int | None = 0


def decide(
    values: Sequence[float], low: float, high: float, level: float = LEVEL, *, alone: bool = False
) -> Decision:
    """Compares the interval of a mean, by default of 95 %, with limits; one may be infinite.

    The measurement passes if the whole interval lies within the limits, and fails if all of it lies
    outside. Otherwise it is undecided, as always with fewer than three values. `more` is None if
    more than a thousand trials would be needed. `alone` says that the question is about this single
    run, not the mean over all possible ones: then its value decides.
    """
    known = [float(v) for v in values if not math.isnan(v)]
    if alone and len(known) == 1:
        return Decision(low <= known[0] <= high)
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


def decide_share(
    successes: int, trials: int, low: float, high: float, level: float = LEVEL
) -> Decision:
    """Compares the exact interval of the share of trials that succeed with limits from 0 to 1.

    It passes, fails or is undecided as a mean is. Where a mean of equal values has no spread, and
    so looks certain after three trials, three successes only show that the share is above 0.29.
    """
    if not trials:
        return Decision(None, LEAST_TRIALS)
    passed = _place(successes, trials, low, high, level)
    if passed is not None:
        return Decision(passed)
    is_decided = partial(_is_decided, successes / trials, low, high, level)
    if not is_decided(MOST_TRIALS):
        return Decision(None, None)
    wanted = bisect_left(range(MOST_TRIALS), True, lo=trials + 1, key=is_decided)
    return Decision(None, wanted - trials)


def _is_decided(share: float, low: float, high: float, level: float, trials: int) -> bool:
    return _place(round(share * trials), trials, low, high, level) is not None


def _place(successes: int, trials: int, low: float, high: float, level: float) -> bool | None:
    """Returns True if the share's interval is within the limits, False if outside, else None."""
    least, most = share_interval(successes, trials, level)
    if low <= least and most <= high:
        return True
    return False if most < low or least > high else None
