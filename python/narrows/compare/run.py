"""Runs one scenario on several back ends until the means are known well enough."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from narrows.backends import Backend, get_backend
from narrows.compare.judge import Comparison
from narrows.compare.quantities import Cell, Measured, measure
from narrows.compare.vary import chanceless, varied
from narrows.compare.write import write
from narrows.errors import InputError, InterruptedRunError, StoreError
from narrows.figures import frames
from narrows.plan import Plan, Trial, canonical_json, content_hash, plan
from narrows.spec import Override, load, parse_override
from narrows.spec.registry import also_known
from narrows.store.parquet import write_parquet
from narrows.store.slug import slug
from narrows.store.write import RESULTS

TRIALS, MAX_TRIALS = 4, 12
"""How many runs each back end has at least and at most, if nobody says otherwise."""
UNTIL_DECIDED = 200
"""The ceiling of `--until-decided`."""
DRAWN = ("flow_samples", "queue_samples")
"""Tables that are kept of each back end's first trial: what the figure is drawn from."""
_REVISION = "1"
"""Counts changes of what is measured: kept values of another revision don't count."""

Watcher = Callable[[str, float], None]
"""Hears what is going on and how much of the whole is done, from 0 to 1."""


@dataclass(frozen=True)
class _Engine:
    """A back end with its plan for the scenario."""

    label: str
    backend: Backend
    plan: Plan


def compare(
    spec: str | Path,
    overrides: Iterable[str | Override] = (),
    *,
    backends: Sequence[str] = ("sim", "uml"),
    trials: int = TRIALS,
    max_trials: int | None = None,
    out: str | Path | None = None,
    watcher: Watcher | None = None,
) -> Comparison:
    """Compares the back ends on the specification in the file `spec`.

    Each runs `trials` times (or as often as the specification says, if that is more),
    with seeds that follow one another (or, where the seed makes no difference, with
    slightly other buffers and delays), and then more often until every quantity is decided,
    `max_trials` is reached, or no practicable number of trials would decide the rest.
    Values, figure and page go into the directory `out`; what runs on a kernel isn't
    run again if it is there. Raises InputError for bad input or a back end that can't
    run here.
    """
    most = max(MAX_TRIALS, trials) if max_trials is None else max_trials
    _check(backends, trials, most)
    changes, found = list(overrides), [_backend(label) for label in backends]
    trials = max(trials, _own_trials(spec, changes, found[0]))
    most = max(most, trials)
    engines = [_engine(*pair, spec, changes, most) for pair in zip(backends, found, strict=True)]
    first = engines[0].plan
    directory = Path(out) if out is not None else _default(engines)
    scenario = first.trials[0].scenario
    runner = _Runner(engines, directory, watcher or (lambda _step, _part: None))
    comparison = Comparison(
        name=first.name,
        conditions=frames.conditions(scenario),
        scenario=scenario,
        groups=first.groups,
        engines={engine.label: engine.backend.engine for engine in engines},
        measured=runner.measured,
    )
    runner.more(2, most)
    if chanceless(comparison.chance):
        comparison.varied = True
        runner.vary()
    runner.more(trials - comparison.trials, most)
    while comparison.trials < most and (more := comparison.more_trials):
        # What the spread of a few trials foresees is rough, so the number at most doubles.
        runner.more(min(more, comparison.trials, most - comparison.trials), most)
    return write(comparison, directory)


def _check(backends: Sequence[str], trials: int, max_trials: int) -> None:
    if len(set(backends)) != len(backends) or not 2 <= len(backends) <= 3:
        found = f'"{",".join(backends)}"'
        raise InputError.at("--backends", found, 'two or three, such as "sim,uml",')
    if trials < 2:
        raise InputError.at("--trials", str(trials), "2 or more, for a spread,")
    if max_trials < trials:
        raise InputError.at("--max-trials", str(max_trials), f"{trials} (--trials) or more")


def _backend(label: str) -> Backend:
    try:
        return get_backend(label)
    except InputError as error:
        raise InputError.at("--backends", error.found, error.remedy) from None


def _own_trials(spec: str | Path, overrides: Sequence[str | Override], backend: Backend) -> int:
    """How often the specification itself wants to be run: some spread more than others."""
    with also_known(backend.capabilities().ccas):
        return load(spec, overrides).spec.run.trials


def _engine(
    label: str,
    backend: Backend,
    spec: str | Path,
    overrides: Sequence[str | Override],
    trials: int,
) -> _Engine:
    changes = [*overrides, parse_override(f"run.trials={trials}", origin="--max-trials")]
    with also_known(backend.capabilities().ccas):
        loaded = load(spec, changes)
    if loaded.spec.run.record == "summary":
        remedy = '"samples", which the smoothed RTT is taken from,'
        raise InputError.at("run.record", '"summary"', remedy, str(spec))
    return _Engine(label, backend, plan(loaded.spec, backend.engine, backend.name))


def _default(engines: Sequence[_Engine]) -> Path:
    key = content_hash(engine.plan.hash for engine in engines)
    return Path(RESULTS) / f"compare-{slug(engines[0].plan.name, 40, 'run')}-{key[:8]}"


class _Runner:
    """Runs trials of all back ends, as many at once as there are cores."""

    def __init__(self, engines: Sequence[_Engine], directory: Path, watcher: Watcher) -> None:
        self._engines, self._directory, self._watcher = engines, directory, watcher
        self._stop = threading.Event()
        self._varied = False
        self.measured: dict[str, list[Measured]] = {engine.label: [] for engine in engines}

    def vary(self) -> None:
        """From now on the trials differ in buffer and delay; the first is as given, and stays."""
        self._varied = True
        for found in self.measured.values():
            del found[1:]

    def more(self, count: int, most: int) -> None:
        """Adds `count` trials to every back end; there will be `most` at most."""
        done = len(self.measured[self._engines[0].label])
        step = f"trials {done + 1} to {done + count}, at most {most}"
        jobs = [(e, e.plan.trials[done + i]) for i in range(count) for e in self._engines]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            try:
                futures = [pool.submit(self._one, *job) for job in jobs]
                for place, (engine, _) in enumerate(jobs):
                    self._watcher(step, (done + place / len(self._engines)) / most)
                    self.measured[engine.label].append(futures[place].result())
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _one(self, engine: _Engine, trial: Trial) -> Measured:
        scenario = trial.scenario
        if self._varied:
            scenario = varied(scenario, trial.number)
        kept = self._place(engine, scenario)
        known = _read(kept)
        if known is not None and (trial.number > 1 or self._drawn(engine)):
            return known
        result = engine.backend.run(scenario, self._watch)
        found = measure(scenario, result.tables, result.info, engine.plan.groups)
        if trial.number == 1:
            self._keep_drawn(engine, result.tables)
        _write(kept, found)
        return found

    def _watch(self, _sim_s: float, _packets: int) -> None:
        if self._stop.is_set():
            raise InterruptedRunError("stopped")

    def _place(self, engine: _Engine, scenario: Mapping[str, Any]) -> Path | None:
        """Where the values of a run are kept; the simulator is quicker than it is trusted."""
        if engine.backend.name == "sim":
            return None
        key = content_hash([canonical_json(dict(scenario)), engine.backend.engine, _REVISION])
        return self._directory / "trials" / f"{engine.backend.name}-{key}.json"

    def _tables(self, engine: _Engine) -> Path:
        return self._directory / engine.label.replace(":", "-")

    def _drawn(self, engine: _Engine) -> bool:
        return all((self._tables(engine) / f"{name}.parquet").is_file() for name in DRAWN)

    def _keep_drawn(self, engine: _Engine, tables: Mapping[str, pl.DataFrame]) -> None:
        place = self._tables(engine)
        _directory(place)
        for name in DRAWN:
            write_parquet(tables[name], place / f"{name}.parquet")


def _directory(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = "a directory that can be written (--out DIR)"
        raise StoreError.at(str(path), reason, remedy) from error


def _read(place: Path | None) -> Measured | None:
    if place is None or not place.is_file():
        return None
    try:
        rows: list[tuple[str, str, float]] = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return {Cell(quantity, flows): value for quantity, flows, value in rows}


def _write(place: Path | None, measured: Measured) -> None:
    if place is None:
        return
    _directory(place.parent)
    rows = [(cell.quantity, cell.flows, value) for cell, value in measured.items()]
    partial = place.with_suffix(".partial")
    partial.write_text(json.dumps(rows), encoding="utf-8")
    partial.replace(place)
