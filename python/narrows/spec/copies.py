"""Copies of the files that a specification refers to, so that its own copy can be run elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath

from narrows.spec.suggest import as_unicode

_REFERENCE = re.compile(r"""\bfile["']?\s*=\s*(\[[^\]]*\]|"[^"\n]*"|'[^'\n]*')""")
"""The key `file` with its value, or with the values of an axis."""


def names_of_copies(files: Iterable[str], folder: str) -> dict[str, str]:
    """Returns the names of the copies, all different, in a folder beside the specification."""
    names: dict[str, str] = {}
    for file in files:
        path, number = PurePath(as_unicode(file)), 1
        copy = f"{folder}/{path.name}"
        while copy.casefold() in map(str.casefold, names.values()):
            number += 1
            copy = f"{folder}/{path.stem}-{number}{path.suffix}"
        names[file] = copy
    return names


def refer_to_copies(text: str, copies: Mapping[str, str]) -> str:
    """Returns the TOML text of a specification with the names of copies in place of its files'."""

    def rename(found: re.Match[str]) -> str:
        whole = found[0]
        for file, copy in copies.items():
            for quoted in (f'"{file}"', f"'{file}'"):
                whole = whole.replace(quoted, f'"{copy}"')
        return whole

    return _REFERENCE.sub(rename, text)
