"""What a person may have meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word closest to `word`, whatever its case; None if none is close."""
    words = list(known)
    folded = {candidate.lower(): candidate for candidate in reversed(words)}
    matches = get_close_matches(word.lower()[:64], list(folded), n=1, cutoff=0.6)
    return folded[matches[0]] if matches else None


def one_of(word: str, known: Iterable[str]) -> str:
    """The remedy for a word that should be one of `known`: the nearest, or the list."""
    words = list(known)
    close = nearest(word, words)
    if close is not None:
        return f'"{close}"'
    if not words:
        return "nothing"
    return "one of " + ", ".join(words)
