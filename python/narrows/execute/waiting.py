"""The jobs that nobody has taken yet."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable

from narrows.execute.job import Job

LATER_S = 0.3
"""Time between looks at a run that another process is doing."""
_SEVERAL = 300_000
"""The expected cost of jobs that are taken together, in packets: some tenths of a second."""


class JobQueue:
    """Jobs for several threads; empty once `stop` is set."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop, self._lock = stop, threading.Lock()
        self._jobs: deque[Job] = deque()
        self._delayed: deque[tuple[float, Job]] = deque()

    def extend(self, jobs: Iterable[Job]) -> None:
        """Adds jobs in order."""
        with self._lock:
            self._jobs.extend(jobs)

    def later(self, job: Job) -> None:
        """Puts a job back that another process is doing."""
        with self._lock:
            self._delayed.append((time.monotonic() + LATER_S, job))

    def next(self) -> Job | None:
        """Returns the next job, when its time has come; None if there is none left."""
        with self._lock:
            if self._jobs and not self._stop.is_set():
                return self._jobs.popleft()
            not_before, job = self._delayed.popleft() if self._delayed else (0.0, None)
        delay_s = max(0.0, not_before - time.monotonic())
        return None if self._stop.wait(delay_s) else job

    def several(self, takers: int, most: int | None = None) -> dict[str, Job]:
        """Takes at `most` some jobs by key, a fair part of the rest for one of `takers`.

        None if none is left.
        """
        first = self.next()
        if first is None:
            return {}
        taken, work = {first.key: first}, first.load
        with self._lock:
            share = len(self._jobs) // (2 * takers) + 1
            most = share if most is None else min(share, most)
            while self._jobs and len(taken) < most and work < _SEVERAL:
                job = self._jobs.popleft()
                taken[job.key] = job
                work += job.load
        return taken
