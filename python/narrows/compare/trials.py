"""The trials of a comparison: run on all back ends, kept, and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from narrows.backends import Backend
from narrows.backends.observed import MeasurementBackend
from narrows.compare.judge import LeftOut
from narrows.compare.quantities import Measured, measure
from narrows.compare.vary import vary
from narrows.execute import Job, Pool, RunProgress, StoreCache, Watcher
from narrows.late import pl
from narrows.plan import Cell, Plan, Trial, trial_of
from narrows.store import create_store, open_store
from narrows.store.atomic import writing

RUNS = "runs"
"""The store of runs in the directory of a comparison."""
UNREAD = ("packets", "internals")
"""Tables that nothing here reads, and that aren't kept."""


@dataclass(frozen=True)
class Engine:
    """A back end with its plan for the scenario."""

    label: str
    backend: Backend
    plan: Plan

    @property
    def gaps(self) -> Mapping[str, str]:
        """The quantities that a measurement doesn't show, each with a sentence on it."""
        return self.backend.gaps if isinstance(self.backend, MeasurementBackend) else {}

    @property
    def instants(self) -> Sequence[float]:
        """The times in s of the RTT samples of an imported measurement."""
        return self.backend.instants if isinstance(self.backend, MeasurementBackend) else ()


class Trials:
    """Runs trials of all back ends; those already in `directory` aren't repeated.

    An invalid run measures nothing, and the next comparison repeats it.
    """

    def __init__(
        self, engines: Sequence[Engine], directory: Path, watcher: Watcher | None = None
    ) -> None:
        self._engines, self._directory, self._watcher = engines, directory, watcher
        self._instants = [at for engine in engines for at in engine.instants]
        create_store(directory / RUNS)
        self._store = open_store(directory / RUNS)
        self._varied = False
        self._drawn: dict[str, Trial] = {}
        self.left_out: list[LeftOut] = []
        self.measured: dict[str, list[Measured]] = {engine.label: [] for engine in engines}
        self.cpu_s: dict[str, float] = {engine.label: 0.0 for engine in engines}

    def vary(self) -> None:
        """Makes the trials differ in buffer and delay from now on.

        The first trial doesn't change.
        """
        self._varied = True
        for found in self.measured.values():
            del found[1:]
        self.left_out[:] = [out for out in self.left_out if out.trial == 1]

    def more(self, count: int, most: int) -> None:
        """Adds `count` trials to every back end, up to `most`."""
        done = len(self.measured[self._engines[0].label])
        jobs = [(e, self._job(e, done + i)) for i in range(count) for e in self._engines]
        self._forget_invalid([job.key for _, job in jobs])
        cache = StoreCache(self._store, strict=True, without=UNREAD)
        with writing(self._directory):
            Pool([job for _, job in jobs], cache).run(self._watch(done, count, most))
        for engine, job in jobs:
            self.measured[engine.label].append(self._measure_run(engine, job))

    def _measure_run(self, engine: Engine, job: Job) -> Measured:
        """Returns the cells of a run; if it is invalid, nothing, and a note."""
        stored = self._store.stored_run(job.trial)
        self.cpu_s[engine.label] += stored.info.cpu_s
        if stored.info.invalid is None:
            self._drawn.setdefault(engine.label, job.trial)
            told = (stored.scenario, stored.tables, stored.info, engine.plan.groups)
            found = measure(*told, self._instants)
            return {cell: at for cell, at in found.items() if cell.quantity not in engine.gaps}
        trial = job.trial
        out = LeftOut(engine.label, trial.number, trial.seed, stored.info.invalid)
        self.left_out.append(out)
        return {}

    def _forget_invalid(self, keys: Sequence[str]) -> None:
        """Removes invalid runs of an earlier comparison, since the machine may be less busy now."""
        for key in self._store.keys().intersection(keys):
            if self._store.info(key).get("invalid") is not None:
                self._store.discard(key)

    def tables_to_draw(self) -> dict[str, Mapping[str, pl.DataFrame]]:
        """Returns the tables of the first valid trial of each back end, for the figure."""
        first = {e.label: self._drawn.get(e.label, e.plan.trials[0]) for e in self._engines}
        return {label: self._store.stored_run(trial).tables for label, trial in first.items()}

    def _job(self, engine: Engine, index: int) -> Job:
        trial: Trial = engine.plan.trials[index]
        if self._varied and trial.number > 1:
            scenario = vary(trial.scenario, trial.number)
            version = engine.backend.engine_of(scenario)
            groups = engine.plan.groups
            trial = trial_of(trial.number, scenario, version, engine.backend.name, groups)
        return Job(Cell(1, {}, engine.plan), trial, engine.backend)

    def _watch(self, done: int, count: int, most: int) -> Watcher | None:
        """Reports the progress of the whole comparison to the watcher."""
        if self._watcher is None:
            return None
        watcher, step = self._watcher, f"trials {done + 1} to {done + count}, at most {most}"

        def watch(state: RunProgress) -> None:
            part = (done + count * state.part) / most
            watcher(replace(state, step=step, part=part))

        return watch
