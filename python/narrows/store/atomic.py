"""All or nothing: directories that appear at once, and files that are never half written."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from narrows.store.owned import REPLACED, hidden, lock, owned_file
from narrows.store.signals import uninterrupted


def publish(partial: Path, final: Path) -> None:
    """Gives the finished directory its name, in place of an older one if there is one.

    Ctrl-C waits until it is done. Whatever ends the process in between leaves the old
    directory or the new one; the old one perhaps under a hidden name, until the next
    run beside it gives it back (`narrows.store.owned`).
    """
    if not _flush_system(partial):
        for file in partial.rglob("*"):
            if file.is_file():
                flush(file)
    with uninterrupted():
        if final.exists():
            _replace(partial, final)
        else:
            partial.rename(final)
        flush(final.parent)


def _replace(partial: Path, final: Path) -> None:
    """Puts a directory in the place of another, which stays ours until it is gone."""
    replaced = hidden(final, REPLACED)
    descriptor = os.open(final, os.O_RDONLY)
    try:
        lock(descriptor)
        final.rename(replaced)
        partial.rename(final)
        flush(final.parent)
        shutil.rmtree(replaced, ignore_errors=True)
    finally:
        os.close(descriptor)


def flush(path: Path) -> None:
    """Waits until the disk holds a file's content or a directory's names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_all(directories: Iterable[Path]) -> None:
    """Waits until the disk holds directories of one file system, with the files in them.

    Where the system can, all are waited for at once: a wait for each takes longer than a
    short run, even if there is only one directory.
    """
    places = list(directories)
    if not places or _flush_system(places[0]):
        return
    for place in places:
        for file in (*place.iterdir(), place):
            flush(file)


def _flush_system(path: Path) -> bool:
    """Waits for the whole file system (`syncfs` of Linux); whether that could be done."""
    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if syncfs is None:
        return False
    descriptor = os.open(path, os.O_RDONLY)
    try:
        if syncfs(descriptor) == 0:
            return True
        code = ctypes.get_errno()
        if code in (errno.ENOSYS, errno.EOPNOTSUPP):
            return False
        raise OSError(code, os.strerror(code), str(path))
    finally:
        os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    """Writes a file so that a reader sees the old one or the new one, never half of one."""
    with owned_file(path) as work:
        work.write_text(text, encoding="utf-8", newline="\n")
