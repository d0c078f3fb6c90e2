"""An answer in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from narrows.answer.best import Ranking
from narrows.answer.bound import Bracket
from narrows.answer.judge import Point, PointState
from narrows.answer.question import AskedCondition, EqualQuestion, metrics_in
from narrows.answer.study import AskedCase, AskedStudy
from narrows.metrics.catalogue import find, scale_of
from narrows.metrics.groups import two_groups
from narrows.metrics.intervals import half_width, interval
from narrows.words import count_of, join_words

_OTHER_SIDE = {"smallest": "below", "from": "below", "largest": "above", "up to": "above"}


def sentence(study: AskedStudy, case: AskedCase, found: Bracket | Ranking) -> str:
    """The answer for a case in one sentence, and how sure it is."""
    if isinstance(found, Ranking):
        words = _of_ranking(study, case, found)
    elif isinstance(study.question, EqualQuestion):
        words = _of_equality(study, case, study.question, found)
    else:
        words = _of_bracket(study, case, found)
    if not case:
        return words
    return f"{', '.join(f'{place} = {value}' for place, value in case)}: {words}"


def _of_bracket(study: AskedStudy, case: AskedCase, found: Bracket) -> str:
    question = found.question
    if found.answer is None:
        place = f"{question.place} {_searched_range(study, found)} has {question.conditions_text}"
        return f"{_no_or_undecided(found)} {place}{_why_none(study, found)}."
    head = f"{_subject(found)} is {_where(study, case, found, found.answer)}"
    return "".join([head, *_certainty(study, found), *_ranges(study, found)]) + "."


def _where(study: AskedStudy, case: AskedCase, found: Bracket, answer: Point) -> str:
    """Where the bound lies: between the values that fail and hold, or at one of whole numbers."""
    question, beyond = found.question, found.beyond
    holds = _end(study, case, answer, question.quantities, "holds")
    if beyond is None:
        return f"at {'most' if _OTHER_SIDE[question.side] == 'below' else 'least'} {holds}"
    low, high = sorted((float(beyond.value), float(answer.value)))
    if study.scale is not None and study.scale.between(low, high) is None:
        means = _means(study, beyond, _broken(found, beyond))
        return f"{holds}; {_value(study, beyond)} fails: {means}"
    fails = _end(study, case, beyond, _broken(found, beyond), "fails")
    ends = (fails, holds) if low == beyond.value else (holds, fails)
    return f"between {' and '.join(ends)}"


def _end(
    study: AskedStudy, case: AskedCase, point: Point, quantities: tuple[str, ...], state: str
) -> str:
    """A value in full, with the state of the conditions there and the metrics that show it."""
    value = study.in_full(point.value, case)
    return f"{value} ({state}: {_describe_point(study, point, quantities)})"


def _broken(found: Bracket, point: Point) -> tuple[str, ...]:
    """The quantities of the conditions that fail at a value, each once."""
    conditions = found.question.conditions
    failed = (one.quantity for one in conditions if point.state(one) is PointState.FAILS)
    return tuple(dict.fromkeys(failed))


def _of_equality(study: AskedStudy, case: AskedCase, asked: EqualQuestion, found: Bracket) -> str:
    """The two values between which the metrics are equal."""
    [condition] = found.question.conditions
    subject = str(asked).removeprefix(f"{asked.place} at which ")
    if found.answer is None or found.beyond is None:
        sure = " for sure" if found.between else ""
        side = f"{'holds' if found.answer is None else 'fails'} nowhere{sure}"
        open_ = "".join(_undecided_words(study, found))
        place = f"{asked.place} {_searched_range(study, found)} has {subject}"
        why = f"{condition} {side}{open_}{_closest(study, found, equal=True)}"
        return f"{_no_or_undecided(found)} {place}: {why}."
    ends = [
        f"{study.in_full(point.value, case)} ({_describe_point(study, point, asked.quantities)})"
        for point in (found.beyond, found.answer)
    ]
    head = f"the {asked} is between {ends[0]} and {ends[1]}"
    return "".join([head, *_undecided_words(study, found), *_ranges(study, found)]) + "."


def _no_or_undecided(found: Bracket) -> str:
    """Begins the sentence that there is no answer: all values fail for sure, or some may hold."""
    open_ = _open_points(found)
    if found.ranges and found.question.side in ("from", "up to"):  # the end of the range decides
        end = found.points[-1 if found.question.side == "from" else 0]
        open_ = tuple(point for point in open_ if point is end)
    return "it is undecided whether any" if open_ else "no"


def _open_points(found: Bracket) -> tuple[Point, ...]:
    """The values at which trials can't decide the conditions."""
    conditions = found.question.conditions
    return tuple(p for p in found.points if p.all_hold(conditions) is PointState.UNDECIDED)


def _closest(study: AskedStudy, found: Bracket, *, equal: bool = False) -> str:
    """The value that misses all conditions together by least, or is nearest to the bound."""
    conditions = found.question.conditions
    known = [p for p in found.points if all(p.mean(c.quantity) is not None for c in conditions)]
    if not known:
        return ""
    scales = [c.bound or max(abs(p.mean(c.quantity) or 0.0) for p in known) for c in conditions]
    nearest = min(known, key=lambda point: _miss(point, conditions, scales, equal=equal))
    names = tuple(dict.fromkeys(c.quantity for c in conditions))
    return f"; closest at {_value(study, nearest)} ({_means(study, nearest, names)})"


def _miss(
    point: Point,
    conditions: Sequence[AskedCondition],
    scales: Sequence[float],
    *,
    equal: bool,
) -> tuple[float, float]:
    """How far means are on the wrong side of their bounds: the most, and the sum, as parts."""
    missed = [
        0.0 if c.holds(mean) and not equal else abs(mean - c.bound) / (abs(scale) or 1.0)
        for c, scale in zip(conditions, scales, strict=True)
        if (mean := point.mean(c.quantity)) is not None
    ]
    return max(missed), sum(missed)


def _searched_range(study: AskedStudy, found: Bracket) -> str:
    """The range that was searched."""
    return f"from {_value(study, found.points[0])} to {_value(study, found.points[-1])}"


def _subject(found: Bracket) -> str:
    question = found.question
    if question.side in ("smallest", "largest"):
        return f"the {question}"
    return f"the {question.place} {question.side} which {question.conditions_text}"


def _certainty(study: AskedStudy, found: Bracket) -> Iterator[str]:
    """The state on the other side of the bound."""
    side = _OTHER_SIDE[found.question.side]
    if found.beyond is None and not found.between:
        yield f"; that is the end of the range, so the true bound may lie {side} it"
        return
    yield from _undecided_words(study, found)
    if found.beyond is None:
        yield f", and nothing {side} fails for sure"


def _undecided_words(study: AskedStudy, found: Bracket) -> Iterator[str]:
    """The range at the bound that trials couldn't decide."""
    if found.between:
        many = max(point.trials for point in found.between)
        first, last = (_value(study, found.between[at]) for at in (0, -1))
        reach = first if first == last else f"{first} to {last}"
        yield f"; {count_of(many, 'trial')} don't decide {reach}"


def _ranges(study: AskedStudy, found: Bracket) -> Iterator[str]:
    """The ends of the range that begins at the bound, and the other ranges, if there are any."""
    own = [(a, b) for a, b in found.ranges if found.answer in _points_between(found, a, b)]
    for first, last in own:
        yield from _far_end(study, found, first, last)
    others = [pair for pair in found.ranges if pair not in own]
    if others:
        words = _ranges_text(study, others)
        yield f"; not in one range: it also holds from {words}"


def _ranges_text(study: AskedStudy, ranges: Iterable[tuple[Point, Point]]) -> str:
    return join_words(f"{_value(study, a)} to {_value(study, b)}" for a, b in ranges)


def _far_end(study: AskedStudy, found: Bracket, first: Point, last: Point) -> Iterator[str]:
    """The value at which the conditions fail again on the way from the bound, if they do."""
    upward = found.question.side in ("smallest", "from")
    end, points = (last, found.points) if upward else (first, found.points[::-1])
    further = points[points.index(end) + 1 :]
    conditions = found.question.conditions
    again = next((one for one in further if one.all_hold(conditions) is PointState.FAILS), None)
    if again is None:
        return
    reach = f"at least {'up' if upward else 'down'} to {_value(study, end)}"
    means = _means(study, again, _broken(found, again))
    yield f"; it holds {reach} and fails again at {_value(study, again)}: {means}"


def _points_between(found: Bracket, first: Point, last: Point) -> tuple[Point, ...]:
    points = found.points
    return points[points.index(first) : points.index(last) + 1]


def _why_none(study: AskedStudy, found: Bracket) -> str:
    """Says where each condition holds by itself, or that none does."""
    if found.ranges:
        words = _ranges_text(study, found.ranges)
        return f" up to the end of the range: it holds from {words} only"
    open_, conditions = _open_points(found), found.question.conditions
    parts = [_explain(study, found, condition) for condition in conditions]
    if len(conditions) == 1 and not open_ and _has_values(found, conditions[0]):
        parts = []  # the sentence says it
    if open_:
        many = max(point.trials for point in open_)
        values = ", ".join(_value(study, point) for point in open_)
        parts.append(f"{count_of(many, 'trial')} don't decide {values}; all others fail")
    return f"{': ' if parts else ''}{'; '.join(parts)}{_closest(study, found)}"


def _explain(study: AskedStudy, found: Bracket, condition: AskedCondition) -> str:
    """Says where a condition holds by itself."""
    held = [point for point in found.points if point.state(condition) is PointState.HOLDS]
    if held:
        return f"{condition} from {_value(study, held[0])} to {_value(study, held[-1])}"
    if not _has_values(found, condition):
        return f"{_metric_words(study, condition.quantity)} has no value"
    sure = any(point.state(condition) is PointState.UNDECIDED for point in found.points)
    return f"{condition} nowhere{' for sure' if sure else ''}"


def _has_values(found: Bracket, condition: AskedCondition) -> bool:
    return any(point.mean(condition.quantity) is not None for point in found.points)


def _of_ranking(study: AskedStudy, case: AskedCase, found: Ranking) -> str:
    question, best = found.question, found.answer
    if best is None:
        return f"no {question.place} has a value of {_metric_words(study, question.metric)}."
    value = study.in_full(best.value, case)
    head = f"the {question} is {value} ({_describe_point(study, best, question.quantities)})"
    others = [one for one in found.points[1:] if one not in found.beside]
    parts = [head]
    if found.beside:
        values = ", ".join(
            f"{_value(study, one)} ({_means(study, one, question.quantities)})"
            for one in found.beside
        )
        parts.append(f"; it can't be told apart from {values}")
    if others:
        next_ = f"{_value(study, others[0])} ({_means(study, others[0], question.quantities)})"
        parts.append(f"; {'then' if found.beside else 'next is'} {next_}")
    return "".join(parts) + "."


def _value(study: AskedStudy, point: Point) -> str:
    return str(study.spelling(point.value))


def _describe_point(study: AskedStudy, point: Point, quantities: tuple[str, ...]) -> str:
    found = ((name, two_groups(point.values.get(name, ()), name)) for name in _names(quantities))
    split = "".join(
        f"; two groups: {_metric_words(study, name)} {parts.words(_shown_scale(study, name))}"
        for name, parts in found
        if parts
    )
    return f"{_means(study, point, quantities)}; {count_of(point.trials, 'trial')}{split}"


def _means(study: AskedStudy, point: Point, quantities: tuple[str, ...]) -> str:
    """The means of metrics, for a difference those of both metrics."""
    return ", ".join(
        f"{_metric_words(study, name)} {_mean_words(point, name, _shown_scale(study, name))}"
        for name in _names(quantities)
    )


def _metric_words(study: AskedStudy, metric: str) -> str:
    """The metric as the question names it: by its heading in per cent, or by its column."""
    return study.question.headings.get(metric, metric)


def _shown_scale(study: AskedStudy, metric: str) -> int:
    """The factor by which the values of a metric are multiplied for the answer."""
    return scale_of(metric) if metric in study.question.headings else 1


def _names(quantities: tuple[str, ...]) -> list[str]:
    """The metrics of quantities, each once."""
    return list(dict.fromkeys(name for one in quantities for name in metrics_in(one)))


def _mean_words(point: Point, metric: str, scale: int) -> str:
    """The mean, times `scale`, with half of its interval and its unit: "12.3 ± 0.4 ms"."""
    known = [scale * value for value in point.values.get(metric, ())]
    if not known:
        return "has no value"
    found = find(metric)
    unit = f" {found.unit}" if found is not None and found.unit else ""
    digits = 3 if half_width(known, point.level) > 1e-4 * abs(sum(known) / len(known)) else 4
    return interval(known, digits, unit, point.level)
