"""Runs jobs on all cores of this machine, and keeps each as soon as it is done."""

from __future__ import annotations

import ctypes
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from narrows.errors import InterruptedRunError
from narrows.execute.cache import Cache
from narrows.execute.job import Job, width
from narrows.execute.tally import Done, Tally
from narrows.execute.watcher import TICK_S, Watcher

LATER_S = 0.3
"""Time between looks at a run that another process is doing."""
_GRACE_S = 1.0
"""User code that doesn't stop within this time is interrupted."""
_INSISTENCE = 10
"""How often it is interrupted before we give up."""


_THREAD = "run-"


@dataclass
class _Waiting:
    """A job to do, not before a time of the monotonic clock."""

    job: Job
    not_before: float = 0.0


class Pool:
    """Threads that take one job after another; the native module lets them run in parallel.

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
        self._waiting: deque[_Waiting] = deque()

    def run(self, watcher: Watcher | None = None) -> Done:
        """Does the missing runs; returns when all are done.

        Every finished run is kept, whatever stops the pool. Raises errors that end everything:
        those of the cache and of the `watcher`, and OSError if a run can't be kept.
        """
        try:
            for jobs, workers in self._batches():
                self._waiting.extend(_Waiting(job) for job in jobs)
                self._work(min(workers, len(jobs)), watcher)
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

    def _work(self, workers: int, watcher: Watcher | None) -> None:
        own_code = any("controls" in item.job.trial.scenario for item in self._waiting)
        threads = [
            # A thread that runs user code may never end; the program doesn't wait for it.
            threading.Thread(target=self._take, name=f"{_THREAD}{number}", daemon=own_code)
            for number in range(workers)
        ]
        try:
            for thread in threads:
                thread.start()
            going = True
            while going:  # watchers are notified of the end, however short the work
                _await(threads)
                going = any(thread.is_alive() for thread in threads)
                if watcher is not None:
                    watcher(self._tally.state())
        finally:
            self._stop.set()
            _end(threads)
        if self._broken is not None:
            raise self._broken
        self._stop.clear()

    def _take(self) -> None:
        """A thread's work: does jobs as long as there are any."""
        try:
            while not self._stop.is_set():
                with self._lock:
                    item = self._waiting.popleft() if self._waiting else None
                if item is None:
                    return
                self._stop.wait(max(0.0, item.not_before - time.monotonic()))
                self._one(item)
        except InterruptedRunError as error:
            if not self._stop.is_set():  # raised by a back end itself, not an answer to ours
                self._give_up(error)
        except BaseException as error:
            self._give_up(error)

    def _give_up(self, error: BaseException) -> None:
        """Ends the work of all threads because of an error of one."""
        with self._lock:
            self._broken = self._broken or error
        self._stop.set()

    def _one(self, item: _Waiting) -> None:
        """Does a job, unless it is done by now or another process is doing it."""
        job, cache = item.job, self._cache
        with cache.claim(job.key) as ours:
            if not ours:
                item.not_before = time.monotonic() + LATER_S
                with self._lock:
                    self._waiting.append(item)
            elif cache.has(job.key):
                self._tally.stored(job)
            elif (error := cache.failure_since(job.key, self._began_at)) is not None:
                self._tally.failed(job, error)
            else:
                self._do(job)

    def _do(self, job: Job) -> None:
        """Does a job and keeps it."""

        def note(sim_s: float, packets: int) -> None:
            self._check()
            self._tally.note(job, sim_s, packets)

        try:
            made = self._cache.make(job, note)
            self._check()
        except InterruptedRunError:
            raise
        except Exception as error:
            self._tally.failed(job, self._cache.fail(job, error))
            return
        self._cache.keep(job, made)
        self._tally.new(job, made.result.info.packets)

    def _check(self) -> None:
        if self._stop.is_set():
            raise InterruptedRunError("stopped")


def _await(threads: Sequence[threading.Thread]) -> None:
    """Waits for a tick, or less if a thread ends."""
    for thread in threads:
        if thread.is_alive():
            thread.join(TICK_S)
            return


def _end(threads: Sequence[threading.Thread]) -> None:
    """Waits for threads that were told to stop; interrupts user code that doesn't."""
    threads = [thread for thread in threads if thread.ident is not None]  # it was started
    for thread in threads:
        thread.join(_GRACE_S if thread.daemon else None)
    for _ in range(_INSISTENCE):
        living = [thread for thread in threads if thread.is_alive()]
        for thread in living:
            _interrupt(thread)
            thread.join(_GRACE_S / 2)


def _interrupt(thread: threading.Thread) -> None:
    """Raises KeyboardInterrupt in the Python code that a thread is running."""
    error = ctypes.py_object(KeyboardInterrupt)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), error)


def is_stuck() -> bool:
    """Whether user code is still running that nothing could stop."""
    threads = threading.enumerate()
    return any(thread.daemon and thread.name.startswith(_THREAD) for thread in threads)
