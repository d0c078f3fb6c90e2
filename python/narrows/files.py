"""Files named by users are read with a limit, and only if reading them can end."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

STANDARD_INPUT = "/dev/stdin"


def read_limited(path: Path, most: int) -> bytes:
    """The content of a regular file, or of the standard input as `/dev/stdin`.

    Raises OSError for anything else: a device may never end, and opening a pipe without a writer
    waits for ever. Also raises it for more than `most` bytes.
    """
    if str(path) == STANDARD_INPUT:
        with os.fdopen(os.dup(0), "rb") as file:
            return _at_most(file.read(most + 1), most)
    # Without O_NONBLOCK even opening a pipe would wait.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        kind = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(kind):
            raise OSError(errno.EINVAL, "no regular file", str(path))
        return _at_most(file.read(most + 1), most)


def _at_most(content: bytes, most: int) -> bytes:
    if len(content) > most:
        raise OSError(errno.EFBIG, f"more than {most:,} bytes")
    return content
