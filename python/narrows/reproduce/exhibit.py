"""The parts of a figure of a document: conditions, measurements, a picture, verdicts.

A figure has four functions, through which data flows one way. They are those of a study that is
data (`study.method`), or of a Python file beside it:

    cases(scope)     -> the conditions, each a specification; runs with the same one are shared
    measure(trial)   -> frames of one run: what the picture and the verdicts need, no more
    draw(data)       -> the pictures, as the document drew them
    judge(data)      -> one finding for each claim, by rules that are written beside it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias

from narrows.late import pl
from narrows.reproduce import study_code
from narrows.reproduce.library import Table
from narrows.reproduce.study_files import studies
from narrows.store import StoredTrial
from narrows.words import count_of

if TYPE_CHECKING:
    from narrows.figures.model import Figure
    from narrows.report import Check

PROFILE = "linux-6.12"
"""The kernel of a document that names none."""
CONFIDENCE = 0.99
"""A decided check is right in this share of all repetitions."""
MOST_TRIALS = 64
"""No more trials than these are added to a condition, unless more are asked for."""

Key: TypeAlias = Mapping[str, str | int | float]
Frames: TypeAlias = "Mapping[str, pl.DataFrame]"


@dataclass(frozen=True, slots=True)
class Scope:
    """The options of a figure: which kernel's TCP, and whether the quick form suffices."""

    profile: str
    quick: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One condition of a figure.

    `key` names it: its entries become columns of every frame. `spec` is the specification as in
    TOML. A case with its own `backend` runs there, whichever was asked for, and is left out where
    that back end isn't set up. A case that only shows a reason (`aside`) is left out where the back
    end can't run it.
    """

    key: Key
    spec: Mapping[str, Any]
    backend: str = ""
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Data:
    """All measurements: frames by name, with the columns of `key` and `trial`.

    A check of them is decided at `confidence`. `same_runs` says that all trials of some condition
    were the same run, as in virtual time, where hosts draw no random numbers. Their interval has no
    width and says nothing about other paths: they are one observation. With `changed_path` they are
    of another path than the document's, whose delays and rates decide nothing.
    """

    frames: Frames
    scope: Scope
    confidence: float = CONFIDENCE
    same_runs: bool = False
    changed_path: bool = False

    def __getitem__(self, name: str) -> pl.DataFrame:
        return self.frames[name]

    def rows(self, frame: str, **where: str | float) -> pl.DataFrame:
        """Returns the rows of a frame whose columns have these values: one cell, all trials."""
        return self.frames[frame].filter(**where)

    def values(self, value: str, frame: str = "outcome", **where: str | float) -> list[float]:
        """Returns a column of one cell by trial, without the trials that have no value there."""
        return [float(each) for each in self.rows(frame, **where)[value].drop_nulls().to_list()]


@dataclass(frozen=True, slots=True)
class Finding:
    """The checks on one claim.

    `reason` is a separate check: if the claim isn't met, and the data show the reason, it says
    why this setup must differ. `notes` are shown beside the checks and decide nothing. `explains`
    are the statements of the checks that the reason is about, if it isn't about all of them.
    """

    claim: str
    checks: Sequence[Check]
    reason: Check | None = None
    notes: Sequence[Check] = ()
    explains: Sequence[str] = ()

    @property
    def verdict(self) -> str:
        """One of `narrows.reproduce.ledger.VERDICTS`.

        A claim is confirmed only if every check passed that is judged. A claim that leaves its
        answer open has no checks, and is reported.
        """
        if not self.checks:
            return "reported" if self.notes else "not run"
        passed = [check.passed for check in self.checks if check.is_judged]
        failed = {check.statement for check in self.checks if check.passed is False}
        if failed:
            shown = self.reason is not None and self.reason.passed
            covered = not self.explains or failed <= set(self.explains)
            return "differs" if shown and covered else "refuted"
        if passed and None not in passed:
            return "confirmed"
        return "partly" if True in passed else "undecided"


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as an image: the corresponding part of the document, a caption, and the figure."""

    name: str
    caption: str
    figure: Figure


class Method(Protocol):
    """The functions of a figure."""

    def cases(self, scope: Scope, /) -> Iterable[Case]:
        """Returns the conditions."""

    def measure(self, trial: StoredTrial, /) -> dict[str, pl.DataFrame]:
        """Returns the frames of one run."""

    def draw(self, data: Data, /) -> list[Picture]:
        """Returns the pictures."""

    def judge(self, data: Data, /) -> list[Finding]:
        """Returns the verdicts."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A figure of a document: its title, the claims that it decides, and how it is made.

    `profile` is the kernel of the document; where the answer depends on the version, the figure is
    also made under the profiles in `also`. `code` is the file with its functions, beside its study;
    empty if the study is data only. `choices` says what the document leaves open and what was
    chosen.
    """

    identifier: str
    title: str
    source: str
    claims: tuple[str, ...]
    code: str
    profile: str
    also: tuple[str, ...] = field(default=())
    choices: str = ""

    @property
    def document(self) -> str:
        """The key of its document."""
        return self.identifier.partition("/")[0]

    def method(self) -> Any:  # noqa: ANN401 (a module that follows `Method`)
        """The functions of its code, or of the study; reading it loads polars."""
        if self.code:
            return study_code.method(self.document, self.code)
        return import_module("narrows.reproduce.study.method").study(self.identifier, self.profile)

    def scope(self, profile: str, *, quick: bool) -> Scope:
        """The scope of a run; it is `quick` only if the study's small grid leaves something out."""
        wanted = Scope(profile, quick)
        return wanted if self.in_words(wanted) else Scope(profile)

    def in_words(self, scope: Scope) -> str:
        """Returns the extent of a quick scope, "quick: 2 of 3 conditions"; empty for the whole."""
        if not scope.quick:
            return ""
        few, whole = self._both(scope)
        if few == whole:
            return ""
        parts = [
            *([f"{len(few)} of {count_of(len(whole), 'condition')}"] * (len(few) < len(whole))),
            *(["shorter runs"] * _differs("duration", few, whole)),
            *(["fewer trials"] * _differs("trials", few, whole)),
        ]
        return f"quick: {', '.join(parts) or 'other conditions'}"

    def left_out(self, scope: Scope) -> str:
        """Returns the values that no condition of a quick scope has: "buffer_bdp 0.25, 0.75"."""
        if not scope.quick:
            return ""
        few, whole = ([case.key for case in cases] for cases in self._both(scope))
        told = []
        for name in dict.fromkeys(name for key in whole for name in key):
            kept = {key.get(name) for key in few}
            values = dict.fromkeys(key[name] for key in whole if name in key)
            lacking = [f"{value}" for value in values if value not in kept]
            told += [f"{name} {', '.join(lacking)}"] if lacking else []
        return "; ".join(told)

    def _both(self, scope: Scope) -> tuple[list[Case], list[Case]]:
        """Returns the conditions of the quick form and of the whole figure."""
        method = self.method()
        few, whole = (list(method.cases(Scope(scope.profile, quick))) for quick in (True, False))
        return few, whole


def _differs(key: str, few: Sequence[Case], whole: Sequence[Case]) -> bool:
    """Returns True if runs of a quick form have a value that none of the whole figure has."""
    values = [{case.spec.get("run", {}).get(key) for case in cases} for cases in (few, whole)]
    return not values[0] <= values[1]


@dataclass(frozen=True, slots=True)
class Document:
    """A document of several figures: its key, its name, its kernel.

    `choices` says what the document leaves open everywhere.
    """

    key: str
    called: str
    profile: str
    choices: str

    @classmethod
    def from_table(cls, key: str, table: Table) -> Self:
        """Returns the document that a file describes."""
        called = table.get("called", table["paper"])
        return cls(key, called, table.get("profile", PROFILE), table.get("choices", ""))

    def studies(self) -> list[Exhibit]:
        """Returns the figures of this document."""
        return [self._exhibit(name, study) for name, study in studies(self.key).items()]

    def _exhibit(self, name: str, study: Table) -> Exhibit:
        chosen = f"{self.choices} {study.get('choices', '')}".strip()
        return Exhibit(
            name,
            study["title"],
            f"{study['source']} of {study.get('called', self.called)}",
            tuple(f"{self.key}/{claim['id']}" for claim in study.get("claim", ())),
            study.get("code", ""),
            study.get("profile", self.profile),
            tuple(study.get("also", ())),
            study.get("choices_instead", chosen),
        )
