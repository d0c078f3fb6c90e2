"""The negative controls: every claim under the conditions in which its checks must fail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from narrows.report import Check
from narrows.reproduce.changes import ConditionChange, changes
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Exhibit
from narrows.reproduce.judgements import AS_WRITTEN, Judgement

NOTICED, MISSED, ANYWAY, ITSELF = "yes", "no", "fails anyway", "compared with itself"
"""The answers about a change: it is noticed if a check that is met without it fails with it. A
check that fails without it, too, shows nothing, nor does one that now compares a condition with
itself and so would fail under any rule."""


@dataclass(frozen=True, slots=True)
class Control:
    """A claim under a change: the reaction of its checks, and the check that decides it."""

    claim: str
    change: str
    quick: bool
    answer: str
    failed: str
    measured: str

    @property
    def is_noticed(self) -> bool:
        """Returns True if the checks noticed the change."""
        return self.answer == NOTICED


def named_changes(exhibit: Exhibit) -> list[ConditionChange]:
    """Returns the negative controls that the claims of a figure name."""
    names = [name for claim in exhibit.claims for name in claims()[claim].fails_under]
    return [changes()[name] for name in dict.fromkeys(names)]


def controls(judgements: Iterable[Judgement]) -> list[Control]:
    """Returns every control that a claim names and that was judged."""
    known = {one.key: one for one in judgements}
    return [
        control(one, known.get((one.claim, AS_WRITTEN, *one.key[2:])))
        for one in known.values()
        if one.change in claims()[one.claim].fails_under
    ]


def control(under: Judgement, before: Judgement | None) -> Control:
    """Returns the difference that a change makes to a judgement."""
    met = {check.statement for check in before.as_checks if check.passed} if before else set()
    failed = [check for check in under.as_checks if check.passed is False]
    own = [check for check in failed if not (under.merged and _trivial(check))]
    noticed = [check for check in own if check.statement in met]
    for answer, some in ((NOTICED, noticed), (ANYWAY, own), (ITSELF, failed)):
        if some:
            first = some[0]
            return Control(*_place(under), answer, first.statement, first.measured)
    told = "; ".join(check.measured for check in under.as_checks)
    return Control(*_place(under), MISSED, "", told)


def _place(under: Judgement) -> tuple[str, str, bool]:
    return under.claim, under.change, under.quick


def _trivial(check: Check) -> bool:
    """Returns True if every number is exactly the ratio or the difference of equal runs."""
    numbers = list(check.values.values())
    return bool(numbers) and all(mean in (0.0, 1.0) and not reach for mean, reach in numbers)


def describe(made: Sequence[Control]) -> Iterator[str]:
    """Yields the lines to print: each control, and how many went unnoticed."""
    words = {NOTICED: "noticed", MISSED: "NOT NOTICED"}
    for one in made:
        told = words.get(one.answer, one.answer)
        yield f"{told}: {one.claim}, with {changes()[one.change].words}"
        yield f"  {one.failed or 'no check failed'} Measured {one.measured}"
    counts = (sum(one.answer == answer for one in made) for answer in (NOTICED, MISSED))
    noticed, missed = counts
    yield (
        f"{len(made)} negative controls: {noticed} noticed, {missed} not noticed, "
        f"{len(made) - noticed - missed} that show nothing"
    )
