"""Counts the jobs of a pool while they run, and the final outcome."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from narrows.execute.job import Job
from narrows.execute.watcher import RunProgress
from narrows.plan import Cell, Trial


@dataclass(frozen=True)
class Failure:
    """A run that failed, and why."""

    cell: Cell
    trial: Trial
    error: str


@dataclass(frozen=True)
class BatchOutcome:
    """The outcome: `new` runs, those `stored` before or by another process, and failures."""

    new: int
    stored: int
    failures: tuple[Failure, ...]
    packets: int
    wall_s: float

    @property
    def runs(self) -> int:
        """The total number of runs."""
        return self.new + self.stored + len(self.failures)

    def __add__(self, then: BatchOutcome) -> BatchOutcome:
        return BatchOutcome(
            self.new + then.new,
            self.stored + then.stored,
            self.failures + then.failures,
            self.packets + then.packets,
            self.wall_s + then.wall_s,
        )


class Tally:
    """Counts the events of jobs; several threads may report to it."""

    def __init__(self, jobs: Iterable[Job], present: Collection[str]) -> None:
        wanted: dict[str, Job] = {}
        for job in jobs:
            wanted.setdefault(job.key, job)
        self.waiting = [job for key, job in wanted.items() if key not in present]
        # The longest runs come first, so that none is left to a single core at the end.
        self.waiting.sort(key=lambda job: -job.load)
        self._lock, self._began = threading.Lock(), time.monotonic()
        self._total, self._work = len(wanted), sum(job.load for job in self.waiting)
        self._total_s = sum(job.duration_s for job in self.waiting)
        self._new, self._stored, self._packets = 0, len(wanted) - len(self.waiting), 0
        self._worked, self._simulated_s = 0.0, 0.0
        self._failures: list[Failure] = []
        self._going: dict[str, tuple[Job, float, int]] = {}

    def note(self, job: Job, sim_s: float, packets: int) -> None:
        """Notes the progress of a job."""
        with self._lock:
            self._going[job.key] = (job, sim_s, packets)

    def new(self, job: Job, packets: int) -> None:
        """A job is done and kept."""
        with self._lock:
            self._finish(job)
            self._new += 1
            self._packets += packets

    def count_stored(self, job: Job) -> None:
        """Another process has done a job."""
        with self._lock:
            self._finish(job)
            self._stored += 1

    def count_failed(self, job: Job, error: str) -> None:
        """A job failed."""
        with self._lock:
            self._finish(job)
            self._failures.append(Failure(job.cell, job.trial, error))

    def _finish(self, job: Job) -> None:
        self._going.pop(job.key, None)
        self._worked += job.load
        self._simulated_s += job.duration_s

    def state(self) -> RunProgress:
        """Returns the progress of all jobs together."""
        with self._lock:
            going = list(self._going.values())
            work = self._worked + sum(sim_s / j.duration_s * j.load for j, sim_s, _ in going)
            done, failed = self._new + self._stored, len(self._failures)
            return RunProgress(
                done=done,
                failed=failed,
                total=self._total,
                sim_s=self._simulated_s + sum(sim_s for _, sim_s, _ in going),
                total_s=self._total_s,
                packets=self._packets + sum(packets for _, _, packets in going),
                # A sum of loads in another order may miss the whole by a rounding error.
                part=min(1.0, work / self._work) if done + failed < self._total else 1.0,
            )

    def outcome(self) -> BatchOutcome:
        """Returns the outcome of all jobs."""
        failures = sorted(self._failures, key=lambda f: (f.cell.number, f.trial.number))
        wall_s = time.monotonic() - self._began
        return BatchOutcome(self._new, self._stored, tuple(failures), self._packets, wall_s)
