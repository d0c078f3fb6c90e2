"""Runs jobs on all cores of this machine, and keeps each as soon as it is done."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from narrows.errors import InterruptedRunError
from narrows.execute.cache import Cache, Shared
from narrows.execute.job import Job, width
from narrows.execute.processes import (
    LostProcessError,
    Peer,
    can_move,
    has_own_code,
    loss_of,
    most_that_fit,
    worth,
)
from narrows.execute.steps import Steps
from narrows.execute.tally import Done, Tally
from narrows.execute.waiting import Waiting
from narrows.execute.watcher import TICK_S, Watcher
from narrows.execute.worker import BUSY, Setup

_GRACE_S = 1.0
"""User code that doesn't stop within this time is interrupted."""
_INSISTENCE = 10
"""How often it is interrupted before we give up."""
THREAD = "run-"
"""The beginning of the names of threads that may never end."""


class Pool:
    """Threads that take one job after another; the native module lets them run in parallel.

    Where Python's own part of the jobs is large, each thread has a process do them
    (`narrows.execute.processes`).

    `jobs` are done at once, by default as many as there are cores. Jobs of back ends that need the
    machine for themselves come last, one at a time.
    """

    def __init__(self, wanted: Iterable[Job], cache: Cache, jobs: int | None = None) -> None:
        self._cache, self._jobs = cache, jobs
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._broken: BaseException | None = None
        self._began_at = time.time()
        self._tally = Tally(wanted, cache.present())
        self._steps = Steps(cache, self._tally, self._stop, self._began_at)
        self._waiting = Waiting(self._stop)

    def run(self, watcher: Watcher | None = None) -> Done:
        """Does the missing runs; returns when all are done.

        Every finished run is kept, whatever stops the pool. Raises errors that end everything:
        those of the cache and of the `watcher`, and OSError if a run can't be kept.
        """
        try:
            for jobs, workers in self._batches():
                self._waiting.extend(jobs)
                self._work(jobs, min(workers, len(jobs)), watcher)
        finally:
            self._cache.finish()
        return self._tally.outcome()

    def _batches(self) -> Iterator[tuple[Sequence[Job], int]]:
        """Jobs that may run side by side, and how many at once."""
        together: list[Job] = []
        alone: list[Job] = []
        for job in self._tally.waiting:
            parallel = job.backend.capabilities().parallel
            (together if parallel else alone).append(job)
        for jobs in (together, alone):
            if jobs:
                yield jobs, width(jobs[0].backend, self._jobs)

    def _work(self, jobs: Sequence[Job], workers: int, watcher: Watcher | None) -> None:
        own_code = any(has_own_code(job) for job in jobs)
        work: Callable[[], None] = self._in_this_process
        shared = self._cache.shared()
        if shared is not None and own_code and can_move(jobs):
            workers = most_that_fit(jobs, workers)
            # Runs are on the disk before they are counted, as a process may end at any time.
            shared = replace(shared, together=False)
            own_code, work = False, partial(self._in_processes, shared, workers)
        elif shared is not None and worth(jobs, workers):
            work = partial(self._in_processes, shared, workers)
        threads = [
            # A thread that runs user code may never end; the program doesn't wait for it.
            _Thread(target=self._guarded, args=[work], name=f"{THREAD}{number}", daemon=own_code)
            for number in range(workers)
        ]
        try:
            for thread in threads:
                thread.start()
            going = True
            while going:  # watchers are notified of the end, however short the work
                _await(threads)
                going = not all(thread.ended.is_set() for thread in threads)
                if watcher is not None:
                    watcher(self._tally.state())
        finally:
            self._stop.set()
            _end(threads)
        if self._broken is not None:
            raise self._broken
        self._stop.clear()

    def _guarded(self, work: Callable[[], None]) -> None:
        """A thread's work; an error of one ends the work of all."""
        try:
            work()
        except InterruptedRunError as error:
            if not self._stop.is_set():  # raised by a back end itself, not an answer to ours
                self._give_up(error)
        except BaseException as error:
            self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        with self._lock:
            self._broken = self._broken or error
        self._stop.set()

    def _in_this_process(self) -> None:
        """Does jobs as long as there are any."""
        while (job := self._waiting.next()) is not None:
            if not self._steps.one(job):
                self._waiting.later(job)

    def _in_processes(self, shared: Shared, workers: int) -> None:
        """Has a process do jobs as long as there are any; another one if own code ends it.

        Jobs that a process left are tried one at a time, so that the guilty one is known.
        """
        setup, most = Setup(shared, self._began_at), None
        while jobs := self._waiting.several(workers, most):
            try:
                self._in_a_process(setup, workers, jobs, most)
            except LostProcessError as lost:
                if shared.together or not lost.is_own:
                    raise
                self._blame(list(jobs.values()), lost)
                most = 1

    def _in_a_process(
        self, setup: Setup, workers: int, jobs: dict[str, Job], most: int | None
    ) -> None:
        """Has a process do `jobs`, then others, and counts them; `jobs` are those left."""
        with Peer(setup, self._stop) as peer:
            while jobs:
                for name, key, more in peer.do(dict(jobs)):
                    if name == "note":
                        self._tally.note(jobs[key], *more)
                    elif name == BUSY:
                        self._waiting.later(jobs.pop(key))
                    else:
                        getattr(self._tally, name)(jobs.pop(key), *more)
                jobs.update(self._waiting.several(workers, most))
            peer.finish()

    def _blame(self, jobs: Sequence[Job], lost: LostProcessError) -> None:
        """Counts a job whose code ended a process as failed; of several, all wait again.

        Raises `lost` if the only one left has no code of a user.
        """
        self._cache.clean()
        if len(jobs) != 1:
            self._waiting.extend(jobs)
        elif has_own_code(jobs[0]):
            error = loss_of(jobs[0], lost)
            self._tally.failed(jobs[0], self._cache.fail(jobs[0], error))
        else:
            raise lost


class _Thread(threading.Thread):
    """A thread whose end can be awaited while signals arrive.

    A KeyboardInterrupt during `join` makes Python before 3.13 take a running thread for ended, and
    what it has to clean up would be left.
    """

    def __init__(
        self, *, target: Callable[..., None], args: Sequence[object], name: str, daemon: bool
    ) -> None:
        super().__init__(target=target, args=args, name=name, daemon=daemon)
        self.ended = threading.Event()

    def run(self) -> None:
        """Does the work, and tells of its end."""
        try:
            super().run()
        finally:
            self.ended.set()


def _await(threads: Sequence[_Thread]) -> None:
    """Waits for a tick, or less if a thread ends."""
    for thread in threads:
        if not thread.ended.is_set():
            thread.ended.wait(TICK_S)
            return


def _end(threads: Sequence[_Thread]) -> None:
    """Waits for threads that were told to stop; interrupts user code that doesn't."""
    threads = [thread for thread in threads if thread.ident is not None]  # it was started
    for thread in threads:
        thread.ended.wait(_GRACE_S if thread.daemon else None)
    for _ in range(_INSISTENCE):
        living = [thread for thread in threads if not thread.ended.is_set()]
        for thread in living:
            _interrupt(thread)
            thread.ended.wait(_GRACE_S / 2)


def _interrupt(thread: threading.Thread) -> None:
    """Raises KeyboardInterrupt in the Python code that a thread is running."""
    error = ctypes.py_object(KeyboardInterrupt)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), error)


def is_stuck() -> bool:
    """Whether user code is still running that nothing could stop."""
    threads = threading.enumerate()
    return any(thread.daemon and thread.name.startswith(THREAD) for thread in threads)
