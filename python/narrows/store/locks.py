"""Locks between processes: one computes a run, the others wait or compute another one.

A lock is a file held by `flock`, so the operating system frees it however its owner ends, even by
kill -9. No lock can go stale; only its file stays until the next process removes it. For
information it contains the owner's process id and host. On a file system without such locks
everything still works, but two processes may compute the same run, and one result is kept.
"""

from __future__ import annotations

import os
import re
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from narrows.store.owned import is_at, lock

_NAME = re.compile("[0-9a-f]{32}")
"""Locks are named by the hashes of runs; no other file in their folder is touched."""


@contextmanager
def claim(path: Path, *, remove: bool = True) -> Iterator[bool]:
    """Yields whether we hold the lock at `path` until the end of the block; never waits.

    With `remove` its file is removed afterwards.
    """
    descriptor = _acquire(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            if remove:
                path.unlink(missing_ok=True)
            os.close(descriptor)


def _acquire(path: Path) -> int | None:
    """Returns the open file of a lock that we now hold; None while another process has it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        locked = lock(descriptor)
        if locked is False:
            os.close(descriptor)
            return None
        if locked is None:  # a file system without locks
            return descriptor
        if is_at(descriptor, path):
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)
            return descriptor
        os.close(descriptor)  # its owner removed it between our open and our lock


def free_locks(folder: Path, remove: bool = True) -> list[Path]:
    """Removes the files of locks whose owners were killed; returns them.

    Without `remove` it changes nothing.
    """
    if not folder.exists():
        return []
    return [path for path in sorted(folder.iterdir()) if _remove_if_free(path, remove)]


def _remove_if_free(path: Path, remove: bool) -> bool:
    """Removes the file of a lock that nobody holds; returns True if it is one."""
    if not _NAME.fullmatch(path.name):
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # gone meanwhile, or no file that we may open
        return False
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        free = regular and lock(descriptor) is not False and is_at(descriptor, path)
        if free and remove:
            path.unlink(missing_ok=True)
        return free
    finally:
        os.close(descriptor)
