"""Formats texts and counts for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def printable(text: str) -> str:
    """Escapes control characters except line feeds, since they could rewrite a terminal's screen.

    Printed texts may come from somebody else: keys, names of flows and files.
    """
    return "".join(
        char if char == "\n" or char.isprintable() or char == " " else _escape(char)
        for char in text
    )


def _escape(char: str) -> str:
    return char.encode("unicode_escape").decode("ascii")


def begin_upper(text: str) -> str:
    """Returns the text with a capital at its beginning; nothing else changes."""
    return text[:1].upper() + text[1:]


def begin_lower(text: str) -> str:
    """Returns the text with a small letter at its beginning; nothing else changes."""
    return text[:1].lower() + text[1:]


def with_article(noun: str) -> str:
    """Returns a noun after "a" or "an"."""
    return f"an {noun}" if noun[:1].lower() in "aeio" else f"a {noun}"


def count_of(number: int, thing: str) -> str:
    """Returns the number with its noun, whose plural needs only an s: "1 run", "2,000 runs"."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def short_number(value: float, digits: int = 3) -> str:
    """Returns a number with these significant digits, never as a power of ten: "1,000", "0.25"."""
    return f"{float(f'{value:.{digits}g}'):,.12g}"


def round_number(value: float, digits: int) -> str:
    """Returns a number with these significant digits, and all of its digits before the point."""
    return f"{value:,.0f}" if abs(value) >= 10**digits else short_number(value, digits)


def join_words(words: Iterable[str]) -> str:
    """Joins words as in "a, b and c"."""
    *rest, last = words
    return f"{', '.join(rest)} and {last}" if rest else last


def label_of(title: str, group: str, unit: str) -> str:
    """Returns the label of a quantity, perhaps of a class, with its unit: "Share of BBR (%)"."""
    of = f" of {group}" if group else ""
    return f"{begin_upper(title)}{of}{f' ({unit})' if unit else ''}"


UNKNOWN = "-"
"""The cell of a value that isn't known."""


def cell(value: float | None, form: str, scale: float = 1.0) -> str:
    """Returns a value, times `scale`, as a cell of a table in this form."""
    return UNKNOWN if value is None else form.format(value * scale)


def align(rows: Sequence[Sequence[str]], left: int = 1, *, words: bool = False) -> list[str]:
    """Returns rows as lines: the first `left` columns are left-aligned, the others right-aligned.

    With `words` the last column has words and is left-aligned, too.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    last = len(widths) - 1 if words else len(widths)
    return [
        "  ".join(
            f"{cell:<{width}}" if at < left or at == last else f"{cell:>{width}}"
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
