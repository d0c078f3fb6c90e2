"""Runs the conditions of figures, each once, and measures them.

OUT/runs/    a store of runs: what is there isn't run again
OUT/data/    what was measured of them, by figure; measured again only if the
             runs or the way of measuring are others
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

from narrows.backends import Backend, get_backend
from narrows.errors import InputError, NarrowsError, SpecError
from narrows.execute import BatchOutcome, Job, Watcher, run_all
from narrows.late import pl
from narrows.plan import Cell, Plan, content_hash, plan
from narrows.reproduce.exhibit import Case, Data, Exhibit, Key, Scope
from narrows.reproduce.library import library
from narrows.reproduce.study_code import sources
from narrows.spec import SpecificationText
from narrows.spec.host import MODELLED
from narrows.spec.reading import read_written
from narrows.store import Store, StoredTrial, open_store, read_frames, write_frames
from narrows.store.slug import slug


class Variation(Protocol):
    """Changed conditions: a negative control, or another possible testbed."""

    @property
    def name(self) -> str:
        """The name of the variation, which is part of file names."""

    def of(self, case: Case, /) -> Case:
        """Returns the case under these conditions."""


@dataclass(frozen=True)
class FigureCondition:
    """A case with its runs and their back end; `called` is the control that each flow represents.

    That is its own control, except under a negative control, where another takes its place.
    """

    key: Key
    cell: Cell
    engine: Backend
    called: tuple[str, ...]

    def jobs(self) -> Iterator[Job]:
        """Yields the runs of the condition."""
        for trial in self.cell.plan.trials:
            yield Job(self.cell, trial, self.engine)

    def stored_trials(self, store: Store) -> Iterator[StoredTrial]:
        """Yields the stored runs, with flows named by the control that they represent.

        Raises NarrowsError for a run that failed.
        """
        for trial in self.cell.plan.trials:
            if trial.hash not in store:
                failed = store.failures().get(trial.hash, {}).get("error", "it isn't there")
                raise NarrowsError(f"a run failed ({self.cell}): {failed}")
            found = replace(store.stored_run(trial), number=trial.number)
            for flow, cca in zip(found.scenario["flows"], self.called, strict=True):
                flow["cca"] = cca
            yield found


@dataclass(frozen=True)
class Work:
    """A figure under one profile, with the runs of each of its cases."""

    exhibit: Exhibit
    scope: Scope
    backend: str
    cells: tuple[FigureCondition, ...]
    variation: str = ""
    changed_path: bool = False

    @property
    def name(self) -> str:
        """The name of its files: `panaderia-fig7-linux-4.17`, or with `-quick` for a small grid."""
        quick = "-quick" if self.scope.quick else ""
        mutated = f"-{slug(self.variation)}" if self.variation else ""
        return f"{self.exhibit.identifier.replace('/', '-')}-{self.scope.profile}{quick}{mutated}"

    def jobs(self) -> Iterator[Job]:
        """Yields every run."""
        for condition in self.cells:
            yield from condition.jobs()


def work(
    exhibit: Exhibit, scope: Scope, backend: Backend, variation: Variation | None = None
) -> Work:
    """Returns the runs of a figure; raises SpecError for a case that can't run on the back end.

    With a `variation` its conditions are changed, and its flows named after the control they
    represent.
    """
    cells = tuple(conditions(exhibit.method().cases(scope), backend, variation))
    return Work(exhibit, scope, backend.name, cells, variation.name if variation else "")


def missing(exhibit: Exhibit, scope: Scope, backend: Backend) -> list[str]:
    """Returns the back ends of its cases that aren't set up."""
    cases = exhibit.method().cases(scope)
    return sorted({case.backend for case in cases if _engine(case, backend) is None})


def conditions(
    cases: Iterable[Case], backend: Backend, variation: Variation | None = None
) -> Iterator[FigureCondition]:
    """Yields the runs of each case, without cases whose back end isn't set up."""
    for number, case in enumerate(cases, start=1):
        engine = _engine(case, backend)
        if engine is None:
            continue
        try:
            runs = _plan(variation.of(case) if variation else case, engine)
            called = runs if variation is None else _plan(case, engine)
            engine.check(runs.trials[0].scenario)
        except SpecError:
            if case.aside and engine.name != "sim":
                continue
            raise
        cell = Cell(number, dict(case.key), runs)
        yield FigureCondition(case.key, cell, engine, _control_names(runs, called))


def _control_names(runs: Plan, meant: Plan) -> tuple[str, ...]:
    """Returns the control that each flow represents: its own if the number of flows changed."""
    own, others = (
        tuple(flow["cca"] for flow in made.trials[0].scenario["flows"]) for made in (runs, meant)
    )
    return others if len(own) == len(others) else own


def _plan(case: Case, engine: Backend) -> Plan:
    document = SpecificationText.document(_possible(case.spec, engine))
    spec = read_written(document, (), library().near).spec(engine.capabilities().ccas)
    return plan(spec, engine.engine_of, engine.name)


def _engine(case: Case, backend: Backend) -> Backend | None:
    """Returns the back end of a case; None if it isn't set up here."""
    if case.backend in ("", backend.name):
        return backend
    try:
        return get_backend(case.backend)
    except InputError:
        return None


def _possible(spec: Mapping[str, Any], backend: Backend) -> dict[str, Any]:
    """Returns a specification without simulated noise of hosts, since real hosts have their own."""
    if backend.name == "sim":
        return dict(spec)
    host = {key: value for key, value in spec.get("host", {}).items() if key not in MODELLED}
    return {**spec, "host": host}


def gather(
    works: Sequence[Work],
    out: Path,
    *,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> BatchOutcome:
    """Does the missing runs of all figures together; raises StoreError if `out` can't be used."""
    return run_all([job for item in works for job in item.jobs()], out, jobs=jobs, watcher=watcher)


def measurements(item: Work, out: Path) -> Data:
    """Returns the measurements of a figure's runs, from `out/data` if they are stored."""
    folder, key = out / "data" / f"{item.name}-{item.backend}", _key(item)
    frames = read_frames(folder, key)
    if frames is None:
        frames = _measure(item, open_store(out / "runs"))
        write_frames(folder, key, frames)
    return Data(frames, item.scope)


def _key(item: Work) -> str:
    """Hashes the runs, their names here, and the code that measures them."""
    names = [json.dumps(dict(condition.key), sort_keys=True) for condition in item.cells]
    hashes = [job.key for job in item.jobs()]
    method = item.exhibit.method()
    texts = sources(method) if isinstance(method, ModuleType) else method.sources()
    return content_hash([*names, *hashes, *texts])


def _measure(item: Work, store: Store) -> dict[str, pl.DataFrame]:
    measure = item.exhibit.method().measure
    parts: dict[str, list[pl.DataFrame]] = {}
    for condition in item.cells:
        place = [pl.lit(value).alias(column) for column, value in condition.key.items()]
        for trial in condition.stored_trials(store):
            for name, frame in measure(trial).items():
                number = pl.lit(trial.number).alias("trial")
                parts.setdefault(name, []).append(frame.select(*place, number, pl.all()))
    return {name: pl.concat(frames, how="vertical_relaxed") for name, frames in parts.items()}
