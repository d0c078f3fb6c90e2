"""Verdicts on whether a control meets the expectations of a situation.

An expectation is kept only if the whole 95 % interval of the mean lies within its bounds,
and broken only if all of it lies outside. Otherwise it is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from narrows.evaluate.runs import Attempt, Contestant
from narrows.evaluate.suite import Situation
from narrows.metrics.bounds import decide
from narrows.spec import Expect

if TYPE_CHECKING:
    import polars as pl


class Verdict(StrEnum):
    """The verdict on an expectation, or on all of a situation."""

    KEPT = "kept"
    BROKEN = "broken"
    UNDECIDED = "undecided"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Held:
    """An expectation with the measurement of each trial; `more` trials would decide."""

    expected: Expect
    because: str
    values: tuple[float, ...]
    verdict: Verdict
    more: int | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A control in a situation with its verdict and those on all expectations."""

    attempt: Attempt
    verdict: Verdict
    held: tuple[Held, ...] = ()
    trouble: str = ""


def judge(attempt: Attempt, summary: Mapping[str, Mapping[str, object]]) -> Judged:
    """Judges the runs of an attempt by its expectations.

    `summary` has the row of each run by its hash. A missing run has failed: the situation is
    undecided, with the number of failures.
    """
    if attempt.cell is None:
        return Judged(attempt, Verdict.REFUSED, trouble=attempt.refused)
    trials = attempt.cell.plan.trials
    rows = [summary[trial.hash] for trial in trials if trial.hash in summary]
    if len(rows) < len(trials):
        trouble = f"{len(trials) - len(rows)} of {len(trials)} runs failed"
        return Judged(attempt, Verdict.UNDECIDED, trouble=trouble)
    held = tuple(
        _held(one, because, rows)
        for one, because in zip(attempt.expected, attempt.situation.because, strict=True)
    )
    return Judged(attempt, together([one.verdict for one in held]), held)


def of_contestant(judged: Iterable[Judged], contestant: Contestant) -> list[Judged]:
    """The verdicts of a control, in the order of the suite."""
    return [one for one in judged if one.attempt.contestant == contestant]


def by_situation(judged: Iterable[Judged]) -> Iterator[tuple[Situation, list[Judged]]]:
    """Every situation, in the order of the suite, with the verdict of each control."""
    for situation, row in groupby(judged, key=lambda one: one.attempt.situation):
        yield situation, list(row)


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """Broken if any is, else undecided if any is, else kept."""
    for verdict in (Verdict.BROKEN, Verdict.UNDECIDED):
        if verdict in verdicts:
            return verdict
    return Verdict.KEPT


def _held(expected: Expect, because: str, rows: Sequence[Mapping[str, object]]) -> Held:
    """A metric without a value in some trial, such as a time that never came, is broken."""
    values = [_number(row, expected.metric) for row in rows]
    found = [value for value in values if value is not None]
    if len(found) < len(rows):
        return Held(expected, because, tuple(found), Verdict.BROKEN, 0)
    low = -float("inf") if expected.at_least is None else expected.at_least
    high = float("inf") if expected.at_most is None else expected.at_most
    decision = decide(found, low, high)
    names = {True: Verdict.KEPT, False: Verdict.BROKEN, None: Verdict.UNDECIDED}
    return Held(expected, because, tuple(found), names[decision.passed], decision.more)


def _number(row: Mapping[str, object], metric: str) -> float | None:
    value = row.get(metric)
    return float(value) if isinstance(value, (int, float)) else None


def by_run(summary: pl.DataFrame) -> dict[str, Mapping[str, object]]:
    """The rows of the table `summary` by the hash of their run."""
    return {str(row["run"]): row for row in summary.iter_rows(named=True)}
