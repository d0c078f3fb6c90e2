"""Judges from frames whether results meet the expectations of a specification."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from narrows.errors import InputError
from narrows.metrics.intervals import half_width, mean
from narrows.spec import Expect, same_value, spelled
from narrows.spec.suggest import one_of

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Case:
    """One combination: its number, its label, its values by place, and its metrics."""

    number: int
    label: str
    values: Mapping[str, object]
    columns: Sequence[str]


@dataclass(frozen=True)
class Unmet:
    """An expectation that a combination doesn't meet; `found` is None if it has no value."""

    expected: Expect
    case: Case
    found: float | None

    def __str__(self) -> str:
        value = "has no value" if self.found is None else f"is {self.found:.6g}"
        return f"{self.case.label}: {self.expected.metric} {value}; {self.expected.bound} expected"


def applicable(expected: Sequence[Expect], cases: Sequence[Case]) -> None:
    """Raises InputError for an expectation that applies to no combination."""
    columns: dict[str, None] = {}
    for case in cases:
        columns.update(dict.fromkeys(case.columns))
    places = {place for case in cases for place in case.values}
    for index, one in enumerate(expected):
        place = f"expect[{index}]"
        if one.metric not in columns:
            found = f'"{one.metric}", which no combination has'
            raise InputError.at(f"{place}.metric", found, one_of(one.metric, list(columns)))
        for written in one.where:
            if _normal(written) not in places:
                found = f'"{written}", which is set nowhere'
                raise InputError.at(f"{place}.where", found, one_of(written, sorted(places)))
        if not any(_applies(one, case) for case in cases):
            found = f"no combination that has {one.metric} and these values"
            raise InputError.at(f"{place}.where", found, "values that occur")


def judge(
    expected: Sequence[Expect], cases: Sequence[Case], summary: pl.DataFrame
) -> Iterator[Unmet]:
    """Every unmet expectation, by combination.

    `summary` holds a row for each run, with the column `cell`. A combination is
    judged by the mean of its runs; one without any run fails.
    """
    groups = {int(str(key[0])): rows for key, rows in summary.group_by("cell")}
    for case in cases:
        rows = groups.get(case.number)
        for one in expected:
            if _applies(one, case):
                found = _mean(rows, one.metric)
                if found is None or not _keeps(one, found):
                    yield Unmet(one, case, found)


def narrow(values: Sequence[float], within: float, relative: bool) -> bool:
    """Whether half of the 95 % interval of the mean is at most `within` (of the mean)."""
    limit = within * abs(mean(values)) if relative else within
    return half_width(values) <= limit


def _mean(rows: pl.DataFrame | None, metric: str) -> float | None:
    if rows is None or metric not in rows.columns:
        return None
    known = rows[metric].drop_nulls().cast(float).to_list()
    return mean(known) if known else None


def _keeps(one: Expect, value: float) -> bool:
    low = one.at_least is None or value >= one.at_least
    return low and (one.at_most is None or value <= one.at_most)


def _applies(one: Expect, case: Case) -> bool:
    if one.metric not in case.columns:
        return False
    for written, wanted in one.where.items():
        options = wanted if isinstance(wanted, list) else [wanted]
        value = case.values.get(_normal(written))
        if not any(same_value(value, option) for option in options):
            return False
    return True


def _normal(written: str) -> str:
    return spelled(written) or written
