"""The jobs that nobody has taken yet."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from narrows.execute.job import Job

LATER_S = 0.3
"""Time between looks at a run that another process is doing."""
_SEVERAL = 300_000
"""The expected cost of jobs that are taken together, in packets: some tenths of a second."""


@dataclass
class _Item:
    """A job to do, not before a time of the monotonic clock."""

    job: Job
    not_before: float = 0.0

    def delay_s(self) -> float:
        """How long to wait before the job may be taken."""
        return max(0.0, self.not_before - time.monotonic())


class JobQueue:
    """Jobs for several threads; empty once `stop` is set."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop, self._lock = stop, threading.Lock()
        self._items: deque[_Item] = deque()

    def extend(self, jobs: Iterable[Job]) -> None:
        """Adds jobs in order."""
        with self._lock:
            self._items.extend(_Item(job) for job in jobs)

    def later(self, job: Job) -> None:
        """Puts a job back that another process is doing."""
        with self._lock:
            self._items.append(_Item(job, time.monotonic() + LATER_S))

    def next(self) -> Job | None:
        """Returns the next job, when its time has come; None if there is none left."""
        with self._lock:
            item = self._items.popleft() if self._items else None
        return self._due(item)

    def several(self, takers: int, most: int | None = None) -> dict[str, Job]:
        """Takes at `most` some jobs by key, a fair part of the rest for one of `takers`.

        None if none is left.
        """
        first = self.next()
        if first is None:
            return {}
        taken, work = {first.key: first}, first.load
        with self._lock:
            share = len(self._items) // (2 * takers) + 1
            most = share if most is None else min(share, most)
            while len(taken) < most and work < _SEVERAL and not self._items[0].delay_s():
                job = self._items.popleft().job
                taken[job.key] = job
                work += job.load
        return taken

    def _due(self, item: _Item | None) -> Job | None:
        if item is None or self._stop.wait(item.delay_s()) or self._stop.is_set():
            return None
        return item.job
