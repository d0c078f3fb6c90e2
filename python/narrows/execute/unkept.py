"""Runs jobs for their results, without storing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from narrows.execute.cache import Cache
from narrows.execute.job import FinishedJob, Job
from narrows.execute.pool import Pool


class _PassThroughCache(Cache):
    """Passes each run on."""

    def __init__(self, take: Callable[[Job, FinishedJob], None]) -> None:
        self._take = take

    def keep(self, job: Job, made: FinishedJob) -> None:
        """Passes a run on."""
        self._take(job, made)


def run_each(
    wanted: Iterable[Job], take: Callable[[Job, FinishedJob], None], jobs: int | None = None
) -> None:
    """Runs jobs, `jobs` in parallel, and hands each to `take` as soon as it is done.

    `take` is called from several threads. Raises the error of the first run that fails.
    """
    Pool(wanted, _PassThroughCache(take), jobs).run()
