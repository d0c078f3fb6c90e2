"""How numbers of things are written in sentences."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """The number with its noun, whose plural needs only an s: "1 run", "2,000 runs"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
