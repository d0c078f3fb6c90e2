"""Writes the runs of a store to disk together: one wait for many short runs.

Waiting for the disk takes longer than a short run. A separate thread waits for everything written
meanwhile and a moment later, and then gives the runs their names. If the process is stopped, named
runs remain, and waiting ones are repeated.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from narrows.store.signals import uninterrupted

if TYPE_CHECKING:
    import polars as pl

    from narrows.plan import Trial
    from narrows.store.records import RunResult
    from narrows.store.runs import RunStore

MOMENT_S = 0.1
"""A run waits this long for others, so that many short ones share a wait for the disk..."""
MANY = 64
"""...unless this many are waiting."""
MOST = 256
"""The most runs that may wait; beyond that, `add` blocks."""


@dataclass
class _Waiting:
    """What to do once a run has its name, and what to do in any case."""

    kept: Callable[[], None]
    anyway: list[Callable[[], None]] = field(default_factory=list)


class Batch:
    """Adds runs to a store from several threads."""

    def __init__(self, store: RunStore) -> None:
        self._store, self._stack = store, ExitStack()
        self._room = self._stack.enter_context(store.workshop())
        self._changed = threading.Condition()
        self._waiting: dict[str, _Waiting] = {}
        self._closed = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="narrows-disk", daemon=True)
        self._thread.start()

    def add(
        self,
        trial: Trial,
        result: RunResult,
        tables: Mapping[str, pl.DataFrame],
        kept: Callable[[dict[str, Any]], None],
    ) -> None:
        """Writes a run; `kept` gets its `run.json` once it has its name.

        Raises OSError if a run before it couldn't be kept.
        """
        record = self._store.prepare(self._room, trial, result, tables)
        with self._changed:
            self._changed.wait_for(lambda: len(self._waiting) < MOST or self._error)
            self._raise()
            self._waiting[trial.hash] = _Waiting(partial(kept, record))
            self._changed.notify_all()

    def after(self, key: str, call: Callable[[], None]) -> None:
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
        with uninterrupted():
            with self._changed:
                self._closed = True
                self._changed.notify_all()
            self._thread.join()
            self._stack.close()
        self._raise()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _work(self) -> None:
        try:
            while keys := self._next():
                self._store.commit(self._room, keys)
                self._finish(keys, True)
        except BaseException as error:
            self._error = error
            self._finish(list(self._waiting), False)

    def _next(self) -> list[str]:
        """The waiting runs, shortly after the first; none once all is done."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            self._changed.wait_for(lambda: self._closed or len(self._waiting) >= MANY, MOMENT_S)
            return list(self._waiting)

    def _finish(self, keys: list[str], named: bool) -> None:
        with self._changed:
            done = [self._waiting.pop(key) for key in keys]
            self._changed.notify_all()
        for waiting in done:
            if named:
                waiting.kept()
            for call in waiting.anyway:
                call()
