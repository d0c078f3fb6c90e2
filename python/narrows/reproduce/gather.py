"""Runs what figures need, each condition once, and measures it.

OUT/runs/    a store of runs: what is there isn't run again
OUT/data/    what was measured of them, by figure; measured again only if the
             runs or the way of measuring are others
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.backends import Backend, get_backend
from narrows.errors import InputError, NarrowsError, SpecError
from narrows.execute import Done, Job, Pool, StoreCache, Watcher
from narrows.plan import Cell, content_hash, plan
from narrows.reproduce.exhibit import Case, Data, Exhibit, Key, Scope
from narrows.spec import Written, load
from narrows.store import (
    RunStore,
    create_store,
    read_frames,
    unwritable,
    write_frames,
)

if TYPE_CHECKING:
    import polars as pl

MADE_UP = ("jitter", "timer_lateness", "gro")
"""Properties of simulated hosts."""


@dataclass(frozen=True)
class Condition:
    """A case with its runs and where they run."""

    key: Key
    cell: Cell
    engine: Backend


@dataclass(frozen=True)
class Work:
    """A figure under one profile, with the runs of each of its cases."""

    exhibit: Exhibit
    scope: Scope
    backend: str
    cells: tuple[Condition, ...]

    @property
    def name(self) -> str:
        """Of its files, such as `panaderia-fig7-linux-4.17`; the smaller grid has `-quick`."""
        quick = "-quick" if self.scope.quick else ""
        return f"{self.exhibit.identifier.replace('/', '-')}-{self.scope.profile}{quick}"

    def jobs(self) -> Iterator[Job]:
        """Every run."""
        for condition in self.cells:
            for trial in condition.cell.plan.trials:
                yield Job(condition.cell, trial, condition.engine)


def work(exhibit: Exhibit, scope: Scope, backend: Backend) -> Work:
    """The runs of a figure; raises SpecError for a case that can't run on the back end."""
    cases: Iterable[Case] = exhibit.method().cases(scope)
    cells = []
    for number, case in enumerate(cases, start=1):
        engine = _engine(case, backend)
        if engine is None:
            continue
        try:
            spec = load(Written.document(_possible(case.spec, engine))).spec
            runs = plan(spec, engine.engine, engine.name)
            engine.check(runs.trials[0].scenario)
        except SpecError:
            if case.aside and engine.name != "sim":
                continue
            raise
        cells.append(Condition(case.key, Cell(number, dict(case.key), runs), engine))
    return Work(exhibit, scope, backend.name, tuple(cells))


def _engine(case: Case, backend: Backend) -> Backend | None:
    """Where a case runs; None if it belongs to a back end that isn't set up here."""
    if case.backend in ("", backend.name):
        return backend
    try:
        return get_backend(case.backend)
    except InputError:
        return None


def _possible(spec: Mapping[str, Any], backend: Backend) -> dict[str, Any]:
    """A specification without the noise of hosts that real ones bring along."""
    if backend.name == "sim":
        return dict(spec)
    host = {key: value for key, value in spec.get("host", {}).items() if key not in MADE_UP}
    return {**spec, "host": host}


def gather(
    works: Sequence[Work],
    out: Path,
    *,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> Done:
    """Runs what isn't there yet, all figures together; raises StoreError if `out` is no place."""
    store = create_store(out / "runs")
    wanted = [job for item in works for job in item.jobs()]
    try:
        return Pool(wanted, StoreCache(store), jobs).run(watcher)
    except OSError as error:
        raise unwritable(error, out) from error


def measured(item: Work, out: Path) -> Data:
    """What the runs of a figure show, from `out/data` if it is there."""
    folder, key = out / "data" / f"{item.name}-{item.backend}", _key(item)
    frames = read_frames(folder, key)
    if frames is None:
        frames = _measure(item, RunStore(out / "runs"))
        write_frames(folder, key, frames)
    return Data(frames, item.scope)


def _key(item: Work) -> str:
    """Of the runs, their names here, and the code that measures them."""
    names = [json.dumps(dict(condition.key), sort_keys=True) for condition in item.cells]
    hashes = [job.key for job in item.jobs()]
    return content_hash([*names, *hashes, *_sources(item.exhibit.method())])


def _sources(method: Any) -> list[str]:  # noqa: ANN401 (a module)
    """The text of the module and of those of ours that it takes functions from."""
    modules = {method.__name__: method}
    for value in vars(method).values():
        module = inspect.getmodule(value)
        if module is not None and module.__name__.startswith("narrows."):
            modules[module.__name__] = module
    return [inspect.getsource(modules[name]) for name in sorted(modules)]


def _measure(item: Work, store: RunStore) -> dict[str, pl.DataFrame]:
    import polars as pl

    measure = item.exhibit.method().measure
    parts: dict[str, list[pl.DataFrame]] = {}
    for condition in item.cells:
        key, cell = condition.key, condition.cell
        for trial in cell.plan.trials:
            if trial.hash not in store:
                failed = store.failures().get(trial.hash, {}).get("error", "it isn't there")
                raise NarrowsError(f"{item.exhibit.identifier}: a run failed ({cell}): {failed}")
            for name, frame in measure(store.stored(trial)).items():
                place = [pl.lit(value).alias(column) for column, value in key.items()]
                number = pl.lit(trial.number).alias("trial")
                parts.setdefault(name, []).append(frame.select(*place, number, pl.all()))
    return {name: pl.concat(frames, how="vertical_relaxed") for name, frames in parts.items()}
