"""Ctrl-C while a command runs, and the end of the process after it."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

from narrows.cli.status import INTERRUPTED


def leave_with(status: int) -> None:
    """Ends the process without further cleanup, and without a message on Ctrl-C.

    After a Ctrl-C a library's threads may still be at work, and a thread that enters the
    interpreter while it shuts down crashes the whole process.
    """
    # At its end Python leaves an ignored signal ignored, but would replace our handler by the
    # default, which kills.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    pool = sys.modules.get("narrows.execute.pool")
    if status == INTERRUPTED or (pool is not None and pool.is_stuck()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


@contextmanager
def noted_interrupts() -> Iterator[list[int]]:
    """Collects every Ctrl-C, because interrupted code may turn it into another exception."""
    interrupts: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    previous, hook = signal.signal(signal.SIGINT, interrupt), sys.unraisablehook
    sys.unraisablehook = partial(_unraisable, hook)
    try:
        yield interrupts
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, previous)


def _unraisable(
    hook: Callable[[sys.UnraisableHookArgs], object], what: sys.UnraisableHookArgs
) -> None:
    """Repeats a Ctrl-C that came where Python can't raise it, as in an import's locks."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        again = (threading.main_thread().ident or 0, signal.SIGINT)
        threading.Timer(0.05, signal.pthread_kill, again).start()
    else:
        hook(what)
