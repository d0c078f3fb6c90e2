"""Worker processes for runs that threads can't do in parallel.

The simulator releases the GIL, but Python's part of a run holds it: metrics, files, and controls
written in Python. In short runs that is most of the time. A process does runs as a thread of the
pool does; the store's locks keep processes apart.
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
from narrows.execute.cost import RUN
from narrows.execute.demand import demand
from narrows.execute.job import Job
from narrows.execute.memory import free_memory
from narrows.execute.portable_job import PortableJob
from narrows.execute.watcher import TICK_S
from narrows.execute.worker import Event, ProgressReport, Setup
from narrows.signals import ENDING

# Measured on one core of a virtual machine.
RUN_S, _OWN_S = 0.004, 5e-7
"""Python's time for a run, and for a packet whose control is written in Python."""
PACKETS_PER_S = 1.5e6
WORTH_S = 1.0
"""The least of Python's time that is worth a process, whose start takes about half as long."""
_BYTES = 150_000_000
"""The memory of a process apart from its run."""
_STOP_TIMEOUT_S = 10.0
"""A process that takes longer to stop is killed."""
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from narrows.execute.worker import serve; serve(int(sys.argv[2]))"
)


_OUTSIDE = (*ENDING, signal.SIGKILL)
"""Signals from outside: a person's, or the OOM killer's."""


class LostProcessError(NarrowsError):
    """A process ended before its work was done: with a status or, if negative, by a signal."""

    def __init__(self, status: int) -> None:
        self.status = status
        super().__init__(
            f"a process that did some of the runs ended {self.how}; memory may have been short. "
            "Finished runs are kept, and the same command does the others"
        )

    @property
    def how(self) -> str:
        """How it ended, in words."""
        if self.status >= 0:
            return f"with status {self.status}"
        return f"by signal {-self.status} ({signal.strsignal(-self.status)})"

    @property
    def is_own(self) -> bool:
        """Returns True if code in the process may have ended it."""
        return -self.status not in _OUTSIDE


def has_own_code(job: Job) -> bool:
    """Returns True if the process that does a job runs a user's code, which could end it."""
    return type(job.backend) is Simulator and "controls" in job.trial.scenario


def loss_of(job: Job, lost: LostProcessError) -> SpecError:
    """Returns the error of a run whose control ended the process."""
    controls = ", ".join(job.trial.scenario["controls"])
    remedy = "a control that returns, or raises an exception,"
    return SpecError.at(controls, f"code that ended its process {lost.how}", remedy)


def can_move(jobs: Sequence[Job]) -> bool:
    """Returns True if other processes can do the jobs."""
    return bool(sys.executable) and all(type(job.backend) is Simulator for job in jobs)


def worth(jobs: Sequence[Job], workers: int) -> bool:
    """Returns True if processes can do the jobs, and finish sooner than threads."""
    if workers < 2 or not can_move(jobs):
        return False
    locked_s = sum(_locked_s(job) for job in jobs)
    whole_s = locked_s + sum(job.load - RUN for job in jobs) / PACKETS_PER_S
    # If the GIL is held for up to half of the time, threads keep all cores busy.
    return (
        locked_s > WORTH_S
        and locked_s * workers > whole_s / 2
        and most_that_fit(jobs, workers) == workers
    )


def _locked_s(job: Job) -> float:
    """Returns the time for which a run holds the GIL."""
    return RUN_S + (_OWN_S * job.load if "controls" in job.trial.scenario else 0.0)


def most_that_fit(jobs: Sequence[Job], workers: int) -> int:
    """Returns how many processes, from 1 to `workers`, fit into memory with the largest runs.

    Threads wait for memory instead.
    """
    free = free_memory()
    cells = {id(job.cell): job for job in jobs}.values()
    need = max(sum(part.bytes for part in demand(job.trial.scenario)) for job in cells)
    return workers if free is None else max(1, min(workers, free // (_BYTES + need)))


class Peer:
    """A worker process that lives as long as the `with` block. Only one thread may talk to it."""

    def __init__(self, setup: Setup, stop: threading.Event) -> None:
        self._stop = stop
        self._connection, theirs = Pipe()
        with theirs, _blocked_signals():
            self._process = _start_process(theirs)
        self._send(setup)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the pipe, which makes the process stop; kills it if it doesn't."""
        self._connection.close()
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def do(self, jobs: Mapping[str, Job]) -> Iterator[Event]:
        """Sends jobs to the process; yields its events.

        Raises the error that ended the process, or LostProcessError.
        """
        self._send([PortableJob.of(job) for job in jobs.values()])
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

    def _answer(self) -> ProgressReport:
        try:
            while not self._connection.poll(TICK_S):
                if self._stop.is_set():
                    raise InterruptedRunError("stopped")
            answer: ProgressReport = self._connection.recv()
        except (EOFError, ConnectionError):
            raise self._lost_process_error() from None
        return answer

    def _send(self, what: object) -> None:
        try:
            self._connection.send(what)
        except ConnectionError:
            raise self._lost_process_error() from None

    def _lost_process_error(self) -> LostProcessError:
        return LostProcessError(self._process.wait())


def _start_process(theirs: Connection) -> subprocess.Popen[bytes]:
    """Starts a process with our module path, which doesn't run our script again."""
    number = theirs.fileno()
    return subprocess.Popen(
        [sys.executable, "-P", "-c", _START, json.dumps(sys.path), str(number)],
        pass_fds=[number],
        stdin=subprocess.DEVNULL,
        env={"POLARS_MAX_THREADS": "1", **os.environ},
    )


@contextmanager
def _blocked_signals() -> Iterator[None]:
    """Blocks the ending signals until a process started here ignores them."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
