"""Finds the testbeds that remain possible when all numbers of a document are compared at once.

To choose the testbed on which most claims hold would fit it to the claims that it then judges. So
all are reported, with the number of possibilities tried (the freedom of the fit) beside the number
of published numbers that the testbed has to meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from narrows.report import Check
from narrows.reproduce.exhibit import Exhibit
from narrows.reproduce.judgements import AS_WRITTEN, Judgement
from narrows.reproduce.testbeds import DESCRIBED, testbeds


@dataclass(frozen=True, slots=True)
class Fit:
    """A testbed against the published numbers: how many are met, open, and which are missed."""

    testbed: str
    met: int
    undecided: int
    missed: tuple[str, ...]

    @property
    def possible(self) -> bool:
        """Returns True if no number speaks against the testbed."""
        return not self.missed


def fits(document: str, judged: Sequence[Judgement], exhibits: Sequence[Exhibit]) -> list[Fit]:
    """Returns the testbeds of a document, compared by the claims that were judged on all of them.

    Testbeds that are the same for all of these claims count once.
    """
    known = {(one.claim, one.change): one for one in judged}
    possible = testbeds(document)
    figures = [
        (claim, exhibit)
        for exhibit in exhibits
        if exhibit.document == document
        for claim in exhibit.claims
        if all((claim, one.for_exhibit(exhibit).name) in known for one in possible)
        and _numbers(known[claim, AS_WRITTEN])
    ]
    found, seen = [], set()
    for testbed in possible:
        keys = tuple((claim, testbed.for_exhibit(exhibit).name) for claim, exhibit in figures)
        if keys and keys not in seen:
            seen.add(keys)
            found.append(_fit(testbed.name or DESCRIBED, [known[key] for key in keys]))
    return found


def _fit(testbed: str, judged: Sequence[Judgement]) -> Fit:
    numbers = [(one.claim, check) for one in judged for check in _numbers(one)]
    return Fit(
        testbed,
        sum(check.passed is True for _, check in numbers),
        sum(check.passed is None for _, check in numbers),
        tuple(claim for claim, check in numbers if check.passed is False),
    )


def _numbers(one: Judgement) -> list[Check]:
    """Returns the checks of numbers that the document states."""
    return [check for check in one.as_checks if check.stated is not None]


def describe(document: str, found: Sequence[Fit]) -> Iterator[str]:
    """Yields the fits as lines of Markdown."""
    if len(found) < 2:
        return
    numbers = found[0].met + found[0].undecided + len(found[0].missed)
    yield "| Testbed | met | undecided | not met |\n|---|---|---|---|"
    for one in found:
        missed = ", ".join(f"`{claim}`" for claim in dict.fromkeys(one.missed))
        yield f"| {one.testbed} | {one.met} | {one.undecided} | {len(one.missed)} {missed} |"
    yield ""
    left = [one.testbed for one in found if one.possible]
    told = f"Possible remain: {'; '.join(left)}." if left else "None remains possible."
    if not left:
        least = min(len(one.missed) for one in found)
        closest = [one.testbed for one in found if len(one.missed) == least]
        told += f" Fewest numbers, {least}, are missed with {'; '.join(closest)}."
    yield (
        f"{len(found)} testbeds of `{document}` were tried against {numbers} published numbers. "
        f"{told}"
    )
