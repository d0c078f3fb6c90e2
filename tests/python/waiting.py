"""Waiting for events, on machines of any speed and any load."""

from __future__ import annotations

import time
from collections.abc import Callable

# Longer than anything takes that isn't stuck, on a machine with a load of 100.
HANG_S = 900.0


def await_that(holds: Callable[[], object], what: str = "") -> None:
    """Returns as soon as `holds()` is true; fails when it never will be."""
    ends = time.monotonic() + HANG_S
    while not holds():
        assert time.monotonic() < ends, what or "waited in vain"
        time.sleep(0.01)
