"""A run to do, and its result."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from narrows.backends import Backend, CaptureRequest, CapturingBackend, Progress
from narrows.execute.cost import load
from narrows.execute.memory import MEMORY
from narrows.late import pl
from narrows.plan import Cell, Trial
from narrows.spec.ending import planned_end_ns
from narrows.store import RunRecord


@dataclass(frozen=True, slots=True)
class Job:
    """A trial of a combination, on a back end."""

    cell: Cell
    trial: Trial
    backend: Backend
    _load: float | None = field(default=None, init=False, compare=False)

    @property
    def key(self) -> str:
        """The hash of everything that determines the run."""
        return self.trial.hash

    @property
    def load(self) -> float:
        """The expected cost, in packets."""
        if self._load is None:
            object.__setattr__(self, "_load", load(self.trial.base))
        return cast("float", self._load)

    @property
    def duration_s(self) -> float:
        """The simulated duration in seconds."""
        return planned_end_ns(self.trial.base) / 1e9


@dataclass(frozen=True)
class FinishedJob:
    """A finished run: its result, its summary, and the summary as tables."""

    result: RunRecord
    summary: dict[str, Any]
    tables: Mapping[str, pl.DataFrame]


def width(backend: Backend, jobs: int | None) -> int:
    """Returns how many runs of a back end are done in parallel: one per core, at most `jobs`."""
    if not backend.capabilities().parallel:
        return 1
    return jobs or len(os.sched_getaffinity(0))


def make(
    job: Job, progress: Progress | None, captures: CaptureRequest | None = None
) -> FinishedJob:
    """Runs a job and summarises it; raises what the back end and `progress` raise.

    Raises SpecError for a run that needs more memory than there is, and MemoryShortError for one
    that exceeded its estimate until hardly any memory was left.
    """
    from narrows.metrics import summarise
    from narrows.metrics.tables import summary_tables

    scenario = job.trial.scenario

    def report_progress(sim_s: float, packets: int) -> None:
        MEMORY.check()
        if progress is not None:
            progress(sim_s, packets)

    with MEMORY.of(scenario, lambda: progress and progress(0.0, 0)):
        if captures is None:
            result = job.backend.run(scenario, report_progress)
        else:
            result = cast(CapturingBackend, job.backend).run(scenario, report_progress, captures)
        summary = summarise(scenario, result.columns, result.info, job.cell.plan.groups)
        return FinishedJob(result, summary, summary_tables(summary, job.cell.plan.groups))
