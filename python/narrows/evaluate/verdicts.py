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
from narrows.metrics.expect import Measured
from narrows.plan import Plan, Trial
from narrows.spec import Expect


class Verdict(StrEnum):
    """The verdict on an expectation, or on all of a situation."""

    MET = "met"
    NOT_MET = "not met"
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
    why: str = ""
    """Why there is no value, if there is none."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A control in a situation with its verdict and those on all expectations."""

    attempt: Attempt
    verdict: Verdict
    held: tuple[Held, ...] = ()
    trouble: str = ""


def judge(attempt: Attempt, found: Callable[[Plan, Trial], Measured | None]) -> Judged:
    """Judges the runs of an attempt by its expectations.

    `found` gives each run, or None if it failed: then the situation is undecided, with the number
    of failures.
    """
    if attempt.cell is None:
        return Judged(attempt, Verdict.REFUSED, trouble=attempt.refused)
    plan = attempt.cell.plan
    runs = [run for trial in plan.trials if (run := found(plan, trial)) is not None]
    if len(runs) < len(plan.trials):
        trouble = f"{len(plan.trials) - len(runs)} of {len(plan.trials)} runs failed"
        return Judged(attempt, Verdict.UNDECIDED, trouble=trouble)
    stack = attempt.contestant.stack
    held = tuple(
        _judge(one, because, runs, stack)
        for one, because in zip(attempt.expected, attempt.situation.because, strict=True)
    )
    verdict = together([one.verdict for one in held])
    unseen = dict.fromkeys(one.why for one in held if one.verdict is Verdict.REFUSED)
    return Judged(attempt, verdict, held, ", ".join(unseen) if verdict is Verdict.REFUSED else "")


def of_contestant(judged: Iterable[Judged], contestant: Contestant) -> list[Judged]:
    """The verdicts of a control, in the order of the suite."""
    return [one for one in judged if one.attempt.contestant == contestant]


def by_situation(judged: Iterable[Judged]) -> Iterator[tuple[Situation, list[Judged]]]:
    """Every situation, in the order of the suite, with the verdict of each control."""
    for situation, row in groupby(judged, key=lambda one: one.attempt.situation):
        yield situation, list(row)


def together(verdicts: Sequence[Verdict]) -> Verdict:
    """Not met if any isn't, else undecided if any is, else refused if any is, else met."""
    for verdict in (Verdict.NOT_MET, Verdict.UNDECIDED, Verdict.REFUSED):
        if verdict in verdicts:
            return verdict
    return Verdict.MET


def _judge(expected: Expect, because: str, runs: Sequence[Measured], stack: str | None) -> Held:
    """A metric without a value in some trial, such as a time that never came, isn't met.

    But what another project's stack shows in no trial, as its control's state, says nothing.
    """
    if stack is not None and (unseen := _unseen(expected, runs)):
        return Held(expected, because, (), Verdict.REFUSED, 0, f"{stack} doesn't show {unseen}")
    readings = [run.value(expected) for run in runs]
    found = [one.value for one in readings if one.value is not None]
    if len(found) < len(runs):
        why = next(one.why for one in readings if one.value is None)
        return Held(expected, because, tuple(found), Verdict.NOT_MET, 0, why)
    low = -float("inf") if expected.at_least is None else expected.at_least
    high = float("inf") if expected.at_most is None else expected.at_most
    decision = decide(found, low, high)
    names = {True: Verdict.MET, False: Verdict.NOT_MET, None: Verdict.UNDECIDED}
    return Held(expected, because, tuple(found), names[decision.passed], decision.more)


def _unseen(expected: Expect, runs: Sequence[Measured]) -> str:
    """The first series of an expectation that has no value in any run; empty if all have."""
    asked = () if expected.taken is None else (one for _, one in expected.taken.conditions())
    for one in asked:
        if not any(
            series.told for run in runs for series in run.series().read(one.owner, one.name)
        ):
            return one.series
    return ""
