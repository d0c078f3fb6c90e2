"""Runs jobs of any kind into a store beside their results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from narrows.execute.cache import StoreCache
from narrows.execute.job import Job
from narrows.execute.pool import Pool
from narrows.execute.tally import BatchOutcome
from narrows.execute.watcher import Watcher
from narrows.store import create_store
from narrows.store.atomic import writing


def run_all(
    wanted: Sequence[Job],
    out: Path,
    *,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> BatchOutcome:
    """Runs the jobs that the store `out/runs` lacks; raises StoreError if `out` can't be one."""
    store = create_store(out / "runs")
    with writing(out):
        return Pool(wanted, StoreCache(store), jobs).run(watcher)
