"""The command's first step, after which signals end it quietly, even while libraries load.

Before it, only modules are imported that Python has already loaded, and nothing has started that
would need cleaning up.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` would load other modules first
import os
import sys

TYPE_CHECKING = False  # as in `typing`, which would load other modules, too
if TYPE_CHECKING:
    from types import FrameType


def main() -> int:
    """Runs the command line of this process; returns its exit status."""
    for number in (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP):
        if _signal.getsignal(number) != _signal.SIG_IGN:  # as under nohup
            _signal.signal(number, _leave)
    _open_what_is_closed()
    _replace_what_cannot_be_encoded()
    from narrows.cli import main as run

    return run()


def _open_what_is_closed() -> None:
    """Replaces closed standard input or outputs by empty ones.

    Otherwise the first file that the process opens would take their place.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115


def _replace_what_cannot_be_encoded() -> None:
    """Prints "?" for a character that the standard output's encoding lacks, instead of failing."""
    if sys.stdout.encoding.lower() != "utf-8":
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]  # no other class here


def _leave(number: int, _frame: FrameType | None) -> None:
    os.write(2, b"narrows: interrupted\n")
    os._exit(128 + number)
