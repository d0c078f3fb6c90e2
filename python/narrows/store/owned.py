"""Files and directories that a process owns while it works on them.

A file or directory that must appear complete or not at all is first written under a hidden name,
`.NAME.HOST-TOKEN.partial`, and its owner holds a lock (`flock`) on it. The operating system frees
that lock however the owner ends, even by kill -9, and no later process can be mistaken for the
owner, whatever its process id is. So anything unlocked is a leftover, and the next process in the
same directory removes it.

A lock may not reach another machine (NFS, Lustre), so leftovers of another host are removed only
once they are old.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

from narrows.signals import defer_signals

PARTIAL, REPLACED = "partial", "replaced"
"""The suffixes of a file being written, and of a directory that a finished one is replacing."""
OLD_S = 30 * 86_400.0
"""Files of another host that are unchanged for this long are abandoned."""
_MARK = r"(?P<host>[0-9a-f]{8})-[0-9a-f]{8}"
_NAME = re.compile(rf"\.(?P<name>.+)\.{_MARK}\.({PARTIAL}|{REPLACED})")
_LONGEST = 225
"""The longest name, so that the hidden name still fits into 255 bytes."""


def hidden_path(final: Path, suffix: str = PARTIAL) -> Path:
    """Returns a unique hidden name beside `final` for this process's work."""
    name = final.name.encode()[:_LONGEST].decode(errors="ignore")
    return final.with_name(f".{name}.{host_mark()}-{secrets.token_hex(4)}.{suffix}")


@contextmanager
def owned_directory(final: Path, mode: int = 0o777) -> Iterator[Path]:
    """Yields an empty hidden directory beside `final`, removed at the end if it still exists.

    Leftovers of killed processes beside it are removed first. Ctrl-C is delayed until the end is
    done.
    """
    final.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(final.parent)
    with _ours(final, mode) as work:
        yield work


@contextmanager
def private_directory(folder: Path) -> Iterator[Path]:
    """Yields an empty working directory in `folder`, removed at the end."""
    with _ours(folder / "work") as work:
        yield work


@contextmanager
def _ours(final: Path, mode: int = 0o777) -> Iterator[Path]:
    made: list[tuple[Path, int]] = []
    try:
        with defer_signals():  # otherwise there could be one that nobody knows about
            made.append(make_directory(final, mode))
        yield made[0][0]
    finally:
        with defer_signals():
            for work, descriptor in made:
                shutil.rmtree(work, ignore_errors=True)
                os.close(descriptor)


@contextmanager
def owned_file(final: Path, *, follow: bool = False) -> Iterator[Path]:
    """Yields a hidden file beside `final`, which takes its name at the end of the block.

    If the block raises, the file is removed and `final` doesn't change. A link is replaced, since
    in a result from somebody else it may lead anywhere; with `follow`, for a path that a person
    gave, its target is replaced. Raises OSError if `final` isn't a regular file, since a device
    such as `/dev/null` would be replaced.
    """
    _check_replaceable(final)
    if follow and final.is_symlink():
        final = final.resolve()
    remove_abandoned(final.parent)
    work = hidden_path(final)
    opened: list[int] = []
    try:
        with defer_signals():
            opened.append(_create(work, final))
        lock(opened[0])
        yield work
        work.replace(final)
    finally:
        with defer_signals():
            work.unlink(missing_ok=True)
            for descriptor in opened:
                os.close(descriptor)


def _check_replaceable(final: Path) -> None:
    try:
        regular = stat.S_ISREG(final.stat().st_mode)
    except FileNotFoundError:
        regular = True
    if not regular:
        raise OSError(errno.EINVAL, "something other than a regular file", str(final))


def _create(work: Path, final: Path) -> int:
    try:
        return os.open(work, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(final)) from None


def remove_abandoned(folder: Path, remove: bool = True) -> list[Path]:
    """Removes the leftovers of killed processes in `folder`; returns them.

    A complete directory that was about to be replaced gets its name back, unless the name is taken
    by now.
    """
    gone = []
    for path in _entries(folder):
        match = _NAME.fullmatch(path.name)
        if match is None:
            continue
        with _hold_abandoned(path, match["host"]) as abandoned:
            if not abandoned:
                continue
            gone.append(path)
            if remove and not (path.name.endswith(REPLACED) and _put_back(path, match["name"])):
                _remove(path)
    return gone


def _entries(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if entry.name.startswith("."))
    except OSError:
        return []


@contextmanager
def _hold_abandoned(path: Path, host: str) -> Iterator[bool]:
    """Yields True if `path` is abandoned; holds its lock, so only one process removes it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:  # gone meanwhile, or somebody else's
        yield False
        return
    try:
        ours = host == host_mark() or time.time() - os.fstat(descriptor).st_mtime > OLD_S
        yield ours and lock(descriptor) is True and is_at(descriptor, path)
    finally:
        os.close(descriptor)


def make_directory(final: Path, mode: int = 0o777) -> tuple[Path, int]:
    """Makes a hidden directory that we own as long as the returned descriptor is open."""
    while True:
        work = hidden_path(final)
        work.mkdir(mode)
        with suppress(FileNotFoundError):  # taken for abandoned before it was locked
            descriptor = os.open(work, os.O_RDONLY)
            if lock(descriptor) is not False and is_at(descriptor, work):
                return work, descriptor
            os.close(descriptor)


def lock(descriptor: int) -> bool | None:
    """Takes the lock of an open file; False if another process has it, None without locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def is_at(descriptor: int, path: Path) -> bool:
    """Returns True if an open file or directory still has its name."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)


def _put_back(path: Path, name: str) -> bool:
    final = path.with_name(name)
    if final.exists():
        return False
    with suppress(OSError):
        path.rename(final)
        return True
    return False


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@cache
def host_mark() -> str:
    """Returns an identifier of this machine, in eight hexadecimal digits."""
    return blake2b(socket.gethostname().encode(), digest_size=4).hexdigest()
