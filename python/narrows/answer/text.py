"""An answer in words."""

from __future__ import annotations

from collections.abc import Iterator

from narrows.answer.best import Ranking
from narrows.answer.bound import Bracket
from narrows.answer.judge import Point, PointState
from narrows.answer.question import AskedCondition
from narrows.answer.study import AskedStudy, Case
from narrows.metrics.catalogue import find
from narrows.metrics.intervals import half_width, interval
from narrows.words import counted

_OTHER_SIDE = {"smallest": "below", "from": "below", "largest": "above", "up to": "above"}


def sentence(study: AskedStudy, case: Case, found: Bracket | Ranking) -> str:
    """The answer for a case in one sentence, and how sure it is."""
    words = _of_ranking(study, found) if isinstance(found, Ranking) else _of_bracket(study, found)
    if not case:
        return words
    return f"{', '.join(f'{place} = {value}' for place, value in case)}: {words}"


def _of_bracket(study: AskedStudy, found: Bracket) -> str:
    question, ends = found.question, found.points
    reach = f"from {_value(study, ends[0])} to {_value(study, ends[-1])}"
    if found.found is None:
        return f"no {question.place} {reach} has {question.wanted}{_why_none(study, found)}."
    at = f"{_value(study, found.found)} ({_describe_point(found.found, question.metrics)})"
    head = f"{_subject(found)} is {at}"
    return "".join([head, *_certainty(study, found), *_ranges(study, found)]) + "."


def _subject(found: Bracket) -> str:
    question = found.question
    if question.side in ("smallest", "largest"):
        return f"the {question}"
    return f"the {question.place} {question.side} which {question.wanted}"


def _certainty(study: AskedStudy, found: Bracket) -> Iterator[str]:
    """The state on the other side of the bound."""
    side = _OTHER_SIDE[found.question.side]
    if found.beyond is None and not found.between:
        yield f"; that is the end of the range, so the true bound may lie {side} it"
        return
    if found.between:
        many = max(point.trials for point in found.between)
        values = ", ".join(_value(study, point) for point in found.between)
        yield f"; undecided after {counted(many, 'trial')} at {values}"
    if found.beyond is None:
        yield f", and nothing {side} surely fails"
        return
    broken = [c for c in found.question.conditions if found.beyond.state(c) is PointState.FAILS]
    names = tuple(dict.fromkeys(one.metric for one in broken))
    yield f"; at {_value(study, found.beyond)} {_means(found.beyond, names)}"


def _ranges(study: AskedStudy, found: Bracket) -> Iterator[str]:
    """Where else the conditions hold, if that isn't one range from the bound on."""
    others = [(a, b) for a, b in found.ranges if found.found not in _within(found, a, b)]
    if others:
        words = " and ".join(f"{_value(study, a)} to {_value(study, b)}" for a, b in others)
        yield f"; not in one range: it also holds from {words}"


def _within(found: Bracket, first: Point, last: Point) -> tuple[Point, ...]:
    points = found.points
    return points[points.index(first) : points.index(last) + 1]


def _why_none(study: AskedStudy, found: Bracket) -> str:
    """Where each condition holds by itself, or that none does."""
    if found.ranges:
        words = " and ".join(f"{_value(study, a)} to {_value(study, b)}" for a, b in found.ranges)
        return f" up to the end of the range: it holds from {words} only"
    open_ = [
        p for p in found.points if p.all_hold(found.question.conditions) is PointState.UNDECIDED
    ]
    parts = [_alone(study, found, condition) for condition in found.question.conditions]
    if open_:
        parts.append(f"undecided at {', '.join(_value(study, point) for point in open_)}")
    return f"{' for sure' if open_ else ''}: {'; '.join(parts)}"


def _alone(study: AskedStudy, found: Bracket, condition: AskedCondition) -> str:
    """Where a condition holds by itself; if nowhere, where it comes closest."""
    held = [point for point in found.points if point.state(condition) is PointState.HOLDS]
    if held:
        return f"{condition} from {_value(study, held[0])} to {_value(study, held[-1])}"
    means = [(mean, p) for p in found.points if (mean := p.mean(condition.metric)) is not None]
    if not means:
        return f"{condition.metric} has no value"
    most = max if condition.op.startswith(">") else min
    _, closest = most(means, key=lambda one: one[0])
    return f"{_means(closest, (condition.metric,))} at {_value(study, closest)} comes closest"


def _of_ranking(study: AskedStudy, found: Ranking) -> str:
    question, best = found.question, found.found
    if best is None:
        return f"no {question.place} has a value of {question.metric}."
    head = f"the {question} is {_value(study, best)} ({_describe_point(best, question.metrics)})"
    others = [one for one in found.points[1:] if one not in found.beside]
    parts = [head]
    if found.beside:
        values = ", ".join(
            f"{_value(study, one)} ({_means(one, question.metrics)})" for one in found.beside
        )
        parts.append(f"; it can't be told apart from {values}")
    if others:
        next_ = f"{_value(study, others[0])} ({_means(others[0], question.metrics)})"
        parts.append(f"; {'then' if found.beside else 'next is'} {next_}")
    return "".join(parts) + "."


def _value(study: AskedStudy, point: Point) -> str:
    return str(study.written(point.value))


def _describe_point(point: Point, metrics: tuple[str, ...]) -> str:
    return f"{_means(point, metrics)}; {counted(point.trials, 'trial')}"


def _means(point: Point, metrics: tuple[str, ...]) -> str:
    return ", ".join(f"{name} {mean_words(point, name)}" for name in metrics)


def mean_words(point: Point, metric: str) -> str:
    """The mean with half of its interval and its unit, such as "12.3 ± 0.4 ms"."""
    known = point.values.get(metric, ())
    if not known:
        return "has no value"
    found = find(metric)
    unit = f" {found.unit}" if found is not None and found.unit else ""
    digits = 3 if half_width(known) > 1e-4 * abs(sum(known) / len(known)) else 4
    return interval(known, digits, unit)
