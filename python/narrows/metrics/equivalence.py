"""Tests whether two means are equal for practical purposes: agree, differ, or undecided.

Two one-sided tests in the form of an interval (Schuirmann, 1987, "A comparison of the
two one-sided tests procedure and the power approach"): the means agree only if the
whole 95 % interval of their difference lies within the limit, and differ only if all
of it lies outside. Noise therefore never makes agreement more likely; it makes the
verdict undecided.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from narrows.metrics import intervals

LEAST_TRIALS = 3
"""Nothing is decided with fewer values on either side: two may coincide by chance."""
MOST_TRIALS = 1000
"""Larger numbers of trials aren't computed."""


class EquivalenceVerdict(StrEnum):
    """The verdict on a difference."""

    AGREE = "agree"
    DIFFER = "differ"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of two means and half of its interval of `level`; both may be unknown.

    `trials` is the number of values on the side with fewer. `spread` is the standard deviation of
    the difference of one trial, and `freedom` the degrees of freedom that each trial adds: they
    predict the interval after more trials. More trials don't reduce `fixed_spread`, the standard
    deviation of a single observation.
    """

    mean: float
    half_width: float
    trials: int
    spread: float
    freedom: int
    level: float = intervals.LEVEL
    fixed_spread: float = 0.0

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the interval; None if it isn't known."""
        if not math.isfinite(self.half_width):
            return None
        return self.mean - self.half_width, self.mean + self.half_width

    def verdict(self, limit: float) -> EquivalenceVerdict:
        """Returns the verdict for a largest allowed difference of `limit`."""
        if self.trials < LEAST_TRIALS:
            return EquivalenceVerdict.UNDECIDED
        size = abs(self.mean)
        if size + self.half_width <= limit:
            return EquivalenceVerdict.AGREE
        return (
            EquivalenceVerdict.DIFFER
            if size - self.half_width > limit
            else EquivalenceVerdict.UNDECIDED
        )

    def more_trials(self, limit: float) -> int | None:
        """Returns how many more trials would decide, if mean and spread stay as they are.

        Zero if it is decided; None if more than `MOST_TRIALS` in all would be needed.
        """
        if self.verdict(limit) is not EquivalenceVerdict.UNDECIDED:
            return 0
        room = abs(limit - abs(self.mean))
        first = max(LEAST_TRIALS, self.trials + 1)
        if self._foreseen(MOST_TRIALS) > room:
            return None
        low, high = first, MOST_TRIALS
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._foreseen(middle) <= room else (middle + 1, high)
        return low - self.trials

    def _foreseen(self, trials: int) -> float:
        freedom = float(max(self.freedom * (trials - 1), 1))
        spread = math.hypot(self.spread / math.sqrt(trials), self.fixed_spread)
        return intervals.student(freedom, self.level) * spread


def of_means(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Returns the difference of the means of two independent samples, after Welch.

    Neither is empty.
    """
    return Difference(
        mean=intervals.mean(first) - intervals.mean(second),
        half_width=intervals.difference_half_width(first, second),
        trials=min(len(first), len(second)),
        spread=math.hypot(intervals.deviation(first), intervals.deviation(second)),
        freedom=2,
    )


def of_observation(first: Sequence[float], observed: float) -> Difference:
    """Returns the distance of one observation from a sample's mean, with its prediction interval.

    The observation is assumed to vary like the sample. Its own variation can't be measured, since
    it happened once on a network that can't be run again.
    """
    spread = intervals.deviation(first)
    widening = math.sqrt(len(first) + 1)
    return Difference(
        mean=intervals.mean(first) - observed,
        half_width=intervals.half_width(first) * widening if len(first) > 1 else math.inf,
        trials=len(first),
        spread=spread,
        freedom=1,
        fixed_spread=spread,
    )


def of_pairs(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Returns the mean difference of paired trials; neither side is empty."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    return Difference(
        mean=intervals.mean(differences),
        half_width=intervals.half_width(differences),
        trials=len(differences),
        spread=intervals.deviation(differences),
        freedom=1,
    )
