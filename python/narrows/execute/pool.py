"""Runs jobs on all cores of this machine, and stores each result as soon as its run ends."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from narrows.errors import InterruptedRunError
from narrows.execute.cache import Cache, SharedStore
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
from narrows.execute.steps import JobSteps
from narrows.execute.tally import BatchOutcome, Tally
from narrows.execute.waiting import JobQueue
from narrows.execute.watcher import TICK_S, Watcher
from narrows.execute.worker import BUSY, Setup

_GRACE_S = 1.0
"""User code that doesn't stop within this time is interrupted."""
_MAX_INTERRUPTS = 10
"""How often it is interrupted before we give up."""
THREAD = "run-"
"""The prefix of the names of the worker threads."""


class Pool:
    """Threads that take one job after another; the native module lets them run in parallel.

    If jobs spend much of their time in Python, each thread hands them to its own process
    (`narrows.execute.processes`).

    Up to `jobs` run in parallel, by default one for each core. Jobs of back ends that need the
    machine for themselves come last, one at a time.
    """

    def __init__(self, wanted: Iterable[Job], cache: Cache, jobs: int | None = None) -> None:
        self._cache, self._jobs = cache, jobs
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._broken: BaseException | None = None
        self._began_at = time.time()
        self._tally = Tally(wanted, cache.present())
        self._steps = JobSteps(cache, self._tally, self._stop, self._began_at)
        self._waiting = JobQueue(self._stop)

    def run(self, watcher: Watcher | None = None) -> BatchOutcome:
        """Does the missing runs; returns when all are done.

        Every finished run is kept, whatever stops the pool. Raises the errors of the cache and of
        the `watcher`, and OSError if a run can't be stored.
        """
        try:
            for jobs, workers in self._batches():
                self._waiting.extend(jobs)
                self._work(jobs, min(workers, len(jobs)), watcher)
        finally:
            self._cache.finish()
        return self._tally.outcome()

    def _batches(self) -> Iterator[tuple[Sequence[Job], int]]:
        """Yields jobs that may run side by side, with the number of workers."""
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
        shared = self._cache.handle()
        if shared is not None and own_code and can_move(jobs):
            workers = most_that_fit(jobs, workers)
            # Runs are on the disk before they are counted, as a process may end at any time.
            shared = replace(shared, together=False)
            own_code, work = False, partial(self._in_processes, shared, workers)
        elif shared is not None and worth(jobs, workers):
            work = partial(self._in_processes, shared, workers)
        threads = [
            # A thread that runs user code may never end; the program doesn't wait for it.
            _Thread(
                target=self._run_guarded, args=[work], name=f"{THREAD}{number}", daemon=own_code
            )
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

    def _run_guarded(self, work: Callable[[], None]) -> None:
        """Does a thread's work; an error in one thread stops all."""
        try:
            work()
        except InterruptedRunError as error:
            if not self._stop.is_set():  # a back end raised it although nobody stopped it
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

    def _in_processes(self, shared: SharedStore, workers: int) -> None:
        """Lets a process do jobs as long as there are any; starts another if user code ends it.

        Jobs that such a process leaves are tried one at a time, to find the one that ended it.
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
        """Lets a process do `jobs`, then others; counts done ones and removes them from `jobs`."""
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
        """Counts the job that ended a process as failed; if there are several, all wait again.

        Raises `lost` if the only job runs no user code.
        """
        self._cache.clean()
        if len(jobs) != 1:
            self._waiting.extend(jobs)
        elif has_own_code(jobs[0]):
            error = loss_of(jobs[0], lost)
            self._tally.count_failed(jobs[0], self._cache.fail(jobs[0], error))
        else:
            raise lost


class _Thread(threading.Thread):
    """A thread whose end can be awaited while signals arrive.

    Before Python 3.13, a KeyboardInterrupt during `join` marks a running thread as ended, and
    nobody would wait for its cleanup.
    """

    def __init__(
        self, *, target: Callable[..., None], args: Sequence[object], name: str, daemon: bool
    ) -> None:
        super().__init__(target=target, args=args, name=name, daemon=daemon)
        self.ended = threading.Event()

    def run(self) -> None:
        """Does the work, then sets `ended`."""
        try:
            super().run()
        finally:
            self.ended.set()


def _await(threads: Sequence[_Thread]) -> None:
    """Waits for a tick, or until the first thread that is running ends."""
    for thread in threads:
        if not thread.ended.is_set():
            thread.ended.wait(TICK_S)
            return


def _end(threads: Sequence[_Thread]) -> None:
    """Waits for threads that have to stop; interrupts user code that doesn't."""
    threads = [thread for thread in threads if thread.ident is not None]  # started ones
    for thread in threads:
        thread.ended.wait(_GRACE_S if thread.daemon else None)
    for _ in range(_MAX_INTERRUPTS):
        living = [thread for thread in threads if not thread.ended.is_set()]
        for thread in living:
            _interrupt(thread)
            thread.ended.wait(_GRACE_S / 2)


def _interrupt(thread: threading.Thread) -> None:
    """Raises KeyboardInterrupt in the Python code that a thread is running."""
    error = ctypes.py_object(KeyboardInterrupt)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), error)


def is_stuck() -> bool:
    """Returns True if user code that nothing could stop is still running."""
    threads = threading.enumerate()
    return any(thread.daemon and thread.name.startswith(THREAD) for thread in threads)
