"""Judges from tables whether results meet the checks of a specification."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from narrows.errors import InputError
from narrows.metrics.bounds import CheckVerdict, decide
from narrows.metrics.catalogue import scale_of
from narrows.metrics.headings import bound_in_unit, column_of, controls_in, heading_in_percent
from narrows.metrics.intervals import half_width, interval, mean
from narrows.metrics.metric import Row
from narrows.metrics.series import OF_LINK, RunSeries, flows_of, owners, series_columns
from narrows.metrics.tables import columns_of
from narrows.metrics.taken import Reading, take
from narrows.plan import Plan
from narrows.spec import Condition, ResultCheck, Scenario, SeriesNumber, same_value, spell
from narrows.spec.suggest import one_of, quote
from narrows.words import count_of


@dataclass(frozen=True)
class Combination:
    """A combination: its number, its label, its values by place, its metrics, its flows."""

    number: int
    label: str
    values: Mapping[str, object]
    columns: Sequence[str]
    scenario: Scenario
    groups: Sequence[str]
    alone: bool = False
    """True if the combination is a single run."""

    @classmethod
    def of(
        cls, plan: Plan, label: str, values: Mapping[str, object], number: int = 1
    ) -> Combination:
        """Returns the combination whose runs are planned."""
        scenario, alone = plan.trials[0].scenario, len(plan.trials) == 1
        return cls(number, label, values, columns_of(plan), scenario, plan.groups, alone)

    @property
    def owners(self) -> list[str]:
        """The names of everything that has series."""
        return owners(self.scenario, self.groups)


@dataclass(frozen=True)
class RunMeasurements:
    """A run to judge: its row of `summary`, and its tables as series, read on first use."""

    row: Row
    series: Callable[[], RunSeries]

    def value(self, check: ResultCheck) -> Reading:
        """Returns the value that a check asks for, or why there is none."""
        if check.taken is not None:
            return take(check.taken, self.series())
        found = self.row.get(str(check.metric))
        return Reading(float(found)) if isinstance(found, int | float) else Reading(None)


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """The value of a check in each trial; `more` trials would decide an undecided check."""

    check: ResultCheck
    values: tuple[float, ...]
    passed: bool | None
    more: int | None = 0
    why: str = ""
    """The reason why there is no value, if there is none."""

    @property
    def verdict(self) -> CheckVerdict:
        """The verdict in a word."""
        return CheckVerdict.of(self.passed)

    @property
    def scale(self) -> int:
        """The factor by which the values are multiplied for people."""
        return scale_of(self.check.metric or "")

    @property
    def interval_text(self) -> str:
        """The mean of the trials with its interval, as people read it."""
        return interval([self.scale * value for value in self.values])

    @property
    def bounds_text(self) -> str:
        """The bounds in the same unit."""
        return self.check.words_of_bounds(self.scale)

    @property
    def remedy(self) -> str:
        """The number of further trials that would decide the check, in words.

        Empty if it is decided.
        """
        if self.passed is not None:
            return ""
        if self.more is None:
            return "more trials wouldn't decide it"
        return f"{count_of(self.more, 'more trial')} would decide it"


@dataclass(frozen=True, slots=True)
class CombinationOutcome:
    """The outcome of a check in a combination."""

    case: Combination
    outcome: CheckOutcome

    def __str__(self) -> str:
        one = self.outcome
        scale = one.scale if one.check.heading else 1
        values = [scale * value for value in one.values]
        value = f"is {interval(values, 6)}" if values else "has no value"
        found = f"{value} ({one.why})" if one.why else value
        remedy = f"; {one.remedy}" if one.remedy else ""
        bounds = f"{one.check.words_of_bounds(scale)} expected{remedy}"
        name = one.check.heading or one.check.name
        return f"{one.verdict}: {self.case.label}: {name} {found}; {bounds}"

    def document(self) -> dict[str, Any]:
        """The outcome for `--json`."""
        one = self.outcome
        return {
            "cell": self.case.number,
            "values": dict(self.case.values),
            "check": one.check.name,
            "bounds": one.check.bounds_text,
            "verdict": one.verdict,
            "found": mean(one.values) if one.values else None,
            "more_trials": one.more,
        }


def applicable(
    checks: Sequence[ResultCheck], cases: Sequence[Combination]
) -> tuple[ResultCheck, ...]:
    """Returns the checks with columns in place of headings.

    Raises InputError for a check that applies to no combination.
    """
    return tuple(_applicable(one, f"check[{at}]", cases) for at, one in enumerate(checks))


def _applicable(check: ResultCheck, place: str, cases: Sequence[Combination]) -> ResultCheck:
    one = check
    if one.taken is None:
        one = _of_column(one, column_in(str(one.metric), f"{place}.metric", cases), place)
    else:
        _known_series(one.taken, place, cases)
    _known_places(one, place, cases)
    if not any(_applies(one, case) for case in cases):
        found = f"no combination that has {one.metric or 'this series'} and these values"
        raise InputError.at(f"{place}.where", found, "values that occur")
    return one


def _of_column(check: ResultCheck, column: str, place: str) -> ResultCheck:
    """Returns the check of a metric's column, with its bounds in the column's unit."""
    written = str(check.metric)

    def convert(end: float | None, name: str) -> float | None:
        return None if end is None else bound_in_unit(end, written, column, f"{place}.{name}")

    return replace(
        check,
        metric=column,
        heading=written if heading_in_percent(written, column) else "",
        at_least=convert(check.at_least, "at_least"),
        at_most=convert(check.at_most, "at_most"),
    )


def column_in(metric: str, place: str, cases: Sequence[Combination]) -> str:
    """Returns the column of `summary` with this name or heading in some combination."""
    columns = dict.fromkeys(name for case in cases for name in case.columns)
    controls = controls_in((case.groups, case.scenario) for case in cases)
    return column_of(metric, columns, place, controls)


def _known_places(one: ResultCheck, place: str, cases: Sequence[Combination]) -> None:
    places = {place for case in cases for place in case.values}
    for written in one.where:
        if _normal(written) not in places:
            found = f'"{written}", which is set nowhere'
            raise InputError.at(f"{place}.where", found, one_of(written, sorted(places)))


def _known_series(taken: SeriesNumber, place: str, cases: Sequence[Combination]) -> None:
    """Raises InputError for a series that no combination has, or an unknown column of a link."""
    owners = list(dict.fromkeys(name for case in cases for name in case.owners))
    for key, asked in taken.conditions():
        here = f"{place}.series" if key == "series" else f"{place}.{key}.series"
        if asked.owner not in owners:
            found = f"{quote(asked.series)}, whose {quote(asked.owner)} no combination has"
            raise InputError.at(here, found, f"{one_of(asked.owner, owners)} before the dot")
        _known_column(asked, here, cases)


def _known_column(asked: Condition, here: str, cases: Sequence[Combination]) -> None:
    of_flows = any(flows_of(case.scenario, case.groups, asked.owner) for case in cases)
    known = [*series_columns("queue_samples"), *OF_LINK]
    if not of_flows and asked.name not in known:
        found = f"{quote(asked.name)}, which a link hasn't"
        raise InputError.at(here, found, one_of(asked.name, known))


def judge(
    check: ResultCheck, runs: Sequence[RunMeasurements], *, alone: bool = False
) -> CheckOutcome:
    """Judges a check by the trials of a combination.

    A check isn't met if some trial has no value for it, such as the time of an event that never
    happened. `alone` says that the question is about this single run only: then its value decides.
    """
    if not runs:
        return CheckOutcome(check, (), None, why="no run")
    readings = [run.value(check) for run in runs]
    found = tuple(one.value for one in readings if one.value is not None)
    if len(found) < len(runs):
        why = next(one.why for one in readings if one.value is None)
        return CheckOutcome(check, found, passed=False, why=why)
    low = -math.inf if check.at_least is None else check.at_least
    high = math.inf if check.at_most is None else check.at_most
    decision = decide(found, low, high, alone=alone)
    return CheckOutcome(check, found, decision.passed, decision.more)


def judge_all(
    checks: Sequence[ResultCheck],
    cases: Sequence[Combination],
    runs: Mapping[int, Sequence[RunMeasurements]],
) -> Iterator[CombinationOutcome]:
    """Yields every check of every combination to which it applies; `runs` are by number."""
    for case in cases:
        measured = runs.get(case.number, ())
        for check in checks:
            if _applies(check, case):
                yield CombinationOutcome(case, judge(check, measured, alone=case.alone))


def narrow(values: Sequence[float], within: float, relative: bool) -> bool:
    """Returns True if half of the mean's 95 % interval is at most `within`.

    If `relative`, `within` is a fraction of the mean.
    """
    limit = within * abs(mean(values)) if relative else within
    return half_width(values) <= limit


def _applies(one: ResultCheck, case: Combination) -> bool:
    if one.taken is not None:
        known = set(case.owners)
        if any(asked.owner not in known for _, asked in one.taken.conditions()):
            return False
    elif one.metric not in case.columns:
        return False
    for written, wanted in one.where.items():
        options = wanted if isinstance(wanted, list) else [wanted]
        value = case.values.get(_normal(written))
        if not any(same_value(value, option) for option in options):
            return False
    return True


def _normal(written: str) -> str:
    return spell(written) or written
