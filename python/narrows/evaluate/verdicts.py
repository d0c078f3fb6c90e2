"""Verdicts on whether a control meets the checks of a situation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from narrows.evaluate.runs import Attempt, Contestant
from narrows.evaluate.suite import Situation
from narrows.metrics import checks
from narrows.metrics.bounds import CheckVerdict, combine
from narrows.metrics.checks import CheckOutcome, RunMeasurements
from narrows.plan import Plan, Trial
from narrows.spec import ResultCheck

REFUSED = "refused"
"""The word for a control that can't run in a situation, or doesn't show the quantity of a check."""
WORDS = (*CheckVerdict, REFUSED)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of a check, with the reason for its bound."""

    outcome: CheckOutcome
    because: str
    refused: bool = False

    @property
    def verdict(self) -> str:
        """One of `WORDS`."""
        return REFUSED if self.refused else self.outcome.verdict


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """A control in a situation with its verdict, one of `WORDS`, and the outcome of all checks."""

    attempt: Attempt
    verdict: str
    results: tuple[CheckResult, ...] = ()
    trouble: str = ""


def judge(
    attempt: Attempt, found: Callable[[Plan, Trial], RunMeasurements | None]
) -> AttemptResult:
    """Judges the runs of an attempt by its checks.

    `found` gives each run, or None if it failed. The situation is then undecided, with the number
    of failures.
    """
    if attempt.cell is None:
        return AttemptResult(attempt, REFUSED, trouble=attempt.refused)
    plan = attempt.cell.plan
    runs = [run for trial in plan.trials if (run := found(plan, trial)) is not None]
    if len(runs) < len(plan.trials):
        trouble = f"{len(plan.trials) - len(runs)} of {len(plan.trials)} runs failed"
        return AttemptResult(attempt, CheckVerdict.UNDECIDED, trouble=trouble)
    stack = attempt.contestant.stack
    results = tuple(
        _judge(one, because, runs, stack)
        for one, because in zip(attempt.checks, attempt.situation.because, strict=True)
    )
    passed = combine(one.outcome.passed for one in results if not one.refused)
    unseen = dict.fromkeys(one.outcome.why for one in results if one.refused)
    decided = passed is False or (passed is None and not all(one.refused for one in results))
    if unseen and not decided:
        return AttemptResult(attempt, REFUSED, results, ", ".join(unseen))
    return AttemptResult(attempt, CheckVerdict.of(passed), results)


def of_contestant(judged: Iterable[AttemptResult], contestant: Contestant) -> list[AttemptResult]:
    """Returns the verdicts of a control, in the order of the suite."""
    return [one for one in judged if one.attempt.contestant == contestant]


def with_verdict(
    judged: Iterable[AttemptResult], verdict: CheckVerdict
) -> Iterator[tuple[AttemptResult, CheckResult]]:
    """Yields the checks with this verdict, each with its attempt."""
    return ((one, result) for one in judged for result in one.results if result.verdict == verdict)


def by_situation(
    judged: Iterable[AttemptResult],
) -> Iterator[tuple[Situation, list[AttemptResult]]]:
    """Yields every situation, in the order of the suite, with the verdict of each control."""
    for situation, row in groupby(judged, key=lambda one: one.attempt.situation):
        yield situation, list(row)


def _judge(
    check: ResultCheck, because: str, runs: Sequence[RunMeasurements], stack: str | None
) -> CheckResult:
    """Judges a check; it is refused if another project's stack shows its quantity in no trial."""
    if stack is not None and (unseen := _unseen(check, runs)):
        why = f"{stack} doesn't show {unseen}"
        return CheckResult(CheckOutcome(check, (), None, 0, why), because, refused=True)
    return CheckResult(checks.judge(check, runs), because)


def _unseen(check: ResultCheck, runs: Sequence[RunMeasurements]) -> str:
    """Returns the first series of a check that has no value in any run; empty if all have."""
    asked = () if check.taken is None else (one for _, one in check.taken.conditions())
    for one in asked:
        if not any(
            series.has_content for run in runs for series in run.series().read(one.owner, one.name)
        ):
            return one.series
    return ""
