"""Decides with intervals whether conditions hold at a value."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from narrows.answer.question import AskedCondition, metrics_in
from narrows.metrics.catalogue import find
from narrows.metrics.intervals import LEVEL, half_width, mean

Row: TypeAlias = Mapping[str, float | None]
"""The metrics of a run."""
Value: TypeAlias = float | str
"""A value of the place: a number of its scale, or a word."""
Request: TypeAlias = tuple[Value, int]
"""The first trials of a value, as many as the number says."""
Replies: TypeAlias = Sequence[Sequence[Row]]
"""For each request a row for each of its trials."""
_GROWTH = 2
"""How much the number of trials grows while something is undecided."""
_VALUES = 10
"""About as many values does a search look at."""


class PointState(StrEnum):
    """The state of conditions at a value."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many trials a value gets: at least, and at most while it is undecided."""

    least: int = 3
    most: int = 20

    def more(self, count: int) -> int:
        """The next number of trials."""
        return min(self.most, count * _GROWTH)

    @property
    def level(self) -> float:
        """The confidence of each look at each value, so that all together keep `LEVEL`.

        Each has an equal part of the errors (Bonferroni). Otherwise a search would end where luck
        decides it.
        """
        looks, count = 1, self.least
        while count < self.most:
            looks, count = looks + 1, self.more(count)
        return 1 - (1 - LEVEL) / (looks * _VALUES)


@dataclass(frozen=True, slots=True)
class Point:
    """The results of a value's runs: the values of each metric, or difference, that has any.

    Intervals of their means have the confidence `level`.
    """

    value: Value
    trials: int
    values: Mapping[str, tuple[float, ...]]
    level: float = LEVEL

    def mean(self, metric: str) -> float | None:
        """The mean of a metric; None if no run has a value."""
        known = self.values.get(metric, ())
        return mean(known) if known else None

    def interval(self, metric: str) -> tuple[float, float] | None:
        """The ends of the interval of the mean, within the possible values of the metric."""
        known = self.values.get(metric, ())
        if not known:
            return None
        middle, reach = mean(known), half_width(known, self.level)
        low, high = _possible(metric)
        return max(middle - reach, low), min(middle + reach, high)

    def state(self, condition: AskedCondition) -> PointState:
        """The state of a condition; it fails where the metric has no value."""
        ends = self.interval(condition.quantity)
        if ends is None:
            return PointState.FAILS
        kept = {condition.holds(end) for end in ends}
        if len(kept) > 1:
            return PointState.UNDECIDED
        return PointState.HOLDS if kept.pop() else PointState.FAILS

    def all_hold(self, conditions: Sequence[AskedCondition]) -> PointState:
        """The state of all conditions together: if one fails for sure, so do all."""
        states = {self.state(one) for one in conditions}
        if PointState.FAILS in states:
            return PointState.FAILS
        return PointState.UNDECIDED if PointState.UNDECIDED in states else PointState.HOLDS


def _possible(quantity: str) -> tuple[float, float]:
    """The range of the possible values of a metric or a difference."""
    metric = find(quantity)
    if metric is None or metric.centre is not None or len(metrics_in(quantity)) > 1:
        return -math.inf, math.inf
    return 0.0, 1.0 if metric.part else math.inf


def point(value: Value, rows: Sequence[Row], quantities: Sequence[str], level: float) -> Point:
    """The runs of a value as a point, with differences and the metrics in them."""
    names = dict.fromkeys(name for one in quantities for name in (one, *metrics_in(one)))
    known = {
        name: tuple(v for row in rows if (v := _read(row, name)) is not None) for name in names
    }
    return Point(value, len(rows), known, level)


def _read(row: Row, quantity: str) -> float | None:
    """A metric of a run, or the difference of two; None without a value."""
    first, *rest = (row.get(name) for name in metrics_in(quantity))
    if first is None or None in rest:
        return None
    return first - sum(one for one in rest if one is not None)


@dataclass
class Knowledge:
    """The points that are known for one combination of the other axes."""

    conditions: Sequence[AskedCondition]
    limits: Limits
    points: dict[Value, Point] = field(default_factory=dict)

    def state(self, value: Value) -> PointState:
        """The state of all conditions together at a value that has been run."""
        return self.points[value].all_hold(self.conditions)

    def look(self, values: Sequence[Value]) -> Generator[list[Request], Replies, None]:
        """Asks for trials of values until each is decided, or has had all that it may get."""
        quantities = list(dict.fromkeys(one.quantity for one in self.conditions))
        wanted = [(value, self.limits.least) for value in values if value not in self.points]
        while wanted:
            replies = yield wanted
            for (value, _), rows in zip(wanted, replies, strict=True):
                self.points[value] = point(value, rows, quantities, self.limits.level)
            wanted = [
                (value, self.limits.more(count))
                for value, count in wanted
                if count < self.limits.most and self.state(value) is PointState.UNDECIDED
            ]
