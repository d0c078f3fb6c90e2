"""A process that does short runs for the pool of another one: `narrows.execute.processes`.

It gets jobs through a pipe, does them as a thread of the pool would, and reports the progress of
each. When the pipe ends, the process that started it has ended or wants it to stop.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from narrows.errors import InterruptedRunError
from narrows.execute.cache import SharedStore, StoreCache, words
from narrows.execute.job import Job
from narrows.execute.portable_job import PortableJob
from narrows.execute.steps import JobSteps
from narrows.execute.watcher import TICK_S
from narrows.signals import ENDING
from narrows.store import open_store

BUSY = "busy"
"""The event that another command's process is doing a job."""
_GRACE_S = 1.0
"""Time for user code to stop; after that, the process ends anyway."""

Event = tuple[str, str, tuple[Any, ...]]
"""A method of `narrows.execute.steps.Counts`, the key of its job, its other arguments."""


@dataclass(frozen=True)
class Setup:
    """The setup of all jobs: where runs are stored, and since when failures count."""

    shared: SharedStore
    began_at: float


@dataclass(frozen=True)
class ProgressReport:
    """The progress since the last report, whether it is the last, and an error that ends all."""

    events: tuple[Event, ...] = ()
    over: bool = False
    error: BaseException | None = None


class _Reporter:
    """Reports the progress of the jobs to the other process, about 10 times a second."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._events: list[Event] = []
        self._notes: dict[str, Event] = {}
        self._last = time.monotonic()

    def note(self, job: Job, sim_s: float, packets: int) -> None:
        """Notes the progress of a job; only the latest matters."""
        self._notes = {job.key: ("note", job.key, (sim_s, packets))}
        self._tell()

    def new(self, job: Job, packets: int) -> None:
        """Reports a job that is done and stored."""
        self._finish("new", job, packets)

    def count_stored(self, job: Job) -> None:
        """Reports a job that another process has done."""
        self._finish("count_stored", job)

    def count_failed(self, job: Job, error: str) -> None:
        """Reports a job that failed."""
        self._finish("count_failed", job, error)

    def busy(self, job: Job) -> None:
        """Reports a job that another process is doing."""
        self._finish(BUSY, job)

    def send_last(self, error: BaseException | None = None) -> None:
        """Sends everything that is left as the last report."""
        self._send(ProgressReport(tuple(self._events), over=True, error=error))

    def _finish(self, name: str, job: Job, *more: object) -> None:
        self._notes.pop(job.key, None)
        self._events.append((name, job.key, more))
        self._tell()

    def _tell(self) -> None:
        if time.monotonic() - self._last >= TICK_S:
            self._send(ProgressReport((*self._events, *self._notes.values())))

    def _send(self, report: ProgressReport) -> None:
        self._last = time.monotonic()
        self._events, self._notes = [], {}
        self._connection.send(report)


class _Worker:
    """Does jobs until there are no more or the pipe ends."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        setup: Setup = connection.recv()
        self._stop, self._ended = threading.Event(), threading.Event()
        shared = setup.shared
        self._cache = StoreCache(
            open_store(shared.place),
            strict=shared.strict,
            without=shared.without,
            together=shared.together,
        )
        self._reporter = _Reporter(connection)
        self._steps = JobSteps(self._cache, self._reporter, self._stop, setup.began_at)
        self._incoming: SimpleQueue[list[PortableJob] | None] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def work(self) -> None:
        """Does the jobs that come; reports an error that ends everything."""
        error: BaseException | None = None
        try:
            while (portable := self._incoming.get()) is not None:
                self._do(portable)
        except BaseException as caught:
            error = caught
        try:
            self._cache.finish()
        except BaseException as caught:
            error = error or caught
        self._ended.set()
        if not self._stop.is_set():
            self._reporter.send_last(error and _portable(error))

    def _do(self, portable: list[PortableJob]) -> None:
        for one in portable:
            job = one.job()
            if self._stop.is_set():
                raise InterruptedRunError("stopped")
            if not self._steps.one(job):
                self._reporter.busy(job)
        self._reporter.send_last()

    def _listen(self) -> None:
        """Takes jobs from the pipe. Its end stops the work, and kills user code that continues."""
        with suppress(EOFError, OSError):
            while (portable := self._connection.recv()) is not None:
                self._incoming.put(portable)
            self._incoming.put(None)
            self._connection.poll(None)  # until the other end is closed
        self._stop.set()
        self._incoming.put(None)
        if not self._ended.wait(_GRACE_S):
            self._cache.finish()
            os._exit(1)


def _portable(error: BaseException) -> BaseException:
    """Returns an error that can be sent: the same one, or one with its message alone."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 (our own bytes)
    except Exception:
        return RuntimeError(words(error))
    return error


def serve(descriptor: int) -> None:
    """Works for the process at the other end of a pipe, then ends this process.

    A terminal sends the ending signals to all processes of a command; this one leaves them to the
    other.
    """
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    with suppress(BrokenPipeError, ConnectionResetError):
        _Worker(Connection(descriptor)).work()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)  # a library's thread that still runs would crash the interpreter as it ends
