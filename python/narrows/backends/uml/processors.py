"""Gives each guest a processor.

A guest's kernel and programs run in turns (ptrace(2)), so a second processor is of no use to them.
On two, each turn wakes the other one, which takes longer than most turns: runs on an idle machine
took 2 to 6 times as long.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from narrows.cached import cache_directory
from narrows.store.locks import claim


@contextmanager
def own_processor() -> Iterator[int | None]:
    """Yields a processor that no other guest has until the end of the block.

    It is None if all are taken, or locks can't be kept in the cache.
    """
    with ExitStack() as held:
        yield _take(held)


def _take(held: ExitStack) -> int | None:
    folder = cache_directory() / "processors"
    with suppress(OSError):  # the cache may be another user's
        folder.mkdir(parents=True, exist_ok=True)
        # The first processor often has most of the interrupts.
        for processor in sorted(os.sched_getaffinity(0), reverse=True):
            if held.enter_context(claim(folder / str(processor), remove=False)):
                return processor
    return None


@contextmanager
def starting_on(processor: int | None) -> Iterator[None]:
    """Keeps the processes that this thread starts, and theirs, on a processor; None on any.

    They inherit it. Moved after its start, a guest may have started others already.
    """
    before = os.sched_getaffinity(0)
    if processor is not None:
        with suppress(OSError):  # a container may forbid it, or have lost the processor
            os.sched_setaffinity(0, {processor})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
