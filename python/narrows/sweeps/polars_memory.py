"""Loads polars for the process of a sweep that plans, merges parts and writes the page."""

from __future__ import annotations

import os
import sys

_ALLOCATOR = "_RJEM_MALLOC_CONF"
"""The variable that configures polars' allocator (jemalloc), which reads it once."""


def load_polars() -> None:
    """Loads polars, which from then on returns freed memory to the system at once.

    By default it keeps it for 1.5 s, in which the page of a sweep reads many tables one after the
    other. The variable is restored, as the processes that do the runs read few.
    """
    if "polars" in sys.modules:
        return
    before = os.environ.get(_ALLOCATOR)
    os.environ[_ALLOCATOR] = "dirty_decay_ms:0,muzzy_decay_ms:0"
    try:
        import polars  # noqa: F401 (loads it)
    finally:
        del os.environ[_ALLOCATOR]
        if before is not None:
            os.environ[_ALLOCATOR] = before
