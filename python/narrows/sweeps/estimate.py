"""Estimates how long a sweep will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from narrows.execute import Job, width
from narrows.execute.cost import LOAD_PER_CPU_S, RUN
from narrows.execute.processes import worth
from narrows.store import is_store, open_store
from narrows.sweeps.prepare import SweepJob

_SAMPLE = 50
_ONCE_S = 1.0
"""The time for starting, judging and the page, however many runs there are."""


@dataclass(frozen=True)
class Estimate:
    """The number of `runs`, those already `stored`, and the time for the rest.

    At most `more` trials may follow if a rule decides how many are enough.
    """

    combinations: int
    runs: int
    stored: int
    simulated_s: float
    wall_s: float
    jobs: int
    more: int

    def document(self) -> dict[str, object]:
        """The data for `--json`."""
        return asdict(self)


def estimate(job: SweepJob, jobs: int | None = None) -> Estimate:
    """Returns the number of runs, those already stored, and the approximate time for the rest."""
    runs = {trial.hash: Job(cell, trial, job.backend) for cell, trial in job.runs}
    present = open_store(job.directory).keys() if is_store(job.directory) else set()
    rest = [one for key, one in runs.items() if key not in present]
    simulated_s = sum(one.duration_s for one in rest)
    workers = width(job.backend, jobs)
    if job.backend.capabilities().real_time:
        wall_s = simulated_s / workers
    else:
        speed = _speed(job, [one for key, one in runs.items() if key in present])
        wall_s = _wall_s(rest, speed, workers) if rest else 0.0
    stored, more = len(runs) - len(rest), sum(len(c.plan.trials) - c.least for c in job.cells)
    return Estimate(len(job.cells), len(runs), stored, simulated_s, wall_s, workers, more)


@dataclass(frozen=True, slots=True)
class _Speed:
    """The engine's load in a second, and the time that a second of a core takes."""

    load_per_s: float = LOAD_PER_CPU_S
    slowdown: float = 1.0


def _wall_s(wanted: Sequence[Job], speed: _Speed, workers: int) -> float:
    """Returns the time for runs: the engine's and Python's, which threads can't share."""
    engine_s = sum(one.load - RUN for one in wanted) / speed.load_per_s
    python_s = len(wanted) * RUN / LOAD_PER_CPU_S * speed.slowdown
    serial_s = 0.0 if worth(wanted, workers) else python_s
    return max((engine_s + python_s) / workers, serial_s) + _ONCE_S


def _speed(job: SweepJob, stored: Sequence[Job]) -> _Speed:
    """Returns the speed of stored runs if there are any.

    Packets would mislead: where flows can't fill the bottleneck, the remaining runs won't either.
    The stored time is the engine's. On a busy machine it exceeds the time on a core, and so does
    Python's.
    """
    if not stored:
        return _Speed()
    store, sample = open_store(job.directory), stored[:_SAMPLE]
    infos = [store.info(one.key) for one in sample]
    wall_s, cpu_s = (sum(float(one[name]) for one in infos) for name in ("wall_s", "cpu_s"))
    if not wall_s:
        return _Speed()
    slowdown = max(wall_s / cpu_s, 1.0) if cpu_s else 1.0
    return _Speed(sum(one.load - RUN for one in sample) / wall_s, slowdown)
