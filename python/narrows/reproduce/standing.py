"""The verdict on a claim by all that was asked of it: testbeds and rivals beside its figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from narrows.figures.palette import name
from narrows.reproduce.judgements import Judgement
from narrows.reproduce.rivals import also, is_specific
from narrows.reproduce.testbeds import dependence, on_testbeds, verdict_over

NOT_SPECIFIC = "not specific to BBR"


@dataclass(frozen=True, slots=True)
class Standing:
    """A verdict, and in words what it depends on."""

    verdict: str
    more: str = ""


def standing(claim: str, verdict: str, profile: str, judged: Sequence[Judgement]) -> Standing:
    """The verdict on a claim under a profile, after its `verdict` on the chosen testbed.

    It depends on the testbed unless it is the same on each; and if no rival that the claim names
    makes it fail, what is confirmed isn't specific to BBR. Only whole grids count. Without
    judgements it is the verdict on the chosen testbed.
    """
    mine = [
        one for one in judged if one.claim == claim and one.profile == profile and not one.quick
    ]
    found = on_testbeds(claim, mine)
    if len(found) > 1 and (over := verdict_over(found)) in ("depends", "undecided"):
        return Standing(over, dependence(found))
    if verdict != "confirmed":
        return Standing(verdict)
    others = [name(rival) for rival in also(claim, mine)]
    told = f"also with {', '.join(others)}" if others else ""
    return Standing(NOT_SPECIFIC if is_specific(claim, mine) is False else verdict, told)
