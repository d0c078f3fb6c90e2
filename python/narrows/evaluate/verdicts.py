"""Verdicts on whether a control meets the expectations of a situation.

An expectation is met only if the whole 95 % interval of the mean lies within its bounds,
and not met only if all of it lies outside. Otherwise it is undecided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from narrows.evaluate.runs import Attempt, Contestant
from narrows.evaluate.suite import Situation
from narrows.metrics.bounds import decide
from narrows.metrics.catalogue import scale_of
from narrows.metrics.expect import RunMeasurements
from narrows.metrics.intervals import interval
from narrows.plan import Plan, Trial
from narrows.spec import Expect


class ExpectationVerdict(StrEnum):
    """The verdict on an expectation, or on all of a situation."""

    MET = "met"
    NOT_MET = "not met"
    UNDECIDED = "undecided"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class ExpectationResult:
    """An expectation with the measurement of each trial; `more` further trials would decide it."""

    expected: Expect
    because: str
    values: tuple[float, ...]
    verdict: ExpectationVerdict
    more: int | None
    why: str = ""
    """Why there is no value, if there is none."""

    @property
    def scale(self) -> int:
        """The factor by which the values are multiplied for display."""
        return scale_of(self.expected.metric or "")

    @property
    def interval_text(self) -> str:
        """The mean of the trials with its interval, for display."""
        return interval([self.scale * value for value in self.values])

    @property
    def bounds_text(self) -> str:
        """The bounds, for display."""
        return self.expected.words_of_bounds(self.scale)


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """A control in a situation, with the verdict and the results of all expectations."""

    attempt: Attempt
    verdict: ExpectationVerdict
    results: tuple[ExpectationResult, ...] = ()
    trouble: str = ""


def judge(
    attempt: Attempt, found: Callable[[Plan, Trial], RunMeasurements | None]
) -> AttemptResult:
    """Judges the runs of an attempt by its expectations.

    `found` gives each run, or None if it failed: then the situation is undecided, with the number
    of failures.
    """
    if attempt.cell is None:
        return AttemptResult(attempt, ExpectationVerdict.REFUSED, trouble=attempt.refused)
    plan = attempt.cell.plan
    runs = [run for trial in plan.trials if (run := found(plan, trial)) is not None]
    if len(runs) < len(plan.trials):
        trouble = f"{len(plan.trials) - len(runs)} of {len(plan.trials)} runs failed"
        return AttemptResult(attempt, ExpectationVerdict.UNDECIDED, trouble=trouble)
    stack = attempt.contestant.stack
    results = tuple(
        _judge(one, because, runs, stack)
        for one, because in zip(attempt.expected, attempt.situation.because, strict=True)
    )
    verdict = combine([one.verdict for one in results])
    unseen = dict.fromkeys(one.why for one in results if one.verdict is ExpectationVerdict.REFUSED)
    return AttemptResult(
        attempt,
        verdict,
        results,
        ", ".join(unseen) if verdict is ExpectationVerdict.REFUSED else "",
    )


def of_contestant(judged: Iterable[AttemptResult], contestant: Contestant) -> list[AttemptResult]:
    """The verdicts of a control, in the order of the suite."""
    return [one for one in judged if one.attempt.contestant == contestant]


def by_situation(
    judged: Iterable[AttemptResult],
) -> Iterator[tuple[Situation, list[AttemptResult]]]:
    """Every situation, in the order of the suite, with the verdict of each control."""
    for situation, row in groupby(judged, key=lambda one: one.attempt.situation):
        yield situation, list(row)


def combine(verdicts: Sequence[ExpectationVerdict]) -> ExpectationVerdict:
    """Combines verdicts: the first of "not met", "undecided", "refused" that occurs, or "met"."""
    for verdict in (
        ExpectationVerdict.NOT_MET,
        ExpectationVerdict.UNDECIDED,
        ExpectationVerdict.REFUSED,
    ):
        if verdict in verdicts:
            return verdict
    return ExpectationVerdict.MET


def _judge(
    expected: Expect, because: str, runs: Sequence[RunMeasurements], stack: str | None
) -> ExpectationResult:
    """Judges an expectation; without a value in some trial, as for an event, it isn't met.

    It is refused if another project's stack never shows the series, such as its control's state.
    """
    if stack is not None and (unseen := _unseen(expected, runs)):
        return ExpectationResult(
            expected, because, (), ExpectationVerdict.REFUSED, 0, f"{stack} doesn't show {unseen}"
        )
    readings = [run.value(expected) for run in runs]
    found = [one.value for one in readings if one.value is not None]
    if len(found) < len(runs):
        why = next(one.why for one in readings if one.value is None)
        return ExpectationResult(
            expected, because, tuple(found), ExpectationVerdict.NOT_MET, 0, why
        )
    low = -float("inf") if expected.at_least is None else expected.at_least
    high = float("inf") if expected.at_most is None else expected.at_most
    decision = decide(found, low, high)
    names = {
        True: ExpectationVerdict.MET,
        False: ExpectationVerdict.NOT_MET,
        None: ExpectationVerdict.UNDECIDED,
    }
    return ExpectationResult(expected, because, tuple(found), names[decision.passed], decision.more)


def _unseen(expected: Expect, runs: Sequence[RunMeasurements]) -> str:
    """The first series of an expectation that has no value in any run; empty if all have."""
    asked = () if expected.taken is None else (one for _, one in expected.taken.conditions())
    for one in asked:
        if not any(
            series.has_content for run in runs for series in run.series().read(one.owner, one.name)
        ):
            return one.series
    return ""
