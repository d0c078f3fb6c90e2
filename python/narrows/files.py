"""Reads files that users name: regular files only, up to a limit of bytes."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

STANDARD_INPUT = "/dev/stdin"


def read_limited(path: Path, most: int) -> bytes:
    """Returns the content of a regular file, or of the standard input as `/dev/stdin`.

    Raises OSError for anything else, and for more than `most` bytes.
    """
    if str(path) == STANDARD_INPUT:
        with os.fdopen(os.dup(0), "rb") as file:
            return _at_most(file.read(most + 1), most)
    with open_regular(path) as file:
        return _at_most(file.read(most + 1), most)


def read_contained(path: Path, most: int) -> bytes:
    """Returns the content of a file inside a result or a store, which may come from somebody else.

    Raises OSError for anything but a regular file, for a symbolic link, and for more than `most`
    bytes.
    """
    with open_regular(path, follow=False) as file:
        return _at_most(file.read(most + 1), most)


def open_regular(path: Path, *, follow: bool = True) -> BufferedReader:
    """Opens a regular file for reading; with `follow=False`, no symbolic link.

    Raises OSError for anything else: reading a device may never end, and opening a FIFO without a
    writer blocks.
    """
    # Without O_NONBLOCK, opening a FIFO would block.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except OSError as error:
        if error.errno == errno.ELOOP and path.is_symlink():
            raise OSError(errno.ELOOP, "a link", str(path)) from None
        raise
    file = os.fdopen(descriptor, "rb")
    kind = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(kind):
        file.close()
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "something other than a regular file", str(path))
    return file


def reason(error: OSError) -> str:
    """Returns the fault of a file, in words that follow "found"."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return error.strerror or str(error)


def _at_most(content: bytes, most: int) -> bytes:
    if len(content) > most:
        raise OSError(errno.EFBIG, f"more than {most:,} bytes")
    return content
