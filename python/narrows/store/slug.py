"""File names from arbitrary text."""

from __future__ import annotations

import re

_MOST_BYTES = 200
"""The longest name; file systems allow 255 bytes, and prefixes or suffixes may be added."""


def slug(text: str, most: int = 80, otherwise: str = "study") -> str:
    """Returns a file name: letters, digits, dots, dashes and underscores, at most `most`.

    It is never a path and never hidden. A text without any such characters gives `otherwise`.
    """
    name = re.sub(r"[^\w.-]+", "-", text).strip("-.")[:most]
    whole = name.encode()[:_MOST_BYTES].decode(errors="ignore")
    return whole or otherwise


def slugs(texts: list[str], otherwise: str) -> list[str]:
    """Returns a file name for each text, with a number if several would be the same.

    Names that differ only in the case of letters count as the same, as on some file systems.
    """
    names = [slug(text, 60, otherwise) for text in texts]
    folded = [name.casefold() for name in names]
    return [
        name if folded.count(fold) == 1 else f"{name}-flow{number}"
        for number, (name, fold) in enumerate(zip(names, folded, strict=True))
    ]
