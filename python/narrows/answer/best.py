"""Finds the value of a place with the highest or lowest mean of a metric."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from narrows.answer.judge import Limits, Point, Replies, Request, Value, point
from narrows.answer.question import BestQuestion
from narrows.metrics.intervals import deviation, difference_half_width, mean


@dataclass(frozen=True, slots=True)
class Ranking:
    """The answer for one combination of the other axes: all values, the best first.

    Those `beside` it can't be told apart from the best; values without the metric aren't ranked.
    """

    question: BestQuestion
    points: tuple[Point, ...]
    beside: tuple[Point, ...]

    @property
    def answer(self) -> Point | None:
        """The best; None if no value has the metric."""
        return self.points[0] if self.points else None

    @property
    def is_decided(self) -> bool:
        """Returns True if the best is surely better than all others."""
        return not self.beside


def rank(
    question: BestQuestion, values: Sequence[Value], limits: Limits
) -> Generator[list[Request], Replies, Ranking]:
    """Asks for trials until the best is decided, or has had all trials that it may get."""
    known: dict[Value, Point] = {}
    wanted = [(value, limits.least) for value in values]
    while wanted:
        replies = yield wanted
        for (value, _), rows in zip(wanted, replies, strict=True):
            known[value] = point(value, rows, [question.metric], limits.level)
        ranked = _rank(question, known)
        beside = _tied_with_best(question.metric, ranked)
        open_ = [*ranked[:1], *beside] if beside else []
        if not any(_varies(one, question.metric) for one in open_):
            break  # equal values stay equal
        wanted = [(one.value, limits.more(one.trials)) for one in open_ if one.trials < limits.most]
    return Ranking(question, ranked, beside)


def _rank(question: BestQuestion, known: dict[Value, Point]) -> tuple[Point, ...]:
    """Points with the metric, the best first."""
    means = [
        (mean, one) for one in known.values() if (mean := one.mean(question.metric)) is not None
    ]
    ranked = sorted(means, key=lambda pair: pair[0], reverse=question.highest)
    return tuple(one for _, one in ranked)


def _tied_with_best(metric: str, ranked: Sequence[Point]) -> tuple[Point, ...]:
    """The points whose difference from the best has an interval that includes zero."""
    return tuple(one for one in ranked[1:] if _alike(ranked[0], one, metric))


def _alike(best: Point, other: Point, metric: str) -> bool:
    one, two = best.values[metric], other.values[metric]
    return abs(mean(one) - mean(two)) <= difference_half_width(one, two, best.level)


def _varies(one: Point, metric: str) -> bool:
    return len(one.values[metric]) < 2 or deviation(one.values[metric]) > 0
