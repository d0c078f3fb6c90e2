"""The errors that users can cause, each with its place, what was found and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Problem:
    """One problem of an input.

    `place` is a dotted path such as `flows[1].cca`, a line of a file or an option; `file` the file
    that contains it, if any; `found` what is there; `remedy` what would be right; `line` and
    `column` the position in the file, both counted from 1.
    """

    place: str
    found: str
    remedy: str
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        where = ": ".join(part for part in (self._origin(), self.place) if part)
        return f"{where}: found {self.found}; {self.remedy} would be right"

    def _origin(self) -> str:
        """The file, with the line if it is known; for a text without a file, the line."""
        if self.line is None:
            return self.file or ""
        if self.file is None:
            return f"line {self.line}, column {self.column}"
        return f"{self.file}:{self.line}:{self.column}"


class NarrowsError(Exception):
    """An error that narrows reports in words instead of with a traceback."""


class InputError(NarrowsError):
    """Bad input: one or more problems (exit status 2)."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Problem, ...]]]:
        """As which it reaches another process: by its problems."""
        return type(self), (self.problems,)

    @classmethod
    def at(cls, place: str, found: str, remedy: str, file: str | None = None) -> Self:
        """The error with a single problem."""
        return cls([Problem(place, found, remedy, file)])

    @property
    def place(self) -> str:
        """The place of the first problem."""
        return self.problems[0].place

    @property
    def file(self) -> str | None:
        """The file of the first problem."""
        return self.problems[0].file

    @property
    def remedy(self) -> str:
        """The value that would be right."""
        return self.problems[0].remedy


class SpecError(InputError):
    """A specification that can't be run."""


class StoreError(InputError):
    """A results directory that can't be read or written."""


class EngineError(NarrowsError):
    """An invariant of the engine is broken: a mistake in narrows (exit status 70).

    `words` are the engine's own; `reproducer` is a specification that repeats it, if there is one.
    """

    SAYS = "the simulator broke off"

    def __init__(self, words: str, reproducer: str | None = None) -> None:
        self.words, self.reproducer = words, reproducer
        repeats = f" with {reproducer}, which repeats it" if reproducer else ""
        super().__init__(
            f"{self.SAYS} ({words}): a mistake in narrows, not in your input; "
            f"please report it{repeats}"
        )

    def __reduce__(self) -> tuple[type[Self], tuple[str, str | None]]:
        """As which it reaches another process."""
        return type(self), (self.words, self.reproducer)


class InterruptedRunError(NarrowsError):
    """The user asked to stop (exit status 130)."""
