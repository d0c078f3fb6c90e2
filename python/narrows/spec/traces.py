"""Recorded links: files of delivery opportunities in mahimahi's format."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from narrows.files import read_limited
from narrows.spec.units import UnitError, quote

MAX_BYTES = 100_000_000
_near: ContextVar[Path] = ContextVar("near", default=Path())


@contextmanager
def beside(directory: Path) -> Iterator[None]:
    """Looks for files beside the specification that names them."""
    token = _near.set(directory)
    try:
        yield
    finally:
        _near.reset(token)


def directory() -> Path:
    """Where the files are that the specification names."""
    return _near.get()


def read_trace(name: str) -> list[int]:
    """The ms of the opportunities in a file, a line each; raises UnitError.

    They go into the scenario, so that a result belongs to the trace's content.
    """
    path = _near.get() / name
    try:
        lines = read_limited(path, MAX_BYTES).decode("ascii").splitlines()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        remedy = "the path of a trace in mahimahi's format"
        raise UnitError(f"{quote(str(path), 400)} ({reason})", remedy) from None
    return _opportunities(name, lines)


def _opportunities(name: str, lines: list[str]) -> list[int]:
    found: list[int] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        place = f"line {number} of {quote(name)}, {quote(text)}"
        if not (text.isascii() and text.isdecimal()) or len(text) > 12:
            raise UnitError(place, "a whole number of ms")
        if found and int(text) < found[-1]:
            raise UnitError(place, f"at least {found[-1]}: a trace ascends")
        found.append(int(text))
    if not found or found[-1] == 0:
        raise UnitError(f"{quote(name)} without an opportunity after 0 ms", "a trace with one")
    return found
