"""Does one job at a time for a pool: claims it, runs it, keeps it, and counts it."""

from __future__ import annotations

import threading
from typing import Protocol

from narrows.errors import InterruptedRunError
from narrows.execute.cache import Cache
from narrows.execute.job import Job


class JobCounter(Protocol):
    """Counts jobs and their outcomes, as `narrows.execute.tally.Tally` does."""

    def note(self, job: Job, sim_s: float, packets: int) -> None:
        """Notes the progress of a job."""

    def new(self, job: Job, packets: int) -> None:
        """A job is done and kept."""

    def count_stored(self, job: Job) -> None:
        """Another process has done a job."""

    def count_failed(self, job: Job, error: str) -> None:
        """A job failed."""


class JobSteps:
    """The steps of a job, for any number of threads, until `stop` is set.

    `began_at` is the system time since which the failures of other processes count.
    """

    def __init__(
        self, cache: Cache, counts: JobCounter, stop: threading.Event, began_at: float
    ) -> None:
        self._cache, self._counts = cache, counts
        self._stop, self._began_at = stop, began_at

    def one(self, job: Job) -> bool:
        """Does a job, unless it is already done; returns False if another process is doing it.

        Raises InterruptedRunError when it has to stop, and any error that ends all jobs.
        """
        cache = self._cache
        with cache.claim(job.key) as ours:
            if not ours:
                return False
            if cache.has(job.key):
                self._counts.count_stored(job)
            elif (error := cache.failure_since(job.key, self._began_at)) is not None:
                self._counts.count_failed(job, error)
            else:
                self._do(job)
        return True

    def _do(self, job: Job) -> None:
        """Does a job and keeps it."""

        def note(sim_s: float, packets: int) -> None:
            self._check()
            self._counts.note(job, sim_s, packets)

        try:
            made = self._cache.make(job, note)
            self._check()
        except InterruptedRunError:
            raise
        except Exception as error:
            self._counts.count_failed(job, self._cache.fail(job, error))
            return
        self._cache.keep(job, made)
        self._counts.new(job, made.result.info.packets)

    def _check(self) -> None:
        if self._stop.is_set():
            raise InterruptedRunError("stopped")
