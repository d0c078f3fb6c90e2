"""Gathers the runs of a store into parts: one wait for the disk for many short runs.

A separate thread closes a part every few seconds, or when it is large. If the process is killed,
the runs of closed parts remain, and the waiting ones are repeated.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from narrows.signals import defer_signals
from narrows.store.parts import FinishedRun
from narrows.store.runs import Store

MOMENT_S = 2.0
"""The longest time that a run waits for others."""
MANY = 200
"""With this many runs, none waits longer: each holds its lock, and so an open file."""
BYTES = 32 << 20
"""With tables of this size in memory, no run waits longer."""
MOST = 2 * MANY
"""The most runs that may wait; beyond that, `add` blocks."""
PARTS = 48
"""More small parts than this are merged during a sweep."""


@dataclass
class _Waiting:
    """A waiting run, its size, since when it waits, and what to do when it no longer waits."""

    entry: FinishedRun
    bytes: int
    since: float
    anyway: list[Callable[[], None]] = field(default_factory=list)


class Batch:
    """Adds runs to a store from several threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changed = threading.Condition()
        self._waiting: dict[str, _Waiting] = {}
        self._bytes = 0
        self._closed = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="narrows-disk", daemon=True)
        self._thread.start()

    def add(self, entry: FinishedRun) -> None:
        """Adds a run to the next part; raises OSError if an earlier one couldn't be kept."""
        size = BYTES if entry.spilled_tables() else entry.bytes
        with self._changed:
            self._changed.wait_for(lambda: self._has_room() or self._error)
            self._raise()
            self._waiting[entry.key] = _Waiting(entry, size, time.monotonic())
            self._bytes += size
            if len(self._waiting) == 1 or self._is_full():  # otherwise the thread needn't wake up
                self._changed.notify_all()

    def call_when_done(self, key: str, call: Callable[[], None]) -> None:
        """Calls a function when a run no longer waits, immediately if it doesn't."""
        with self._changed:
            waiting = self._waiting.get(key)
            if waiting is not None:
                waiting.anyway.append(call)
                return
        call()

    def close(self) -> None:
        """Waits until all runs have their names; raises OSError if that fails.

        A signal that ends the command waits as well, so that nothing is left behind.
        """
        with defer_signals():
            with self._changed:
                self._closed = True
                self._changed.notify_all()
            self._thread.join()
        self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        try:
            while keys := self._next():
                self._store.add_part([self._waiting[key].entry for key in keys])
                self._finish(keys)
                self._store.merge(PARTS)
        except BaseException as error:
            self._error = error
            self._finish(list(self._waiting))

    def _next(self) -> list[str]:
        """Returns the runs of the next part; None once all is done."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            while self._waiting and not (self._closed or self._is_full()):
                first = min(waiting.since for waiting in self._waiting.values())
                left = first + MOMENT_S - time.monotonic()
                if left <= 0:
                    break
                self._changed.wait(left)
            return list(self._waiting)

    def _is_full(self) -> bool:
        return len(self._waiting) >= MANY or self._bytes >= BYTES

    def _has_room(self) -> bool:
        return len(self._waiting) < MOST and self._bytes < 2 * BYTES

    def _finish(self, keys: list[str]) -> None:
        with self._changed:
            done = [self._waiting.pop(key) for key in keys]
            self._bytes -= sum(waiting.bytes for waiting in done)
            self._changed.notify_all()
        for waiting in done:
            for call in waiting.anyway:
                call()
