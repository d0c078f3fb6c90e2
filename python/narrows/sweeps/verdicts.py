"""Finds which combinations of a sweep meet all checks, and the smallest value that does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from narrows.figures.names import quantity, setting, title_of, value_words
from narrows.metrics.checks import CheckOutcome, CombinationOutcome
from narrows.metrics.headings import heading_of_check
from narrows.plan import Grid
from narrows.words import begin_lower

FIRST = "path.buffer"
"""The axis whose smallest value is usually wanted; otherwise the first axis of numbers."""
MOST_SENTENCES = 20


def record_of(
    grid: Grid, judged: Sequence[int], unmet: Sequence[CombinationOutcome]
) -> dict[str, Any]:
    """Returns a study's record of verdicts: bounds that hold everywhere, and each check not met.

    `judged` are the numbers of the combinations that were judged.
    """
    broken: dict[str, list[str]] = {}
    for one in unmet:
        broken.setdefault(str(one.case.number), []).append(_describe(one.outcome))
    bounds = [
        (one.metric, way, at)
        for one in grid.checks
        if one.metric is not None and not one.where
        for way, at in (("at least", one.at_least), ("at most", one.at_most))
        if at is not None
    ]
    return {"bounds": bounds, "judged": list(judged), "unmet": broken}


def _describe(one: CheckOutcome) -> str:
    """Describes the outcome for the page: "Share of BBR (%): 97.4, at most 60 expected"."""
    name = heading_of_check(one.check)
    value = one.interval_text if one.values else "no value"
    head = "" if one.passed is False else f"{one.verdict}: "
    return f"{head}{name}: {value}, {one.bounds_text} expected"


def smallest(
    combinations: Mapping[int, Mapping[str, object]], met: Mapping[int, bool]
) -> list[str]:
    """Returns the smallest value that meets all checks, for each combination of the other axes."""
    varied = varying_places(list(combinations.values()))
    measured = [place for place, values in varied.items() if all(map(_number, values))]
    if not measured or not met:
        return []
    place = FIRST if FIRST in measured else measured[0]
    others: dict[tuple[tuple[str, object], ...], list[tuple[float, object, bool]]] = {}
    for number, values in combinations.items():
        if number in met:
            rest = tuple((p, v) for p, v in values.items() if p in varied and p != place)
            found = quantity(values[place])
            at = found[0] if found is not None else 0.0
            others.setdefault(rest, []).append((at, values[place], met[number]))
    return [_sentence(place, rest, known) for rest, known in others.items()][:MOST_SENTENCES]


def _sentence(
    place: str, rest: Sequence[tuple[str, object]], known: Sequence[tuple[float, object, bool]]
) -> str:
    good = [one for one in known if one[2]]
    where = ", ".join(setting(*one) for one in rest)
    head = f"{where}: " if where else ""
    title = title_of(place)
    title = begin_lower(title)
    if not good:
        return f"{head}no {title} meets all checks"
    value = min(good, key=lambda one: one[0])[1]
    return f"{head}the smallest {title} that meets all checks is {value_words(place, value)}"


def varying_places(combinations: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    """Returns the places with several values, and these.

    Of places that go together only the first.
    """
    places = list(dict.fromkeys(place for one in combinations for place in one))
    columns = {place: [one.get(place) for one in combinations] for place in places}
    found: dict[str, list[object]] = {}
    for place, column in columns.items():
        distinct = set(map(str, column))
        together = [
            other for other in found
            if len(set(zip(map(str, column), map(str, columns[other]), strict=True)))
            == len(distinct) == len(set(map(str, columns[other])))
        ]  # fmt: skip
        if len(distinct) > 1 and not together:
            found[place] = list(dict.fromkeys(column))
    return found


def _number(value: object) -> bool:
    return quantity(value) is not None
