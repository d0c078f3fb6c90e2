"""Runs on all cores, each stored as soon as it is done."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from narrows.backends import Backend
from narrows.errors import InterruptedRunError
from narrows.plan import Cell, Trial
from narrows.store import Store
from narrows.store.index import Frames, together
from narrows.sweeps.estimate import load
from narrows.sweeps.work import compute

TICK_S = 0.1
"""How often a watcher hears of the progress, in seconds."""
_LATER_S = 0.3
"""A run that another process computes is looked at again after this time."""

_AT_ONCE = 1000
"""Runs that become a part of the index together."""

Run = tuple[Cell, Trial]


@dataclass(frozen=True)
class State:
    """How far a sweep is: `done` and `failed` of `total` runs; `part` of the work, 0 to 1."""

    done: int
    failed: int
    total: int
    packets: int
    part: float


class Watcher(Protocol):
    """Is told about ten times a second how far a sweep is; may raise to stop it."""

    def __call__(self, state: State, /) -> None:
        """The state of now."""


@dataclass(frozen=True)
class Failure:
    """A run that failed, and why."""

    cell: Cell
    trial: Trial
    error: str


@dataclass(frozen=True)
class Outcome:
    """What was done: `new` runs, those `stored` before or by another process, failures."""

    new: int
    stored: int
    failures: tuple[Failure, ...]
    packets: int
    wall_s: float


@dataclass
class _Waiting:
    """A run that is to be done, not before a moment of the monotonic clock."""

    cell: Cell
    trial: Trial
    not_before: float = 0.0


@dataclass
class _Tally:
    """What happened so far; changed under a lock."""

    new: int = 0
    stored: int = 0
    packets: int = 0
    work: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    going: dict[str, tuple[float, int]] = field(default_factory=dict)


class Pool:
    """Threads that take one run after the other; the native module lets them run at once."""

    def __init__(self, wanted: Sequence[Run], backend: Backend, store: Store, workers: int) -> None:
        self._backend, self._store = backend, store
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._broken: BaseException | None = None
        self._began, self._began_at = time.monotonic(), time.time()
        runs = {trial.hash: (cell, trial) for cell, trial in reversed(wanted)}
        present = store.keys()
        waiting = [_Waiting(*run) for key, run in reversed(runs.items()) if key not in present]
        # The longest first, so that no core ends up with one while the others rest.
        waiting.sort(key=lambda item: -load(item.trial))
        self._waiting = deque(waiting)
        self._total, self._work = len(runs), sum(load(item.trial) for item in waiting)
        self._entries: list[Frames] = []
        self._tally = _Tally(stored=len(runs) - len(waiting))
        self._workers = min(workers, len(waiting))

    def run(self, watcher: Watcher | None) -> Outcome:
        """Runs what isn't stored yet; returns when all is done.

        A run that fails is recorded and doesn't stop the others. Whatever stops
        the pool, every finished run stays. Raises OSError if the store can't be
        written.
        """
        threads = [
            threading.Thread(target=self._take, name=f"run-{number}")
            for number in range(self._workers)
        ]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                self._await(threads)
                if watcher is not None:
                    watcher(self._state())
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
            self._note_entry()
        if self._broken is not None:
            raise self._broken
        return self._outcome()

    def _await(self, threads: list[threading.Thread]) -> None:
        """Lets a tick pass, or less if a thread ends."""
        for thread in threads:
            if thread.is_alive():
                thread.join(TICK_S)
                return

    def _state(self) -> State:
        with self._lock:
            tally = self._tally
            done, failed = tally.new + tally.stored, len(tally.failures)
            work = tally.work + sum(work for work, _ in tally.going.values())
            packets = tally.packets + sum(packets for _, packets in tally.going.values())
        part = work / self._work if self._work else 1.0
        return State(done, failed, self._total, packets, part)

    def _outcome(self) -> Outcome:
        tally = self._tally
        failures = sorted(tally.failures, key=lambda f: (f.cell.number, f.trial.number))
        wall_s = time.monotonic() - self._began
        return Outcome(tally.new, tally.stored, tuple(failures), tally.packets, wall_s)

    def _take(self) -> None:
        """A thread's work: runs, as long as there are any."""
        try:
            while not self._stop.is_set():
                with self._lock:
                    item = self._waiting.popleft() if self._waiting else None
                if item is None:
                    return
                self._stop.wait(max(0.0, item.not_before - time.monotonic()))
                self._one(item)
        except InterruptedRunError:
            return
        except BaseException as error:
            self._broken = self._broken or error
            self._stop.set()

    def _one(self, item: _Waiting) -> None:
        """Computes a run, unless it is there by now or another process is at it."""
        key = item.trial.hash
        with self._store.claim(key) as ours:
            if not ours:
                item.not_before = time.monotonic() + _LATER_S
                with self._lock:
                    self._waiting.append(item)
            elif key in self._store:
                self._count(item, stored=1)
            elif (error := self._store.failure_since(key, self._began_at)) is not None:
                self._count(item, failure=Failure(item.cell, item.trial, error))
            else:
                self._compute(item)

    def _compute(self, item: _Waiting) -> None:
        """Runs and stores one trial; only what can't be stored ends the whole sweep."""
        cell, trial = item.cell, item.trial
        duration_ns = trial.scenario["run"]["duration_ns"]

        def note(sim_s: float, packets: int) -> None:
            if self._stop.is_set():
                raise InterruptedRunError("stopped")
            part = sim_s * 1e9 / duration_ns
            with self._lock:
                self._tally.going[trial.hash] = (part * load(trial), packets)

        done = compute(self._store, self._backend, trial, cell.plan.groups, str(cell), note)
        if done.error is not None:
            self._count(item, failure=Failure(cell, trial, done.error))
        else:
            self._note_entry(done.entry)
            self._count(item, new=1, packets=done.packets)

    def _note_entry(self, made: Frames | None = None) -> None:
        """Puts what was done into the store's index, many runs at a time."""
        with self._lock:
            if made is not None:
                self._entries.append(made)
            if not self._entries or (made is not None and len(self._entries) < _AT_ONCE):
                return
            entries, self._entries = self._entries, []
        self._store.add_part(together(entries))

    def _count(
        self,
        item: _Waiting,
        *,
        new: int = 0,
        stored: int = 0,
        packets: int = 0,
        failure: Failure | None = None,
    ) -> None:
        with self._lock:
            tally = self._tally
            tally.going.pop(item.trial.hash, None)
            tally.new += new
            tally.stored += stored
            tally.packets += packets
            tally.work += load(item.trial)
            if failure is not None:
                tally.failures.append(failure)
