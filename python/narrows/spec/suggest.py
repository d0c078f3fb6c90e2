"""Parts of messages: quoted texts and suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from narrows.late import _native


def as_unicode(text: str) -> str:
    """Returns the text with "?" for everything that isn't Unicode, as file names may contain."""
    return text.encode("utf-8", "replace").decode("utf-8")


def quote(text: str, limit: int = 64) -> str:
    """Returns `text` in double quotes, shortened and with control characters escaped."""
    return _native.quote(as_unicode(text), limit)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Returns the known word closest to `word`, ignoring case; None if none is close."""
    return _native.nearest(as_unicode(word), [as_unicode(name) for name in known])


def one_of(word: str, known: Iterable[str]) -> str:
    """Returns the remedy for a word that should be one of `known`: the nearest, or the list."""
    words = list(known)
    close = nearest(word, words)
    return any_of(words) if close is None else f'"{close}"'


def any_of(known: Sequence[str]) -> str:
    """Returns the remedy for a value that should be one of `known`: all of them."""
    if not known:
        return "nothing"
    return f'"{known[0]}"' if len(known) == 1 else "one of " + ", ".join(known)


def number_to(most: int) -> str:
    """Returns the remedy for a number that should be from 1 to `most`."""
    return "1" if most == 1 else f"a number from 1 to {most}"
