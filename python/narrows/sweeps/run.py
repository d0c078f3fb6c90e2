"""Does the runs of a study on all cores, and stores each as soon as it is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrows._native import MAX_TRIALS
from narrows.backends import Backend
from narrows.errors import EngineError, InputError
from narrows.execute import BatchOutcome, Failure, Job, Pool, StoreCache, Watcher, width
from narrows.execute.reproducer import write_reproducer
from narrows.metrics.checks import CombinationOutcome
from narrows.plan import Cell, Grid, Trial, content_hash
from narrows.provenance import provenance
from narrows.store import Store, create_store, slug
from narrows.store.atomic import writing
from narrows.store.open import is_url
from narrows.store.studies import runs_table
from narrows.sweeps.checks import counts, outcomes, wide
from narrows.sweeps.copies import keep_copies
from narrows.sweeps.polars_memory import load_polars
from narrows.sweeps.prepare import SweepJob
from narrows.sweeps.verdicts import record_of, smallest

MOST_ROUNDS = MAX_TRIALS
"""The most rounds of additional trials; each gives a combination at least one trial."""


@dataclass(frozen=True)
class SweepOutcome:
    """The outcome of a sweep: `new` runs, those `stored` before or by another process, failures."""

    job: SweepJob
    new: int
    stored: int
    failures: tuple[Failure, ...]
    packets: int
    wall_s: float
    unmet: tuple[CombinationOutcome, ...] = ()
    """The checks that aren't met or are undecided."""
    reproducer: Path | None = None
    """A specification that repeats the first run in which the engine broke, if one did."""

    @property
    def good(self) -> bool:
        """Returns True if no run failed and every check is met."""
        return not self.failures and not self.unmet

    def smallest(self) -> list[str]:
        """The smallest value that meets all checks, for each combination of other axes."""
        if not self.job.grid.checks:
            return []
        failing = {one.case.number for one in self.unmet}
        cells = self.job.cells
        return smallest(
            {cell.number: cell.values for cell in cells},
            {cell.number: cell.number not in failing for cell in cells},
        )

    def document(self) -> dict[str, Any]:
        """The data for `--json`."""
        return {
            "study": self.job.name,
            "directory": str(self.job.directory),
            "combinations": len(self.job.cells),
            "runs": self.new + self.stored + len(self.failures),
            "new": self.new,
            "stored": self.stored,
            "failed": [
                {
                    "cell": failure.cell.number,
                    "values": dict(failure.cell.values),
                    "trial": failure.trial.number,
                    "seed": failure.trial.seed,
                    "error": failure.error,
                }
                for failure in self.failures
            ],
            "unmet": [one.document() for one in self.unmet],
            "reproducer": None if self.reproducer is None else str(self.reproducer),
            "packets": self.packets,
            "wall_s": self.wall_s,
        }


def execute(
    job: SweepJob,
    *,
    jobs: int | None = None,
    cluster: str | None = None,
    watcher: Watcher | None = None,
    command: Sequence[str] = (),
) -> SweepOutcome:
    """Does the missing runs, `jobs` in parallel (by default one per core).

    `cluster` is the address of a Dask scheduler, or "local" for `jobs` processes here; `command` is
    the command line, for the page.

    A failed run is recorded and doesn't stop the others. Every finished run is kept, whatever stops
    the sweep. Raises StoreError if the store can't be written.
    """
    load_polars()
    store = create_store(job.directory)
    with writing(Path(str(job.directory))):
        _note(job, store, command)
        done = _run(job, job.runs, store, jobs, cluster, watcher)
        for _ in range(MOST_ROUNDS):
            more = _more(job, store, width(job.backend, jobs))
            if not more:
                break
            done += _run(job, more, store, jobs, cluster, watcher)
        judged = outcomes(job.grid, job.cells, store)
        broken = tuple(one for one in judged if not one.outcome.passed)
        _note(job, store, command, broken)
    repeats = _reproducer(job, done.failures)
    return SweepOutcome(
        job, done.new, done.stored, done.failures, done.packets, done.wall_s, broken, repeats
    )


def _reproducer(job: SweepJob, failures: Sequence[Failure]) -> Path | None:
    """Writes a specification of the first run in which the engine broke, beside the store."""
    for failure in failures:
        if failure.error.startswith(EngineError.SAYS):
            place = Path(slug(job.name) if is_url(job.directory) else job.directory)
            text, values = job.grid.study.text, failure.cell.values
            return write_reproducer(place, text, failure.trial, values, failure.error)
    return None


def _note(
    job: SweepJob,
    store: Store,
    command: Sequence[str],
    broken: Sequence[CombinationOutcome] | None = None,
) -> None:
    """Records the study with the runs known by now, and the checks that were `broken`."""
    more: dict[str, Any] = {"filters": list(job.filters), "command": list(command)}
    if broken is not None and job.grid.checks:
        more["checks"] = record_of(job.grid, [cell.number for cell in job.cells], broken)
    note_study(store, job.grid, job.backend, counts(job.grid, store), **more)


def _more(job: SweepJob, store: Store, workers: int) -> list[tuple[Cell, Trial]]:
    """Returns the next trials of combinations with too wide an interval, for all workers."""
    cells = wide(job.grid, job.cells, store)
    each = max(workers // max(len(cells), 1), 1)
    return [(cell, trial) for cell, n in cells for trial in cell.plan.trials[n : n + each]]


def _run(
    job: SweepJob,
    runs: Sequence[tuple[Cell, Trial]],
    store: Store,
    jobs: int | None,
    cluster: str | None,
    watcher: Watcher | None,
) -> BatchOutcome:
    wanted = (Job(cell, trial, job.backend) for cell, trial in runs)
    if cluster is None:
        return Pool(wanted, StoreCache(store), jobs).run(watcher)
    from narrows.execute.cluster import ClusterPool

    if not job.backend.capabilities().parallel:
        found = (
            f'"{cluster}" with the back end {job.backend.name}, which needs a machine for itself'
        )
        raise InputError.at("--cluster", found, "a back end such as sim")
    return ClusterPool(wanted, store, cluster, jobs).run(watcher)


def note_study(
    store: Store, grid: Grid, backend: Backend, counts: Mapping[int, int], **more: object
) -> None:
    """Records a study with the runs known by now, `counts` of each combination.

    `more` is added to the record.
    """
    study, runs = grid.study, runs_table(grid, counts)
    record = {
        "name": study.name,
        "backend": backend.name,
        "engine": backend.engine,
        "axes": [axis.place for axis in study.axes],
        "combinations": len(grid.cells),
        "spec": study.text,
        "provenance": provenance(),
        "runs": content_hash(runs["run"].to_list()),
        **keep_copies(store, study),
        **more,
    }
    store.add_study(study.name, record, runs)
