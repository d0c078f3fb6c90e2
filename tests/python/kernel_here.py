"""Whether this machine can run scenarios on its own kernel in real time."""

from __future__ import annotations

from functools import cache

from narrows.backends import get_backend
from narrows.errors import InputError
from narrows.store import RunResult


@cache
def kernel_missing() -> str:
    """What is missing, in a sentence; empty if nothing is."""
    try:
        get_backend("kernel")
    except InputError as error:
        return str(error)
    return ""


def on_time(result: RunResult) -> bool:
    """Whether the machine kept up with a run; how fast it was says nothing if it didn't."""
    return result.info.invalid is None
