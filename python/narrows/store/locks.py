"""Locks between processes: one computes a run, the others wait or do something else.

A lock is a file held by `flock`, so the operating system frees it however its
owner ends, kill -9 included: no lock can go stale. The owner's process id and
host stand in it for people. Where a file system has no such locks everything
still works; then two processes may compute the same run, and one result stays.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def claim(path: Path) -> Iterator[bool]:
    """Whether the lock at `path` is ours until the end of the block; never waits."""
    descriptor = _acquire(path)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            path.unlink(missing_ok=True)
            os.close(descriptor)


def _acquire(path: Path) -> int | None:
    """The open file of a lock that is now ours; None while another has it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:  # a file system without locks
            return descriptor
        if _is_at(descriptor, path):
            os.truncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()} {socket.gethostname()}\n".encode(), 0)
            return descriptor
        os.close(descriptor)  # its owner removed it between our open and our lock


def _is_at(descriptor: int, path: Path) -> bool:
    """Whether the open file still has its name."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)
