"""All or nothing: directories that appear at once, and moments without Ctrl-C."""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds Ctrl-C back until the end of the block, then delivers it.

    Only the main thread receives signals; elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        pending.append(number)

    previous = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if pending:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def partial_directory(final: Path) -> Iterator[Path]:
    """An empty hidden directory next to `final`, removed at the end if it still stands."""
    partial = final.with_name(f".{final.name}.{secrets.token_hex(4)}.partial")
    try:
        partial.mkdir(parents=True)
        yield partial
    finally:
        with uninterrupted():
            shutil.rmtree(partial, ignore_errors=True)


def publish(partial: Path, final: Path) -> None:
    """Gives the finished directory its name, in place of an older one if there is one.

    Ctrl-C waits until it is done. A crash of the machine in between leaves the
    old directory, the new one, or (under its hidden name) both.
    """
    for file in partial.rglob("*"):
        if file.is_file():
            flush(file)
    with uninterrupted():
        replaced = final.with_name(f".{final.name}.{secrets.token_hex(4)}.replaced")
        if final.exists():
            final.rename(replaced)
        partial.rename(final)
        flush(final.parent)
        shutil.rmtree(replaced, ignore_errors=True)


def flush(path: Path) -> None:
    """Waits until the disk holds a file's content or a directory's names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    """Writes a file so that a reader sees the old one or the new one, never half of one."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
