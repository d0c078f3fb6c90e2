"""What a specification promises of its results, and when enough trials were run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from narrows.errors import Problem
from narrows.spec.fields import MAX_TRIALS, Name, Number, describe
from narrows.spec.overrides import parse_place
from narrows.spec.suggest import one_of
from narrows.spec.units import quote


class Expect(BaseModel):
    """A bound on a metric: the mean over the trials of every combination must keep it.

    A specification with expectations guards a change: `narrows run` and `narrows
    sweep` end with status 1 if one isn't met.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: Name
    """A column of the table `summary`, such as "utilization" or "bbr.share"."""
    at_least: Number | None = None
    """The mean may not be lower."""
    at_most: Number | None = None
    """The mean may not be higher."""
    where: dict[str, Any] = {}
    """Only where these places have these values: { "path.buffer" = "1bdp" }; a list means any."""

    @property
    def bound(self) -> str:
        """In words, such as "at least 0.4, at most 0.6"."""
        ends = (("at least", self.at_least), ("at most", self.at_most))
        return ", ".join(f"{word} {value:g}" for word, value in ends if value is not None)


def problems(expected: Expect, place: str) -> list[Problem]:
    """What is wrong with an expectation by itself."""
    found = []
    if expected.at_least is None and expected.at_most is None:
        found.append(Problem(place, "no bound", "`at_least`, `at_most` or both"))
    elif None not in (expected.at_least, expected.at_most) and not _ordered(expected):
        remedy = "`at_least` no higher than `at_most`"
        found.append(Problem(place, expected.bound, remedy))
    for written in expected.where:
        if parse_place(written) is None:
            remedy = "a place such as path.buffer or flows[0].cca"
            found.append(Problem(f"{place}.where", quote(written), remedy))
    return found


def _ordered(expected: Expect) -> bool:
    return float(str(expected.at_least)) <= float(str(expected.at_most))


@dataclass(frozen=True)
class Until:
    """Trials go on until half of the 95 % interval of a metric's mean is `within` a bound.

    `within` is in the metric's own unit, or a part of the mean if `relative`.
    There are at most `max_trials`.
    """

    metric: str
    within: float
    relative: bool
    max_trials: int


UNTIL_KEYS = ("metric", "within", "max_trials")


def parse_until(table: object, place: str, file: str | None) -> tuple[Until | None, list[Problem]]:
    """Reads `until` of `[sweep]`; None with the problems if something is wrong."""
    if not isinstance(table, Mapping):
        remedy = 'a table, { metric = "bbr.share", within = 0.02, max_trials = 30 },'
        return None, [Problem(place, describe(table), remedy, file)]
    found = [
        Problem(f"{place}.{key}", "an unknown key", one_of(key, UNTIL_KEYS), file)
        for key in table
        if key not in UNTIL_KEYS
    ]
    metric = table.get("metric")
    if not isinstance(metric, str) or not metric:
        remedy = 'a column of the summary, such as "bbr.share",'
        found.append(Problem(f"{place}.metric", _said(metric), remedy, file))
    within = _within(table.get("within"))
    if within is None:
        remedy = 'a number above zero, or a part of the mean such as "5%",'
        found.append(Problem(f"{place}.within", _said(table.get("within")), remedy, file))
    most = table.get("max_trials")
    if isinstance(most, bool) or not isinstance(most, int) or not 2 <= most <= MAX_TRIALS:
        remedy = f"a whole number from 2 to {MAX_TRIALS}"
        found.append(Problem(f"{place}.max_trials", _said(most), remedy, file))
    if found or within is None:
        return None, found
    return Until(str(metric), within[0], within[1], int(str(most))), []


def _said(value: object) -> str:
    return "nothing" if value is None else describe(value)


def _within(value: object) -> tuple[float, bool] | None:
    """The number, and whether it is a part of the mean."""
    relative = isinstance(value, str) and value.strip().endswith("%")
    try:
        text = str(value).strip().rstrip("%") if relative else value
        if isinstance(value, bool) or not (relative or isinstance(value, int | float)):
            return None
        number = float(str(text)) / (100 if relative else 1)
    except ValueError:
        return None
    return (number, relative) if 0 < number < float("inf") else None
