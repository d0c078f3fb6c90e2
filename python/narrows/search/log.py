"""The log of a search: what it looks for, then a line for each try.

A search that was stopped continues from its log, whose last line may be incomplete then.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from narrows.errors import InputError
from narrows.files import read_limited
from narrows.search.space import Dimension, Value
from narrows.search.trying import PointResults, PointRunner

_MOST_BYTES = 1_000_000_000
_REMEDY = "another --out"


class Log:
    """The tries of one search, in a file."""

    def __init__(self, path: Path, trying: PointRunner) -> None:
        self.path = path
        self._space = trying.objective.space
        self._header = {
            "search": trying.objective.name,
            "control": trying.subject,
            "rival": trying.rival,
            "references": list(trying.references),
            "engine": trying.backend.engine,
            "sources": trying.sources,
        }

    def read(self) -> list[PointResults]:
        """The earlier tries; begins the log if there is none, and removes an incomplete last line.

        Raises InputError for a file that isn't the log of this search.
        """
        lines = list(self._lines())
        if not lines:
            self.path.write_text(json.dumps(self._header) + "\n", encoding="utf-8")
            return []
        if lines[0] != self._header:
            raise InputError.at(str(self.path), self._difference(lines[0]), _REMEDY)
        return [self._read_try(number, line) for number, line in enumerate(lines[1:], start=2)]

    def _difference(self, header: object) -> str:
        """How the log differs from this search's."""
        known = header if isinstance(header, dict) else {}
        others = [name for name, value in self._header.items() if known.get(name) != value]
        if others == ["sources"]:
            return "the log of a search with another source of the control"
        return "the log of another search"

    def append(self, tried: Sequence[PointResults]) -> None:
        """Adds tries."""
        with self.path.open("a", encoding="utf-8") as file:
            for one in tried:
                entry = {
                    "point": one.point,
                    "badness": one.badness,
                    "values": one.values,
                    "references": one.references,
                }
                file.write(json.dumps(entry) + "\n")

    def _lines(self) -> Iterator[Any]:
        """The JSON value of each complete line; an incomplete one is cut off."""
        try:
            content = read_limited(self.path, _MOST_BYTES)
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError.at(str(self.path), f"{error.strerror}", _REMEDY) from None
        whole = content[: content.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                yield json.loads(line)
            except ValueError:
                raise self._wrong(number) from None
        if whole != content:
            with self.path.open("r+b") as file:
                file.truncate(len(whole))

    def _read_try(self, number: int, entry: Any) -> PointResults:  # noqa: ANN401 - whatever JSON holds
        """The try in a line."""
        try:
            point, badness, values = entry["point"], entry["badness"], entry["values"]
            references = [tuple(row) for row in entry["references"]]
            right = (
                set(point) == {one.name for one in self._space}
                and all(_fits(one, point[one.name]) for one in self._space)
                and 0 < len(badness) == len(values) == len(references)
                and all(_is_number(one) for one in badness)
            )
        except (KeyError, TypeError):
            right = False
        if not right:
            raise self._wrong(number)
        return PointResults(point, tuple(badness), tuple(values), tuple(references))

    def _wrong(self, number: int) -> InputError:
        return InputError.at(f"{self.path}:{number}", "no try of this search", _REMEDY)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not math.isnan(value)


def _fits(dimension: Dimension, value: Value) -> bool:
    """Returns True if the value is one that the dimension can have."""
    if dimension.words:
        return value in dimension.words
    if isinstance(value, str) or not _is_number(value):
        return False
    if dimension.whole and not isinstance(value, int):
        return False
    return (dimension.zero and value == 0) or dimension.least <= value <= dimension.most
