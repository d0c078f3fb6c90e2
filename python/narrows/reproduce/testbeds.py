"""Possible testbeds of a document that doesn't describe its own, and verdicts over all of them.

A document may leave open how late pacing timers are, how many flows a figure has, who starts first
or the use of offload. Each possibility is a testbed, on which all claims of the document are
judged. A claim is confirmed or refuted only if it is so on all of them. It depends on the testbed
if it is confirmed on one and refuted on another; otherwise it is undecided. A testbed that makes
one claim true explains nothing if others fail there, so each is also compared with all numbers of
the document (`narrows.reproduce.fit`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from narrows.reproduce.changes import ConditionChange, put
from narrows.reproduce.claims import claims
from narrows.reproduce.exhibit import Exhibit
from narrows.reproduce.judgements import AS_WRITTEN, Judgement
from narrows.reproduce.library import OURS, documents, library, per_library
from narrows.reproduce.study_code import load
from narrows.reproduce.study_files import studies
from narrows.reproduce.testbed_axes import Edit, Level, Spec, TestbedAxis

DESCRIBED = "as chosen"
"""The testbed with which the figures are made."""


@dataclass(frozen=True, slots=True)
class Testbed:
    """A combination of levels of different axes; without levels it is the chosen testbed."""

    levels: tuple[tuple[TestbedAxis, Level], ...]

    @property
    def name(self) -> str:
        """The names of its levels."""
        return ", ".join(level.name for _, level in self.levels)

    def for_exhibit(self, exhibit: Exhibit) -> Testbed:
        """Returns this testbed without the levels that don't concern a figure."""
        return Testbed(tuple(pair for pair in self.levels if pair[0].concerns(exhibit)))

    @property
    def change(self) -> ConditionChange:
        """The change of conditions that makes this testbed."""

        def edit(spec: Spec) -> None:
            for _, level in self.levels:
                level.edit(spec)

        return ConditionChange(self.name, self.name, edit=edit)


@per_library
def axes(document: str) -> tuple[TestbedAxis, ...]:
    """Returns the open properties of a document, then those that its study files name."""
    own = [
        TestbedAxis(level["why"], (Level(name, _setting(level["set"])),), (figure,))
        for figure, study in studies(document).items()
        for name, level in study.get("testbeds", {}).items()
    ]
    return (*_general(document), *own)


def _general(document: str) -> tuple[TestbedAxis, ...]:
    """Returns the open properties of one of our documents.

    They are `AXES` of the file beside its studies.
    """
    if library() is not OURS:
        return ()
    found: tuple[TestbedAxis, ...] = load(document, "testbeds.py").AXES
    return found


def _setting(values: Mapping[str, Any]) -> Edit:
    def edit(spec: Spec) -> None:
        for place, value in values.items():
            put(spec, place, value)

    return edit


def testbeds(document: str) -> list[Testbed]:
    """Returns the chosen testbed, combinations of crossed axes, then each other level alone."""
    crossed = [axis for axis in axes(document) if axis.crossed]
    options = [[None, *((axis, level) for level in axis.levels)] for axis in crossed]
    made = [Testbed(tuple(pair for pair in pairs if pair)) for pairs in product(*options)]
    rest = [axis for axis in axes(document) if not axis.crossed]
    return made + [Testbed(((axis, level),)) for axis in rest for level in axis.levels]


def of(exhibit: Exhibit) -> list[ConditionChange]:
    """Returns the changes that make the other possible testbeds of a figure."""
    own = [testbed.for_exhibit(exhibit) for testbed in testbeds(exhibit.document)]
    named = {testbed.name: testbed.change for testbed in own if testbed.levels}
    return list(named.values())


def verdict_over(verdicts: Mapping[str, str]) -> str:
    """Returns the verdict on a claim by its verdicts on every testbed.

    It is the common verdict if all are the same, and depends if two testbeds decide differently.
    Otherwise it is undecided: what is open on some of them may turn out as on the others.
    """
    kinds = set(verdicts.values())
    if len(kinds) == 1:
        return kinds.pop()
    return "depends" if kinds >= {"confirmed", "refuted"} else "undecided"


def on_testbeds(claim: str, judged: Sequence[Judgement]) -> dict[str, str]:
    """Returns the verdict on a claim on each testbed on which it was judged."""
    names = {AS_WRITTEN: DESCRIBED} | {
        testbed.name: testbed.name for testbed in testbeds(claims()[claim].document)[1:]
    }
    mine = [one for one in judged if one.claim == claim and one.change in names]
    return {names[one.change]: one.verdict for one in mine}


def dependence(verdicts: Mapping[str, str]) -> str:
    """Says what a claim depends on: the chosen testbed's verdict, and the testbeds with another."""
    chosen = verdicts.get(DESCRIBED, "not run")
    parts = [f"{chosen} as chosen"]
    for kind in dict.fromkeys(verdicts.values()):
        places = [name for name, verdict in verdicts.items() if verdict == kind != chosen]
        if places:
            parts.append(f"{kind} with {'; '.join(places)}")
    return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Matrix:
    """A document's claims, its testbeds, and the verdicts by both."""

    document: str
    claims: tuple[str, ...]
    testbeds: tuple[str, ...]
    verdicts: dict[tuple[str, str], str]


def matrices(judged: Sequence[Judgement], exhibits: Sequence[Exhibit]) -> Iterator[Matrix]:
    """Yields a matrix for every document that was judged on more than the chosen testbed."""
    figures = {claim: exhibit for exhibit in exhibits for claim in exhibit.claims}
    for document in documents():
        mine = [one for one in judged if claims()[one.claim].document == document]
        order = tuple(dict.fromkeys(one.claim for one in mine))
        found = {claim: on_testbeds(claim, mine) for claim in order}
        judged_on = [claim for claim in order if len(found[claim]) > 1]
        places = {testbed.name or DESCRIBED: testbed for testbed in testbeds(document)}
        own = {
            (claim, name): testbed.for_exhibit(figures[claim]).name or DESCRIBED
            for claim in judged_on
            for name, testbed in places.items()
        }
        names = _different({name: [own[claim, name] for claim in judged_on] for name in places})
        verdicts = {
            (claim, name): found[claim].get(own[claim, name], "not run")
            for claim in judged_on
            for name in names
        }
        if judged_on:
            yield Matrix(document, tuple(judged_on), tuple(names), verdicts)


def _different(columns: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns the names of the columns that differ from every earlier one."""
    first: dict[tuple[str, ...], str] = {}
    for name, column in columns.items():
        first.setdefault(tuple(column), name)
    return list(first.values())


def describe(matrix: Matrix) -> Iterator[str]:
    """Yields a matrix as lines of Markdown, with the verdict over all testbeds."""
    yield f"| Claim | on all | {' | '.join(matrix.testbeds)} |"
    yield "|---" * (len(matrix.testbeds) + 2) + "|"
    for claim in matrix.claims:
        found = {name: matrix.verdicts[claim, name] for name in matrix.testbeds}
        yield f"| `{claim}` | {verdict_over(found)} | {' | '.join(found.values())} |"
