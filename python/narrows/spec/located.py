"""Finds the lines of a specification's checks, for problems that only appear in results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from narrows.errors import InputError, Problem, SpecError
from narrows.spec.reading import SpecificationText, read_file

_PLACE = re.compile(r"check\[(\d+)\](?:\.(\w+))?")
_HEADER = re.compile(r"\s*\[\[\s*check\s*\]\]")
_OTHER = re.compile(r"\s*\[")


@contextmanager
def with_lines(spec: str | Path | SpecificationText) -> Iterator[None]:
    """Adds the file, and the line if it can be found, to problems of `[[check]]` tables."""
    try:
        yield
    except InputError as error:
        if isinstance(spec, SpecificationText):
            raise
        lines = read_file(Path(spec)).splitlines()
        raise SpecError(_locate(problem, str(spec), lines) for problem in error.problems) from None


def _locate(problem: Problem, file: str, lines: list[str]) -> Problem:
    place = _PLACE.match(problem.place)
    if place is None or problem.file is not None:
        return problem
    here = _line_of(int(place[1]), place[2], lines)
    if here is None:
        return replace(problem, file=file)
    line, column = here
    return replace(problem, file=file, line=line, column=column)


def _line_of(number: int, key: str | None, lines: list[str]) -> tuple[int, int] | None:
    """Returns the line and column of a key's value or, without one, of the table's header.

    `number` is the number of the table, from 0 on.
    """
    headers = [at for at, line in enumerate(lines) if _HEADER.match(line)]
    if number >= len(headers):
        return None  # the tables are written in another way
    start = headers[number]
    for at in range(start + 1, len(lines)):
        if _OTHER.match(lines[at]):
            break
        found = re.match(rf"\s*{key}\s*=\s*", lines[at]) if key else None
        if found:
            return at + 1, found.end() + 1
    return start + 1, len(lines[start]) - len(lines[start].lstrip()) + 1
