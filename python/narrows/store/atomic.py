"""Atomic writes: directories that appear at once, and files that are never half written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from narrows.errors import StoreError
from narrows.signals import defer_signals
from narrows.store.owned import REPLACED, hidden_path, lock, owned_file

_AT_ONCE = 16
"""The number of files flushed at once."""


def publish(partial: Path, final: Path) -> None:
    """Gives the finished directory its name, replacing an older one.

    Ctrl-C is delayed until then. If the process ends in between, the old or the new directory
    remains, the old one perhaps under a hidden name until the next run beside it restores it
    (`narrows.store.owned`).
    """
    flush_all([partial, *(path for path in partial.rglob("*") if path.is_dir())])
    with defer_signals():
        if final.exists():
            _replace(partial, final)
        else:
            partial.rename(final)
        flush(final.parent)


def _replace(partial: Path, final: Path) -> None:
    """Replaces one directory by another; the old one stays locked until it is removed."""
    replaced = hidden_path(final, REPLACED)
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
    """Waits until the disk holds directories with the files in them.

    It waits for all at once: a journalling file system then writes its journal once for all of
    them, while waiting one after the other takes longer than a short run.
    """
    files = [file for place in directories for file in (*place.iterdir(), place)]
    if files:
        with ThreadPoolExecutor(min(len(files), _AT_ONCE)) as threads:
            list(threads.map(flush, files))


def write_text(path: Path, text: str, *, follow: bool = False) -> None:
    """Writes a file so that a reader sees the old one or the new one, never half of one.

    A link is replaced, unless `follow` is set.
    """
    with owned_file(path, follow=follow) as work:
        work.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def writing(
    place: str | Path, remedy: str = "a directory that can be written (--out DIR)"
) -> Iterator[None]:
    """Turns errors of the machine in the block into the error of a place to write."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError.at(str(error.filename or place), reason, remedy) from error
