"""The command's first step: from here on Ctrl-C ends it in a word, also while libraries load.

Only what every Python has loaded already is imported before that. Nothing has begun
that would need an orderly end.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` would load other modules first
import os

TYPE_CHECKING = False  # as in typing, which would load others, too
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130


def main() -> int:
    """Runs the command line of this process; gives its exit status."""
    _signal.signal(_signal.SIGINT, _leave)
    from narrows.cli import main as run

    return run()


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, b"narrows: interrupted\n")
    os._exit(INTERRUPTED)
