"""The cache of what narrows has compiled for this machine."""

from __future__ import annotations

import os
from pathlib import Path

from narrows.errors import InputError

_OTHERS = 0o022
"""The write permissions of others."""


def cache_directory(place: str = "--backend") -> Path:
    """Returns `~/.cache/narrows`, or a folder of XDG_CACHE_HOME.

    Raises InputError without either.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    root = base if base.startswith("/") else os.path.expanduser("~/.cache")  # noqa: PTH111
    if not root.startswith("/"):
        remedy = "a directory in XDG_CACHE_HOME for the programs that are built"
        raise InputError.at(place, "nobody's home directory", remedy)
    return Path(root) / "narrows"


def private_directory(folder: Path, place: str = "--backend") -> Path:
    """Returns a folder of the cache, made if it is missing, in which nobody else can write.

    Its contents are loaded and executed. Raises InputError at `place` if the folder is somebody
    else's.
    """
    for part in (folder.parent, folder):
        part.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = part.stat()
        if mode.st_uid != os.getuid():
            remedy = "a cache of your own (XDG_CACHE_HOME)"
            raise InputError.at(place, f"{part}, a directory of somebody else", remedy)
        if mode.st_mode & _OTHERS:
            part.chmod(mode.st_mode & 0o777 & ~_OTHERS)
    return folder


def is_private(file: Path) -> bool:
    """Returns True if a file exists that is ours and that nobody else can write."""
    if not file.is_file():
        return False
    mode = file.stat()
    return mode.st_uid == os.getuid() and not mode.st_mode & _OTHERS
