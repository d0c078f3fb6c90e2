"""Where narrows keeps what it has compiled for this machine."""

from __future__ import annotations

import os
from pathlib import Path

from narrows.errors import InputError


def cache_directory(place: str = "--backend") -> Path:
    """`~/.cache/narrows`, or below XDG_CACHE_HOME; raises InputError at `place` without either."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = base if base.startswith("/") else os.path.expanduser("~/.cache")  # noqa: PTH111
    if not root.startswith("/"):
        remedy = "a directory in XDG_CACHE_HOME for the programs that are built"
        raise InputError.at(place, "nobody's home directory", remedy)
    return Path(root) / "narrows"
