"""Processes for runs that threads can't do side by side.

The simulator lets other threads work, but Python's own part of a run doesn't: metrics, files, and a
control that is written in Python. Of short runs that is most of the time. A process does them as
a thread does; the locks of the store keep the processes apart.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, Pipe
from types import TracebackType
from typing import Self

from narrows.backends.sim import Simulator
from narrows.errors import InterruptedRunError, NarrowsError, SpecError
from narrows.execute.job import Job
from narrows.execute.memory import free_memory
from narrows.execute.parcel import Parcel
from narrows.execute.watcher import TICK_S
from narrows.execute.worker import Answer, Event, Setup
from narrows.plan.demand import demand
from narrows.store.signals import ENDING

# Measured on one core of a virtual machine.
RUN_S, _OWN_S = 0.004, 5e-7
"""Python's part of a run, and that of a packet whose control is written in Python."""
PACKETS_PER_S = 1.5e6
WORTH_S = 1.0
"""The start of a process takes about half as long as this."""
_BYTES = 150_000_000
"""The memory of a process without its run."""
_PATIENCE_S = 10.0
"""A process that hasn't ended by then, after it was told to stop, is killed."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from narrows.execute.worker import serve; serve(int(sys.argv[2]))"
)


_OUTSIDE = (*ENDING, signal.SIGKILL)
"""Signals that others send: a person, or a machine that is short of memory."""


class LostProcessError(NarrowsError):
    """A process ended before its work, with a status or, if negative, by a signal."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(
            f"a process that did some of the runs ended {self.how}, as it does if memory is short; "
            "finished runs are kept, and the same command does the others"
        )

    @property
    def how(self) -> str:
        """How it ended, in words."""
        if self.status >= 0:
            return f"with status {self.status}"
        return f"by signal {-self.status} ({signal.strsignal(-self.status)})"

    @property
    def is_own(self) -> bool:
        """Whether code in the process can have ended it."""
        return -self.status not in _OUTSIDE


def has_own_code(job: Job) -> bool:
    """Whether code of a user runs in the process that does a job, and could end it."""
    return type(job.backend) is Simulator and "controls" in job.trial.scenario


def loss_of(job: Job, lost: LostProcessError) -> SpecError:
    """The error of a run whose control ended the process."""
    controls = ", ".join(job.trial.scenario["controls"])
    remedy = "a control that returns, or raises an exception,"
    return SpecError.at(controls, f"code that ended its process {lost.how}", remedy)


def can_move(jobs: Sequence[Job]) -> bool:
    """Whether other processes can do the jobs."""
    return bool(sys.executable) and all(type(job.backend) is Simulator for job in jobs)


def worth(jobs: Sequence[Job], workers: int) -> bool:
    """Whether processes do the jobs sooner than threads, and can do them at all."""
    if workers < 2 or not can_move(jobs):
        return False
    locked_s = sum(_locked_s(job) for job in jobs)
    whole_s = locked_s + sum(job.load for job in jobs) / PACKETS_PER_S
    # With half as much, or less, threads keep all cores at work.
    return (
        locked_s > WORTH_S
        and locked_s * workers > whole_s / 2
        and most_that_fit(jobs, workers) == workers
    )


def _locked_s(job: Job) -> float:
    """The time during which a run keeps other threads from work."""
    return RUN_S + (_OWN_S * job.load if "controls" in job.trial.scenario else 0.0)


def most_that_fit(jobs: Sequence[Job], workers: int) -> int:
    """How many processes, one to `workers`, have room for the largest runs at once.

    Threads wait for each other instead.
    """
    free = free_memory()
    cells = {id(job.cell): job for job in jobs}.values()
    need = max(sum(part.bytes for part in demand(job.trial.scenario)) for job in cells)
    return workers if free is None else max(1, min(workers, free // (_BYTES + need)))


class Peer:
    """A process at work for us, until the end of the block. A single thread talks to it."""

    def __init__(self, setup: Setup, stop: threading.Event) -> None:
        self._stop = stop
        self._connection, theirs = Pipe()
        with theirs, _deaf():
            self._process = _started(theirs)
        self._send(setup)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """The end of the pipe tells the process to stop, unless it has ended by itself."""
        self._connection.close()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def do(self, jobs: Mapping[str, Job]) -> Iterator[Event]:
        """Has jobs done; yields what becomes of each.

        Raises what ends everything: an error of the other process, or its end.
        """
        self._send([Parcel.of(job) for job in jobs.values()])
        yield from self._events()

    def finish(self) -> None:
        """Waits until all runs are on the disk; raises OSError if they can't be."""
        self._send(None)
        for _ in self._events():
            pass

    def _events(self) -> Iterator[Event]:
        over = False
        while not over:
            answer = self._answer()
            yield from answer.events
            if answer.error is not None:
                raise answer.error
            over = answer.over

    def _answer(self) -> Answer:
        try:
            while not self._connection.poll(TICK_S):
                if self._stop.is_set():
                    raise InterruptedRunError("stopped")
            answer: Answer = self._connection.recv()
        except (EOFError, ConnectionError):
            raise self._lost() from None
        return answer

    def _send(self, what: object) -> None:
        try:
            self._connection.send(what)
        except ConnectionError:
            raise self._lost() from None

    def _lost(self) -> LostProcessError:
        return LostProcessError(self._process.wait())


def _started(theirs: Connection) -> subprocess.Popen[bytes]:
    """Starts a process that finds modules where we do, and doesn't run our script again."""
    number = theirs.fileno()
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _START, json.dumps(sys.path), str(number)],
        pass_fds=[number],
        stdin=subprocess.DEVNULL,
        env={"POLARS_MAX_THREADS": "1", **os.environ},
    )


@contextmanager
def _deaf() -> Iterator[None]:
    """Blocks the ending signals until a process started here ignores them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
