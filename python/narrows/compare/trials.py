"""The trials of a comparison: run on all back ends, kept, and measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.backends import Backend
from narrows.compare.quantities import Measured, measure
from narrows.compare.vary import varied
from narrows.execute import Job, Pool, State, StoreCache, Watcher
from narrows.plan import Cell, Plan, Trial, trial_of
from narrows.store import RunStore, create_store, unwritable

if TYPE_CHECKING:
    import polars as pl

RUNS = "runs"
"""The store of runs in the directory of a comparison."""
UNREAD = ("packets", "internals")
"""Tables that nothing here reads; they aren't kept."""


@dataclass(frozen=True)
class Engine:
    """A back end with its plan for the scenario."""

    label: str
    backend: Backend
    plan: Plan


class Trials:
    """Runs trials of all back ends; what is in `directory` already isn't run again."""

    def __init__(
        self, engines: Sequence[Engine], directory: Path, watcher: Watcher | None = None
    ) -> None:
        self._engines, self._directory, self._watcher = engines, directory, watcher
        create_store(directory / RUNS)
        self._store = RunStore(directory / RUNS)
        self._varied = False
        self.measured: dict[str, list[Measured]] = {engine.label: [] for engine in engines}
        self.cpu_s: dict[str, float] = {engine.label: 0.0 for engine in engines}

    def vary(self) -> None:
        """From now on the trials differ in buffer and delay; the first is as given, and stays."""
        self._varied = True
        for found in self.measured.values():
            del found[1:]

    def more(self, count: int, most: int) -> None:
        """Adds `count` trials to every back end; there will be `most` at most."""
        done = len(self.measured[self._engines[0].label])
        jobs = [(e, self._job(e, done + i)) for i in range(count) for e in self._engines]
        cache = StoreCache(self._store, strict=True, without=UNREAD)
        try:
            Pool([job for _, job in jobs], cache).run(self._heard(done, count, most))
        except OSError as error:
            raise unwritable(error, self._directory) from error
        for engine, job in jobs:
            stored = self._store.stored(job.trial)
            found = measure(stored.scenario, stored.tables, stored.info, engine.plan.groups)
            self.measured[engine.label].append(found)
            self.cpu_s[engine.label] += stored.info.cpu_s

    def drawn(self) -> dict[str, Mapping[str, pl.DataFrame]]:
        """The tables of the first trial of each back end: what the figure is drawn from."""
        return {
            engine.label: self._store.stored(engine.plan.trials[0]).tables
            for engine in self._engines
        }

    def _job(self, engine: Engine, index: int) -> Job:
        trial: Trial = engine.plan.trials[index]
        if self._varied and trial.number > 1:
            scenario = varied(trial.scenario, trial.number)
            trial = trial_of(trial.number, scenario, engine.backend.engine, engine.backend.name)
        return Job(Cell(1, {}, engine.plan), trial, engine.backend)

    def _heard(self, done: int, count: int, most: int) -> Watcher | None:
        """Tells the watcher how much of the whole comparison is done."""
        if self._watcher is None:
            return None
        watcher, step = self._watcher, f"trials {done + 1} to {done + count}, at most {most}"

        def watch(state: State) -> None:
            part = (done + count * state.part) / most
            watcher(replace(state, step=step, part=part))

        return watch
