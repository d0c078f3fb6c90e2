"""Estimates how long a sweep will take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import islice

from narrows.execute import load, width
from narrows.execute.cost import LOAD_PER_CPU_S
from narrows.plan import Trial
from narrows.spec.ending import planned_end_ns
from narrows.store import is_store, open_store
from narrows.sweeps.prepare import SweepJob

_SAMPLE = 50


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
    runs = {trial.hash: trial for _, trial in job.runs}
    present = open_store(job.directory).keys() if is_store(job.directory) else set()
    rest = [trial for key, trial in runs.items() if key not in present]
    simulated_s = sum(planned_end_ns(trial.scenario) for trial in rest) / 1e9
    workers = width(job.backend, jobs)
    if job.backend.capabilities().real_time:
        wall_s = simulated_s / workers
    else:
        speed = _speed(job, {key: trial for key, trial in runs.items() if key in present})
        wall_s = sum(load(trial.scenario) for trial in rest) / speed / workers
    stored, more = len(runs) - len(rest), sum(len(c.plan.trials) - c.least for c in job.cells)
    return Estimate(len(job.cells), len(runs), stored, simulated_s, wall_s, workers, more)


def _speed(job: SweepJob, stored: Mapping[str, Trial]) -> float:
    """Returns the load per second of a core, from stored runs if there are any.

    Packets would mislead: where flows can't fill the bottleneck, the remaining runs won't either.
    """
    if not stored:
        return LOAD_PER_CPU_S
    store, sample = open_store(job.directory), list(islice(stored.items(), _SAMPLE))
    seconds = sum(float(store.info(key)["wall_s"]) for key, _ in sample)
    return sum(load(trial.scenario) for _, trial in sample) / seconds if seconds else LOAD_PER_CPU_S
