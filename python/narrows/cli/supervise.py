"""Watches a command that may run code of its user, and reports how that code ended it.

Code can end a process without an error: by `os._exit(0)`, `std::process::exit(0)` or an endless
recursion in Rust. The status would then claim that all went well, or nothing would name the code.
So such a command works in a child process, which reports it when it ends by itself.
"""

from __future__ import annotations

import ctypes
import os
import re
import select
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from narrows import user_code
from narrows.cli.status import BAD_INPUT, interrupted_by
from narrows.signals import ENDING
from narrows.words import printable

_GRACE_S = 0.1
"""Time in which a child notes a signal that was sent to the whole process group."""
_ENDED = b"\0"
"""The message of a child that ends by itself, after the names of controls, each on a line."""
_SENT_BY_KERNEL = 1
"""The lowest `si_code` of a signal that no process sent, such as a terminal's Ctrl-C."""
_CONTROL = re.compile(r":(?!//)|\.rs")
"""A word that may name a control, such as "mine:Mine", but isn't a URL."""
_PR_SET_PDEATHSIG = 1
_OUTSIDE = (*ENDING, signal.SIGKILL)
"""Signals that come from others than the code itself."""

_to_parent: int | None = None


def supervise(arguments: Sequence[str]) -> bool:
    """Continues a command that may run its user's code in a child; returns True if it does.

    It returns in the child. The parent passes signals on and ends as the child does. Call it before
    any thread starts.
    """
    if not _may_run_code(arguments) or not hasattr(signal, "sigwaitinfo"):
        return False
    words, noted = os.pipe(), os.pipe()
    parent = os.getpid()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*ENDING, signal.SIGCHLD))
    child = os.fork()
    if child:
        os.close(words[1])
        os.close(noted[1])
        _follow(child, words[0], noted[0])
    os.close(words[0])
    os.close(noted[0])
    _begin_child(parent, words[1], noted[1])
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return True


def note_end() -> None:
    """Tells the parent, if there is one, that this process ends by itself."""
    if _to_parent is not None:
        _write(_ENDED)


def _may_run_code(arguments: Sequence[str]) -> bool:
    """Returns True if a command line names code, or allows code that a specification names."""
    named = any(word.startswith("--allow-code") or _CONTROL.search(word) for word in arguments)
    file = user_code.configuration()
    return named or (file is not None and file.exists())


def _begin_child(parent: int, words: int, noted: int) -> None:
    global _to_parent
    _to_parent = words
    os.set_blocking(noted, False)
    signal.set_wakeup_fd(noted, warn_on_full_buffer=False)
    user_code.announce_to(lambda control: _write(f"{printable(control)}\n".encode()))
    with suppress(AttributeError, OSError):  # not on Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(interrupted_by(signal.SIGKILL))


def _write(content: bytes) -> None:
    with suppress(OSError):  # the parent was killed
        os.write(_to_parent or 0, content)


def _follow(child: int, words: int, noted: int) -> None:
    """Passes signals on to the child until it ends, then ends this process in the same way."""
    while True:
        info = signal.sigwaitinfo((*ENDING, signal.SIGCHLD))
        if info.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                _end_as(os.waitstatus_to_exitcode(status), _content_of(words))
        elif info.si_code < _SENT_BY_KERNEL and not _has_noted(noted, info.si_signo):
            with suppress(ProcessLookupError):
                os.kill(child, info.si_signo)


def _has_noted(noted: int, number: int) -> bool:
    """Returns True if the child has also had a signal since it was sent to the process group."""
    ready, _, _ = select.select([noted], [], [], _GRACE_S)
    return bool(ready) and number in os.read(noted, 4096)


def _content_of(words: int) -> bytes:
    """Returns the child's output; a process that it started may still hold the other end."""
    os.set_blocking(words, False)
    with suppress(BlockingIOError):
        return os.read(words, 65536)
    return b""


def _end_as(code: int, words: bytes) -> None:
    controls = list(dict.fromkeys(words.rstrip(_ENDED).decode(errors="replace").splitlines()))
    outside = -code in _OUTSIDE
    if not words.endswith(_ENDED) and controls and not outside:
        how = (
            f"by signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"with status {code}"
        )
        found = f"code that ended narrows {how}"
        remedy = "code that returns, or raises an exception,"
        print(
            f"narrows: error: {', '.join(controls)}: found {found}; {remedy} would be right",
            file=sys.stderr,
            flush=True,
        )
        os._exit(BAD_INPUT)
    if code < 0:
        with suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else interrupted_by(-code))
