"""The output of commands: lines, or JSON."""

from __future__ import annotations

from collections.abc import Iterable

from narrows.words import printable


def print_json(document: object) -> None:
    """Prints a document; refuses NaN and infinity, which JSON lacks."""
    import json

    print(json.dumps(document, indent=1, allow_nan=False))


def print_lines(lines: Iterable[str]) -> None:
    """Prints each on its own line."""
    for line in lines:
        print(printable(line))


def hint(*commands: str) -> None:
    """Suggests the next commands on a terminal; a program that reads the output sees nothing."""
    import sys

    if sys.stdout.isatty():
        for command in commands:
            print(f"next: {command}", file=sys.stderr)
