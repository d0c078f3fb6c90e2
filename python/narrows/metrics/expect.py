"""Judges from tables whether results meet the expectations of a specification."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from narrows.errors import InputError
from narrows.metrics.intervals import half_width, mean
from narrows.metrics.metric import Row
from narrows.spec import Condition, Expect, Scenario, SeriesNumber, same_value, spell
from narrows.spec.suggest import one_of, quote

if TYPE_CHECKING:
    from narrows.metrics.series import RunSeries
    from narrows.metrics.taken import Reading


@dataclass(frozen=True)
class Combination:
    """One combination: its number, its label, its values by place, its metrics, its flows."""

    number: int
    label: str
    values: Mapping[str, object]
    columns: Sequence[str]
    scenario: Scenario
    groups: Sequence[str]

    @property
    def owners(self) -> list[str]:
        """Everything that has series."""
        from narrows.metrics.series import owners

        return owners(self.scenario, self.groups)


@dataclass(frozen=True)
class RunMeasurements:
    """A run to judge: its row of `summary`, and its tables as series, read on first use."""

    row: Row
    series: Callable[[], RunSeries]

    def value(self, expected: Expect) -> Reading:
        """The value that an expectation checks, or why there is none."""
        from narrows.metrics.taken import Reading, take

        if expected.taken is not None:
            return take(expected.taken, self.series())
        found = self.row.get(str(expected.metric))
        return Reading(float(found)) if isinstance(found, int | float) else Reading(None)


@dataclass(frozen=True)
class UnmetExpectation:
    """An expectation that a combination doesn't meet; `found` is None if it has no value."""

    expected: Expect
    case: Combination
    found: float | None
    why: str = ""

    def __str__(self) -> str:
        value = "has no value" if self.found is None else f"is {self.found:.6g}"
        more = f" ({self.why})" if self.why else ""
        bounds = self.expected.bounds_text
        return f"{self.case.label}: {self.expected.name} {value}{more}; {bounds} expected"


def applicable(expected: Sequence[Expect], cases: Sequence[Combination]) -> None:
    """Raises InputError for an expectation that applies to no combination."""
    for index, one in enumerate(expected):
        place = f"expect[{index}]"
        if one.taken is None:
            _known_metric(str(one.metric), place, cases)
        else:
            _known_series(one.taken, place, cases)
        _known_places(one, place, cases)
        if not any(_applies(one, case) for case in cases):
            found = f"no combination that has {one.metric or 'this series'} and these values"
            raise InputError.at(f"{place}.where", found, "values that occur")


def _known_metric(metric: str, place: str, cases: Sequence[Combination]) -> None:
    columns = list(dict.fromkeys(name for case in cases for name in case.columns))
    if metric not in columns:
        found = f'"{metric}", which no combination has'
        raise InputError.at(f"{place}.metric", found, one_of(metric, columns))


def _known_places(one: Expect, place: str, cases: Sequence[Combination]) -> None:
    places = {place for case in cases for place in case.values}
    for written in one.where:
        if _normal(written) not in places:
            found = f'"{written}", which is set nowhere'
            raise InputError.at(f"{place}.where", found, one_of(written, sorted(places)))


def _known_series(taken: SeriesNumber, place: str, cases: Sequence[Combination]) -> None:
    """Every series must belong to something that a combination has; a link's columns are known."""
    owners = list(dict.fromkeys(name for case in cases for name in case.owners))
    for key, asked in taken.conditions():
        here = f"{place}.series" if key == "series" else f"{place}.{key}.series"
        if asked.owner not in owners:
            found = f"{quote(asked.series)}, whose {quote(asked.owner)} no combination has"
            raise InputError.at(here, found, f"{one_of(asked.owner, owners)} before the dot")
        _known_column(asked, here, cases)


def _known_column(asked: Condition, here: str, cases: Sequence[Combination]) -> None:
    from narrows.metrics.series import OF_LINK, flows_of, series_columns

    of_flows = any(flows_of(case.scenario, case.groups, asked.owner) for case in cases)
    known = [*series_columns("queue_samples"), *OF_LINK]
    if not of_flows and asked.name not in known:
        found = f"{quote(asked.name)}, which a link hasn't"
        raise InputError.at(here, found, one_of(asked.name, known))


def judge(
    expected: Sequence[Expect],
    cases: Sequence[Combination],
    runs: Mapping[int, Iterable[RunMeasurements]],
) -> Iterator[UnmetExpectation]:
    """Every unmet expectation, by combination; `runs` has the runs of each by its number.

    A combination is judged by the mean of its runs; one without any run fails.
    """
    for case in cases:
        measured = list(runs.get(case.number, ()))
        for one in expected:
            if _applies(one, case):
                found, why = _mean(one, measured)
                if found is None or not _keeps(one, found):
                    yield UnmetExpectation(one, case, found, why)


def narrow(values: Sequence[float], within: float, relative: bool) -> bool:
    """Whether half of the 95 % interval of the mean is at most `within` (of the mean)."""
    limit = within * abs(mean(values)) if relative else within
    return half_width(values) <= limit


def _mean(one: Expect, runs: Sequence[RunMeasurements]) -> tuple[float | None, str]:
    """The mean over the runs that have a value; for a series all of them must."""
    readings = [run.value(one) for run in runs]
    known = [reading.value for reading in readings if reading.value is not None]
    lacking = next((reading for reading in readings if reading.value is None), None)
    if lacking is not None and one.taken is not None:
        return None, lacking.why
    return (mean(known) if known else None), ""


def _keeps(one: Expect, value: float) -> bool:
    low = one.at_least is None or value >= one.at_least
    return low and (one.at_most is None or value <= one.at_most)


def _applies(one: Expect, case: Combination) -> bool:
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
