"""`--watch` repeats a command whenever its file changes."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from narrows.errors import InputError
from narrows.store import RESULTS, slug

TICK_S = 0.2
"""Time between looks at the file."""


def place_of(spec: str) -> str:
    """Returns the directory for the results of a watched specification, whatever changes in it."""
    return str(Path(RESULTS) / f"{slug(Path(spec).stem, 40, 'run')}.watch")


def watch(spec: str, once: Callable[[], object]) -> None:
    """Calls `once` now and after every change of the file, until Ctrl-C; reports wrong input.

    Raises InputError for something that can't be watched.
    """
    file = Path(spec)
    if not file.is_file():
        raise InputError.at("--watch", f"{spec}, which is not a file", "a specification in a file")
    while True:
        seen = _state(file)
        try:
            once()
        except InputError as error:
            for problem in error.problems:
                print(f"narrows: error: {problem}", file=sys.stderr)
        print(f"narrows: waiting for a change of {spec}; Ctrl-C ends", file=sys.stderr, flush=True)
        while _state(file) == seen:
            time.sleep(TICK_S)


def _state(file: Path) -> tuple[int, int] | None:
    """Returns the identity of a file's version; an editor may remove the file for a moment."""
    try:
        found = file.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)
