"""The verdict on a claim from all of its judgements: testbeds and rivals beside its figure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from narrows.figures.palette import name
from narrows.reproduce.judgements import Judgement
from narrows.reproduce.rivals import also, is_specific, must_fail_with, not_run
from narrows.reproduce.testbeds import dependence, on_testbeds, verdict_over

NOT_SPECIFIC = "not specific to BBR"


@dataclass(frozen=True, slots=True)
class Standing:
    """A verdict, and in words what it depends on."""

    verdict: str
    more: str = ""


def standing(claim: str, verdict: str, profile: str, judged: Sequence[Judgement]) -> Standing:
    """Returns the verdict on a claim under a profile, after its `verdict` on the chosen testbed.

    It depends on the testbed if two decide differently, and is undecided if some leave it open. If
    a rival that the claim names meets it, too, or none makes it fail, a confirmed claim isn't
    specific to BBR. Named rivals without a run are reported. Only whole grids count.
    """
    mine = [
        one for one in judged if one.claim == claim and one.profile == profile and not one.quick
    ]
    found = on_testbeds(claim, mine)
    if len(found) > 1 and (over := verdict_over(found)) in ("depends", "undecided"):
        return Standing(over, dependence(found) if len(set(found.values())) > 1 else "")
    if verdict != "confirmed":
        return Standing(verdict)
    told = "; ".join(_with_rivals(claim, mine))
    return Standing(NOT_SPECIFIC if is_specific(claim, mine) is False else verdict, told)


def _with_rivals(claim: str, judged: Sequence[Judgement]) -> Iterator[str]:
    """Yields the rivals with which it is confirmed, too, and those that it names without a run."""
    if others := also(claim, judged):
        yield f"also with {_names(others)}"
    absent = not_run(claim, judged)
    if absent and len(absent) == len(must_fail_with(claim)):
        yield "rivals not run"
    elif absent:
        yield f"not run with {_names(absent)}"


def _names(rivals: Sequence[str]) -> str:
    return ", ".join(map(name, rivals))
