"""Repeats stored runs."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from narrows.backends import NAMES, Backend, get_backend
from narrows.errors import InputError, StoreError
from narrows.execute import FinishedJob, Job, run_each
from narrows.late import pl
from narrows.plan import Cell, Plan, Trial, trial_of
from narrows.spec import permission
from narrows.spec.scenario import Scenario
from narrows.store import StoredTrial, is_store, open_result, open_store
from narrows.store.maintenance import classes
from narrows.store.parts import DERIVED
from narrows.verify.derived import Findings, check_result, check_run, check_store
from narrows.verify.programs import differences


@dataclass(frozen=True)
class RepeatableRun:
    """A stored run: its name for people, its scenario, and what it recorded.

    `groups` has the class of each flow, `info` the run's record, `summary` its part of
    summary.json, `derived` the names of the tables that a store makes from that part. `files` is
    the directory with the files of the run's programs; a store keeps none.
    """

    name: str
    place: Path
    backend: str
    engine: str
    digest: str
    scenario: Scenario
    tables: Callable[[], Mapping[str, pl.DataFrame]]
    groups: tuple[str, ...]
    info: Mapping[str, Any]
    summary: Mapping[str, Any] | None = None
    derived: tuple[str, ...] = ()
    key: str | None = None
    files: Path | None = None


@dataclass(frozen=True)
class Repetition:
    """A stored run beside its repetition.

    `differs` has the first packet and the files in which the programs differ, and the first
    difference of each table.
    """

    kept: RepeatableRun
    engine: str
    digest: str
    differs: tuple[str, ...]

    @property
    def is_identical(self) -> bool:
        """Returns True if the repetition gave the same digest and the same values everywhere."""
        return self.digest == self.kept.digest and not self.differs


def kept_runs(place: str, sample: int | None = None) -> list[RepeatableRun]:
    """Returns the runs of a result or a store, or `sample` of them drawn at random.

    Raises StoreError for a place without results or with damaged ones, and InputError for runs that
    can't be repeated because they took place in real time or come from captures.
    """
    found = _of_store(place) if is_store(place) else _of_result(place)
    if not found:
        raise StoreError.at(place, "no finished run", "results of a run or a sweep")
    if sample is not None and sample < len(found):
        found = sorted(random.Random(0).sample(found, sample), key=lambda kept: kept.name)  # noqa: S311
    for kept in found:
        _refuse(kept)
    return found


def check_place(place: str) -> Findings:
    """Compares the files of a result or a store beside its runs; see `narrows.verify.derived`."""
    if not is_store(place):
        return check_result(open_result(place))
    store = open_store(place)
    if store.directory is not None:
        return check_store(store, store.directory)
    return Findings(left_out=["the lists of the studies' runs, which are in object storage"])


def _of_result(place: str) -> list[RepeatableRun]:
    result = open_result(place)
    return [
        RepeatableRun(
            f"trial {trial.number}",
            result.path,
            trial.info.backend,
            trial.info.engine,
            trial.info.digest,
            trial.scenario,
            partial(_tables, trial),
            tuple(result.groups),
            asdict(trial.info),
            summary,
            files=trial.path,
        )
        for trial, summary in zip(result.trials, result.summary["runs"], strict=True)
    ]


def _tables(trial: StoredTrial) -> Mapping[str, pl.DataFrame]:
    """Returns the tables; called once they are compared, so that they aren't read before."""
    return trial.tables


def _of_store(place: str) -> list[RepeatableRun]:
    store = open_store(place)

    def tables(key: str) -> Mapping[str, pl.DataFrame]:
        found = ((name, store.table(key, name)) for name in store.tables_of(key))
        return {name: table for name, table in found if table is not None}

    def read(key: str) -> RepeatableRun:
        info, scenario = store.info(key), store.scenario(key)
        whole = (info["backend"], info["engine"], info["digest"], scenario, partial(tables, key))
        groups = classes(scenario, store.table(key, "flows"))
        return RepeatableRun(key[:12], Path(place), *whole, groups, info, derived=DERIVED, key=key)

    return [read(key) for key in sorted(store.keys())]


def _of_name(kept: RepeatableRun) -> Iterator[str]:
    """Yields a difference if a stored run's name isn't the hash of its scenario."""
    key = kept.info.get("run")
    if key is None:
        return
    trial = trial_of(1, kept.scenario, kept.engine, kept.backend, kept.groups)
    if not trial.hash == key == kept.key:
        yield "its name isn't the hash of its scenario"


def _refuse(kept: RepeatableRun) -> None:
    """Raises InputError for a run that can't be repeated here, or whose code isn't allowed."""
    if kept.backend not in NAMES:
        found = f"a measurement ({kept.backend}), which can't be repeated"
        raise InputError.at(str(kept.place), found, "a run of sim or uml")
    if get_backend(kept.backend).capabilities().real_time:
        found = f"a run of {kept.backend}, in real time, which never repeats exactly"
        raise InputError.at(str(kept.place), found, "a run of sim or uml")
    for cca in kept.scenario.get("controls", {}):
        permission.check(cca, kept.place)
    if any("server" in flow for flow in kept.scenario["flows"]):
        permission.check_programs(kept.place)


def repeat(kept: Iterable[RepeatableRun], jobs: int | None = None) -> list[Repetition]:
    """Repeats the runs, in parallel if the back end allows it; returns them in order."""
    listed = list(kept)
    found: dict[int, Repetition] = {}
    engines = {name: get_backend(name) for name in {one.backend for one in listed}}

    def compare(job: Job, made: FinishedJob) -> None:
        one = listed[job.trial.number - 1]
        tables = {**made.result.tables, **{name: made.tables[name] for name in one.derived}}
        differs = (
            *_of_programs(one, made),
            *_differences(one.tables(), tables),
            *check_run(one.info, one.summary, made),
            *_of_name(one),
        )
        engine, digest = job.backend.engine_of(one.scenario), made.result.info.digest
        found[job.trial.number] = Repetition(one, engine, digest, differs)

    run_each([_job(number, one, engines) for number, one in enumerate(listed, 1)], compare, jobs)
    return [found[number] for number in sorted(found)]


def _job(number: int, kept: RepeatableRun, engines: Mapping[str, Backend]) -> Job:
    """Returns the job that repeats a stored run; its key is its number."""
    trial = Trial.of(number, kept.scenario, str(number))
    whole = Plan(kept.name, (trial,), kept.groups, trial.hash)
    return Job(Cell(number, {}, whole), trial, engines[kept.backend])


def _of_programs(kept: RepeatableRun, made: FinishedJob) -> Iterator[str]:
    """Yields where the programs of the repetition differ from those of the stored run, if any."""
    flows = kept.scenario["flows"]
    if kept.files is None or not any("server" in flow for flow in flows):
        return iter(())
    return differences(kept.files, made.result.files, [flow["name"] for flow in flows])


def _differences(old: Mapping[str, pl.DataFrame], new: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    """Yields the places where the repetition's tables differ from the stored ones."""
    for name in sorted(old.keys() - new.keys()):
        yield f"{name}: a table that the run doesn't give"
    for name in sorted(new):
        if name not in old:
            yield f"{name}: not kept"
        elif old[name].schema != new[name].schema:
            yield f"{name}: other columns"
        elif old[name].height != new[name].height:
            yield f"{name}: {old[name].height} rows kept, {new[name].height} now"
        elif not old[name].equals(new[name]):
            yield f"{name}: {_first(old[name], new[name])}"


def _first(old: pl.DataFrame, new: pl.DataFrame) -> str:
    """Returns the first cell that differs: "row 7, cwnd: 10 kept, 11 now"."""
    rows = [(column, (~old[column].eq_missing(new[column])).arg_true()) for column in old.columns]
    row, column = min((int(at[0]), column) for column, at in rows if len(at))
    return f"row {row + 1}, {column}: {old[column][row]} kept, {new[column][row]} now"
