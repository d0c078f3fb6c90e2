"""What commands print: lines, or JSON."""

from __future__ import annotations

from collections.abc import Iterable


def print_json(document: object) -> None:
    """Prints a document; NaN and infinity, which JSON lacks, are refused."""
    import json

    print(json.dumps(document, indent=1, allow_nan=False))


def print_lines(lines: Iterable[str]) -> None:
    """Prints each on a line of its own."""
    for line in lines:
        print(line)


def hint(*commands: str) -> None:
    """What to do next, for a person at a terminal; programs that read the output see nothing."""
    import sys

    if sys.stdout.isatty():
        for command in commands:
            print(f"next: {command}", file=sys.stderr)
