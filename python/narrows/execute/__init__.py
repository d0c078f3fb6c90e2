"""Runs jobs on all cores or on a cluster, and stores each result as soon as its run ends.

`narrows run`, `compare`, `evaluate` and `reproduce` share this code. They differ in what they run
and where they store it.
"""

from __future__ import annotations

from narrows.execute.cache import Cache, StoreCache
from narrows.execute.cost import load
from narrows.execute.job import FinishedJob, Job, width
from narrows.execute.pool import Pool
from narrows.execute.stored import run_all
from narrows.execute.tally import BatchOutcome, Failure
from narrows.execute.unkept import run_each
from narrows.execute.watcher import RunProgress, Watcher

__all__ = [
    "BatchOutcome",
    "Cache",
    "Failure",
    "FinishedJob",
    "Job",
    "Pool",
    "RunProgress",
    "StoreCache",
    "Watcher",
    "load",
    "run_all",
    "run_each",
    "width",
]
