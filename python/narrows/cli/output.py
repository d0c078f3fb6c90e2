"""The output of commands: lines, or JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import TextIO

from narrows.words import printable

_documents: TextIO | None = None


def reserve_output() -> None:
    """Keeps the standard output for documents; the output of user code goes to standard error."""
    global _documents
    _documents = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)


def print_json(document: object) -> None:
    """Prints a document; refuses NaN and infinity, which JSON lacks."""
    import json

    print(
        json.dumps(document, indent=1, allow_nan=False),
        file=_documents,
        flush=_documents is not None,
    )


def print_lines(lines: Iterable[str]) -> None:
    """Prints each on its own line."""
    for line in lines:
        print(printable(line))


def print_result(
    document: Callable[[], object], lines: Callable[[], Iterable[str]], as_json: bool
) -> None:
    """Prints a result as a document or as lines; only what is printed is made."""
    if as_json:
        print_json(document())
    else:
        print_lines(lines())


def note(text: str) -> None:
    """Prints a remark for people, on a terminal only."""
    if sys.stdout.isatty():
        print(f"note: {text}", file=sys.stderr)


def hint(*commands: str) -> None:
    """Suggests the next commands on a terminal; a program that reads the output sees nothing."""
    if sys.stdout.isatty():
        for command in commands:
            print(f"next: {command}", file=sys.stderr)
