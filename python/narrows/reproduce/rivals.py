"""Rivals: every claim about BBR with another control in BBR's place.

A claim that also holds for Reno and Vegas says nothing about BBR.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from narrows.reproduce.changes import ConditionChange, changes, touches
from narrows.reproduce.claims import RIVALS, claims
from narrows.reproduce.exhibit import Exhibit, Scope
from narrows.reproduce.judgements import AS_WRITTEN, Judgement
from narrows.reproduce.negative import ANYWAY, ITSELF, MISSED, NOTICED, control

CONFIRMED = "confirmed"
SHOWN = {NOTICED: "fails", ANYWAY: "fails anyway", ITSELF: ITSELF}


def of(exhibit: Exhibit) -> list[ConditionChange]:
    """Returns the rivals of a figure: all, if it has a claim about BBR and a flow of it."""
    if not any(map(_concerns, exhibit.claims)):
        return []
    cases = list(exhibit.method().cases(Scope(exhibit.profile, quick=True)))
    return [changes()[name] for name in RIVALS.values() if touches(changes()[name], cases)]


def _concerns(claim: str) -> bool:
    """Returns True if a rival is relevant to a claim: it states something about BBR.

    A proposal compares BBR with itself.
    """
    stated = claims()[claim]
    return stated.about == "bbr" and stated.kind in ("number", "shape")


def answers(claim: str, judgements: Iterable[Judgement]) -> dict[str, str]:
    """Returns the outcome of a claim with each rival that was judged."""
    known = {one.change: one for one in judgements if one.claim == claim}
    before = known.get(AS_WRITTEN)
    return {
        rival: _describe_rival(known[name], before)
        for rival, name in RIVALS.items()
        if name in known
    }


def _describe_rival(under: Judgement, before: Judgement | None) -> str:
    answer = control(under, before).answer
    return under.verdict if answer == MISSED else SHOWN[answer]


def is_specific(claim: str, judgements: Iterable[Judgement]) -> bool | None:
    """Returns True if a rival that the claim names makes it fail, and none of them meets it, too.

    None if no judged rival decides this and others weren't judged.
    """
    found = answers(claim, judgements)
    if not _concerns(claim) or not found:
        return None
    named = [found[rival] for rival in claims()[claim].rivals if rival in found]
    if CONFIRMED in named:
        return False
    if SHOWN[NOTICED] in named:
        return True
    return None if _absent(claim, found) else False


def must_fail_with(claim: str) -> tuple[str, ...]:
    """Returns the rivals with which a claim must fail; none if rivals are irrelevant to it."""
    return claims()[claim].rivals if _concerns(claim) else ()


def not_run(claim: str, judgements: Iterable[Judgement]) -> list[str]:
    """Returns the rivals with which a claim must fail and that weren't judged."""
    return _absent(claim, answers(claim, judgements))


def _absent(claim: str, found: Mapping[str, str]) -> list[str]:
    return [rival for rival in must_fail_with(claim) if rival not in found]


def also(claim: str, judgements: Iterable[Judgement]) -> list[str]:
    """Returns the rivals with which a claim is confirmed as well."""
    found = answers(claim, judgements) if _concerns(claim) else {}
    return [rival for rival, answer in found.items() if answer == CONFIRMED]


def describe(judged: Sequence[Judgement]) -> Iterator[str]:
    """Yields the matrix as lines of Markdown."""
    yield f"| Claim | as written | {' | '.join(RIVALS)} | must fail with | specific |"
    yield "|---" * (len(RIVALS) + 4) + "|"
    by_claim: dict[str, list[Judgement]] = {}
    for one in judged:
        by_claim.setdefault(one.claim, []).append(one)
    for claim, mine in by_claim.items():
        found = answers(claim, mine)
        if found and _concerns(claim):
            before = next((one.verdict for one in mine if one.change == AS_WRITTEN), "not run")
            told = " | ".join(found.get(rival, "not run") for rival in RIVALS)
            names = ", ".join(claims()[claim].rivals) or "none named"
            specific = {True: "yes", False: "no", None: "not known"}[is_specific(claim, mine)]
            answer = specific if before == CONFIRMED else ""
            yield f"| `{claim}` | {before} | {told} | {names} | {answer} |"
