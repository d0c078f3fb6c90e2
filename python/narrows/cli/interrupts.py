"""Handles the signals that end a command while it runs, and the end of the process after them."""

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

from narrows.cli.status import interrupted_by
from narrows.signals import ENDING


def leave_with(status: int) -> None:
    """Ends the process without further cleanup, and without a message on Ctrl-C.

    After a Ctrl-C a library's threads may still be at work, and a thread that enters the
    interpreter while it shuts down crashes the whole process.
    """
    # At its end Python leaves an ignored signal ignored, but would replace our handler by the
    # default, which kills.
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    gc.freeze()
    pool = sys.modules.get("narrows.execute.pool")
    if status in map(interrupted_by, ENDING) or (pool is not None and pool.is_stuck()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


@contextmanager
def noted_interrupts() -> Iterator[list[int]]:
    """Collects the signals, because interrupted code may turn one into another exception.

    A signal that is ignored, as under nohup, stays ignored.
    """
    interrupts: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    heard = [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]
    previous = {number: signal.signal(number, interrupt) for number in heard}
    hook = sys.unraisablehook
    sys.unraisablehook = partial(_unraisable, hook)
    try:
        yield interrupts
    finally:
        sys.unraisablehook = hook
        for number, handler in previous.items():
            signal.signal(number, handler)


def _unraisable(
    hook: Callable[[sys.UnraisableHookArgs], object], what: sys.UnraisableHookArgs
) -> None:
    """Repeats a Ctrl-C that came where Python can't raise it, as in an import's locks."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        again = (threading.main_thread().ident or 0, signal.SIGINT)
        threading.Timer(0.05, signal.pthread_kill, again).start()
    else:
        hook(what)
