"""Delays the signals that end a command."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals of Ctrl-C, of `timeout` and batch systems, and of a closed terminal."""


@contextmanager
def defer_signals() -> Iterator[None]:
    """Holds the ending signals back until the end of the block, then delivers them.

    Only the main thread receives signals; elsewhere this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        pending.append(number)

    previous = {number: signal.signal(number, note) for number in ENDING}
    try:
        yield
    finally:
        for ending, handler in previous.items():
            signal.signal(ending, handler)
        for number in dict.fromkeys(pending):
            signal.raise_signal(number)
