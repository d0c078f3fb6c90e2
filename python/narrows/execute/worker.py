"""A process that does short runs for a pool of another one: `narrows.execute.processes`.

It gets parcels through a pipe, does them as a thread of the pool would, and tells what became of
each. When the pipe ends, whoever started it is gone or wants it to stop.
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
from narrows.execute.cache import Shared, StoreCache, words
from narrows.execute.job import Job
from narrows.execute.parcel import Parcel
from narrows.execute.steps import Steps
from narrows.execute.watcher import TICK_S
from narrows.store import open_store
from narrows.store.signals import ENDING

BUSY = "busy"
"""The event of a job that a process of somebody else is doing."""
_GRACE_S = 1.0
"""User code that hasn't stopped by then ends with the process."""

Event = tuple[str, str, tuple[Any, ...]]
"""A method of `narrows.execute.steps.Counts`, the key of its job, its other arguments."""


@dataclass(frozen=True)
class Setup:
    """What concerns all parcels: where runs are kept, and since when failures count."""

    shared: Shared
    began_at: float


@dataclass(frozen=True)
class Answer:
    """What happened since the last answer; whether that was all; an error that ends everything."""

    events: tuple[Event, ...] = ()
    over: bool = False
    error: BaseException | None = None


class _Told:
    """Tells the other process what becomes of the jobs, about ten times a second."""

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
        """A job is done and kept."""
        self._over("new", job, packets)

    def stored(self, job: Job) -> None:
        """Another process has done a job."""
        self._over("stored", job)

    def failed(self, job: Job, error: str) -> None:
        """A job failed."""
        self._over("failed", job, error)

    def busy(self, job: Job) -> None:
        """Another process is doing a job."""
        self._over(BUSY, job)

    def all(self, error: BaseException | None = None) -> None:
        """Tells everything that is left, and that this was all."""
        self._send(Answer(tuple(self._events), over=True, error=error))

    def _over(self, name: str, job: Job, *more: object) -> None:
        self._notes.pop(job.key, None)
        self._events.append((name, job.key, more))
        self._tell()

    def _tell(self) -> None:
        if time.monotonic() - self._last >= TICK_S:
            self._send(Answer((*self._events, *self._notes.values())))

    def _send(self, answer: Answer) -> None:
        self._last = time.monotonic()
        self._events, self._notes = [], {}
        self._connection.send(answer)


class _Worker:
    """Does parcels until there are no more or the pipe ends."""

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
        self._told = _Told(connection)
        self._steps = Steps(self._cache, self._told, self._stop, setup.began_at)
        self._parcels: SimpleQueue[list[Parcel] | None] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def work(self) -> None:
        """Does what comes; tells an error that ends everything."""
        error: BaseException | None = None
        try:
            while (parcels := self._parcels.get()) is not None:
                self._do(parcels)
        except BaseException as caught:
            error = caught
        try:
            self._cache.finish()
        except BaseException as caught:
            error = error or caught
        self._ended.set()
        if not self._stop.is_set():
            self._told.all(error and _portable(error))

    def _do(self, parcels: list[Parcel]) -> None:
        for parcel in parcels:
            job = parcel.job()
            if self._stop.is_set():
                raise InterruptedRunError("stopped")
            if not self._steps.one(job):
                self._told.busy(job)
        self._told.all()

    def _listen(self) -> None:
        """Takes parcels from the pipe; its end stops the work, and user code with the process."""
        with suppress(EOFError, OSError):
            while (parcels := self._connection.recv()) is not None:
                self._parcels.put(parcels)
            self._parcels.put(None)
            self._connection.poll(None)  # until the other end is closed
        self._stop.set()
        self._parcels.put(None)
        if not self._ended.wait(_GRACE_S):
            self._cache.finish()
            os._exit(1)


def _portable(error: BaseException) -> BaseException:
    """An error that another process can read, without what can't be sent."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 (our own bytes)
    except Exception:
        return RuntimeError(words(error))
    return error


def serve(descriptor: int) -> None:
    """Works for the process at the other end of a pipe, and ends this one.

    The ending signals, which a terminal sends to all processes of a command, are for that process
    to answer.
    """
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    with suppress(BrokenPipeError, ConnectionResetError):
        _Worker(Connection(descriptor)).work()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)  # a thread of a library that is still at work would crash the interpreter's end
