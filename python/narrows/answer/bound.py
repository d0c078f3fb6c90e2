"""Brackets the value from which conditions hold: a grid first, then bisection.

A value counts as holding or failing only if the intervals decide it. Where they don't, the answer
has two ends: the last value that surely fails and the first that surely holds.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from narrows.answer.judge import Knowledge, Limits, Point, PointState, Replies, Request
from narrows.answer.question import AskedCondition, BoundQuestion, EqualQuestion
from narrows.answer.scale import Scale


@dataclass(frozen=True, slots=True)
class Bracket:
    """The answer for one combination of the other axes.

    `answer` is the value asked for, or None. `beyond` is the nearest value on its other side that
    surely fails; it is None if the range ends there. Values `between` them are undecided. `ranges`
    are the ends of the ranges in which all tested values hold.
    """

    question: BoundQuestion
    points: tuple[Point, ...]
    answer: Point | None
    beyond: Point | None
    between: tuple[Point, ...]
    ranges: tuple[tuple[Point, Point], ...]

    @property
    def is_decided(self) -> bool:
        """Returns True if no value at the bound is undecided."""
        return not self.between


@dataclass(frozen=True, slots=True)
class _Bisection:
    """The search for one bracket."""

    question: BoundQuestion
    scale: Scale
    known: Knowledge
    precision: float

    def order(self, values: Iterable[float]) -> list[float]:
        """Values in the direction of the question: the value asked for is the first that holds."""
        return sorted(values, reverse=self.question.side in ("largest", "up to"))

    def looked_at(self) -> list[float]:
        """All values with runs, in the direction of the question."""
        return self.order(float(value) for value in self.known.points)

    def states(self, values: Sequence[float]) -> list[PointState]:
        """The state of each value."""
        return [self.known.state(value) for value in values]

    def first(self) -> float | None:
        """The first value that holds; for "from" and "up to" the first from which all hold."""
        values = self.looked_at()
        if self.question.side in ("smallest", "largest"):
            return next((v for v in values if self.known.state(v) is PointState.HOLDS), None)
        found = None
        for value in reversed(values):
            if self.known.state(value) is not PointState.HOLDS:
                break
            found = value
        return found

    def narrow(
        self, outside: float, inside: float, belongs: Callable[[PointState], bool]
    ) -> Generator[list[Request], Replies, None]:
        """Halves the gap between a value outside and one inside until it is narrow.

        Or until more values would only be undecided.
        """
        while not self._narrow_enough(outside, inside) and not self._is_blurred(outside, inside):
            middle = self.scale.between(*sorted((outside, inside)))
            if middle is None:
                return
            yield from self.known.look([middle])
            if belongs(self.known.state(middle)):
                inside = middle
            else:
                outside = middle

    def seek(self, one: float, other: float) -> Generator[list[Request], Replies, None]:
        """Bisects two failing values for one between them at which all conditions hold."""
        while not self._narrow_enough(one, other):
            middle = self.scale.between(*sorted((one, other)))
            if middle is None:
                return
            yield from self.known.look([middle])
            fails = self._failing(middle)
            towards_one, towards_other = fails - self._failing(one), fails - self._failing(other)
            if not fails or (towards_one and towards_other):
                return
            one, other = (one, middle) if towards_one else (middle, other)

    def may_hide(self, one: float, other: float) -> bool:
        """Returns True if a value between two failing ones may hold: no condition fails at both."""
        return not (self._failing(one) & self._failing(other))

    def _failing(self, value: float) -> set[int]:
        point = self.known.points[value]
        conditions = enumerate(self.known.conditions)
        return {n for n, one in conditions if point.state(one) is PointState.FAILS}

    def _is_blurred(self, one: float, other: float) -> bool:
        """Returns True if one value is undecided, and all trials only just decided the other.

        A value that is decided then is expected nearer to the latter than the precision.
        """
        ends = sorted((one, other), key=lambda end: self.known.state(end) is PointState.UNDECIDED)
        decided, open_ = (self.known.points[end] for end in ends)
        states = [self.known.state(end) is PointState.UNDECIDED for end in ends]
        if states != [False, True] or decided.trials < self.known.limits.most:
            return False
        gains = [
            _gain(condition, decided, open_)
            for condition in self.known.conditions
            if open_.state(condition) is PointState.UNDECIDED
        ]
        return self._narrow_enough(ends[0], ends[0] + max(gains) * (ends[1] - ends[0]))

    def _narrow_enough(self, one: float, other: float) -> bool:
        return abs(one - other) <= self.precision * max(abs(one), abs(other))


def _gain(condition: AskedCondition, decided: Point, open_: Point) -> float:
    """Returns where the interval would reach the bound, as a part of the way between two values.

    The mean is taken to change evenly, and the interval to stay as wide.
    """
    ends, inside, outside = (
        decided.interval(condition.quantity),
        decided.mean(condition.quantity),
        open_.mean(condition.quantity),
    )
    if ends is None or inside is None or outside is None or inside == outside:
        return 1.0
    return min(abs(end - condition.bound) for end in ends) / abs(inside - outside)


def bracket(
    question: BoundQuestion, scale: Scale, limits: Limits, precision: float
) -> Generator[list[Request], Replies, Bracket]:
    """Asks for the trials that it needs, and returns the bracket.

    Its ends are apart by at most `precision`, as a fraction of the value.
    """
    search = _Bisection(question, scale, Knowledge(question.conditions, limits), precision)
    yield from search.known.look(scale.numbers)
    if question.side in ("smallest", "largest"):
        yield from _look_for_gaps(search)
    first = search.first()
    if first is not None:
        before = _values_below(search, first)
        if before:
            yield from search.narrow(before[-1], first, lambda state: state is PointState.HOLDS)
            yield from _fails(search)
    return _bracket(search)


def crossing(
    question: EqualQuestion, scale: Scale, limits: Limits, precision: float
) -> Generator[list[Request], Replies, Bracket]:
    """Brackets the value at which the metric crosses the one that it is compared with."""
    below, above = question.condition("<"), question.condition(">")
    first, known = scale.numbers[0], Knowledge([below], limits)
    yield from known.look([first])
    mean = known.points[first].mean(below.quantity)
    other_side = above if mean is not None and below.holds(mean) else below
    wanted = BoundQuestion(question.place, "smallest", (other_side,))
    return (yield from bracket(wanted, scale, limits, precision))


def _look_for_gaps(search: _Bisection) -> Generator[list[Request], Replies, None]:
    """Looks between failing grid values, before the first that holds, for a range that does."""
    first = search.first()
    values = search.looked_at()
    end = len(values) if first is None else values.index(first)
    for one, other in pairwise(values[:end]):
        failing = {search.known.state(one), search.known.state(other)} == {PointState.FAILS}
        if failing and search.may_hide(one, other):
            yield from search.seek(one, other)


def _values_below(search: _Bisection, value: float) -> list[float]:
    values = search.looked_at()
    return values[: values.index(value)]


def _fails(search: _Bisection) -> Generator[list[Request], Replies, None]:
    """Bisects to where the undecided values before the first that holds begin, if there are any."""
    first = search.first()
    before = _values_below(search, first) if first is not None else []
    failing = [v for v in before if search.known.state(v) is PointState.FAILS]
    if failing and failing[-1] != before[-1]:
        after = before[before.index(failing[-1]) + 1]
        yield from search.narrow(failing[-1], after, lambda state: state is not PointState.FAILS)


def _bracket(search: _Bisection) -> Bracket:
    points, values = search.known.points, search.looked_at()
    first = search.first()
    before = values if first is None else values[: values.index(first)]
    beyond = next((v for v in reversed(before) if search.known.state(v) is PointState.FAILS), None)
    between = before[before.index(beyond) + 1 :] if beyond is not None else before
    undecided = [v for v in between if search.known.state(v) is PointState.UNDECIDED]
    runs = groupby(sorted(values), key=search.known.state)
    held = [list(run) for state, run in runs if state is PointState.HOLDS]
    return Bracket(
        search.question,
        tuple(points[value] for value in sorted(values)),
        None if first is None else points[first],
        None if beyond is None else points[beyond],
        tuple(points[value] for value in sorted(undecided)),
        tuple((points[run[0]], points[run[-1]]) for run in held),
    )
