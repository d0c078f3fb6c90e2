"""The errors that users can cause, each with its place, what was found and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Problem:
    """One problem of an input.

    `place` is a dotted path such as `flows[1].cca`, a line of a file or an option; `file` is the
    file that contains it, if any; `found` is the value there; `remedy` is what would be right;
    `line` and `column` are the position in the file, counted from 1.
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
        """Returns the file, with the line if it is known; for a text without a file, the line."""
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
        """Returns the form in which the error is sent to another process: its problems."""
        return type(self), (self.problems,)

    @classmethod
    def at(cls, place: str, found: str, remedy: str, file: str | None = None) -> Self:
        """Returns the error with a single problem."""
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
    """An invariant of the engine is broken: a bug in narrows (exit status 70).

    `words` are the engine's message; `reproducer` is a specification that repeats the run, if there
    is one.
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
        """Returns the form in which the error is sent to another process."""
        return type(self), (self.words, self.reproducer)


class InterruptedRunError(NarrowsError):
    """The user asked to stop (exit status 130)."""
