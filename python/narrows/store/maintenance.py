"""Maintenance of a store: its studies, unneeded runs and damaged runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.errors import StoreError
from narrows.plan import trial_of
from narrows.spec.scenario import Scenario
from narrows.store.index import drop_damaged, forget
from narrows.store.protocol import Store

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class StudyState:
    """The progress of a study: how many of its `runs` are `stored` and how many `failed`."""

    name: str
    runs: int
    stored: int
    failed: int
    backend: str
    engine: str


@dataclass(frozen=True)
class Garbage:
    """What `collect` removed, or would remove."""

    runs: tuple[str, ...]
    failures: tuple[str, ...]
    leftovers: tuple[str, ...]


def states(store: Store) -> list[StudyState]:
    """Every study of the store, by name."""
    present, failed = store.keys(), store.failures().keys()
    found = []
    for stem, record in store.studies().items():
        keys = set(store.study_runs(stem)["run"])
        counts = (len(keys), len(keys & present), len(keys & (failed - present)))
        found.append(StudyState(record["name"], *counts, record["backend"], record["engine"]))
    return found


def collect(store: Store, remove: bool = True) -> Garbage:
    """Removes runs of no study in the store, and what killed processes left.

    Runs in progress are left alone if they hold their lock. Without `remove` it only returns what
    would be removed.
    """
    wanted: set[str] = set()
    for stem in store.studies():
        wanted.update(store.study_runs(stem)["run"])
    runs = tuple(sorted(store.keys() - wanted))
    failures = tuple(sorted(store.failures().keys() - wanted))
    gone = tuple(store.leftovers(remove))
    if remove:
        for key in runs:
            store.discard(key)
        if runs:
            forget(store, runs)
        store.forget_failures(failures)
    return Garbage(runs, failures, gone)


def damage(store: Store, remove: bool = False) -> Iterator[tuple[str, str]]:
    """Everything damaged with its problem: runs, studies, parts of the index.

    With `remove` it is removed, and the next sweep or reader makes it again.
    """
    yield from _damaged_runs(store, remove)
    for stem in store.study_stems():
        if wrong := _damage_found_by(store.study, store.study_runs, name=stem):
            if remove:
                store.drop_study(stem)
            yield f"study {stem}", wrong
    for key in store.failure_keys():
        if wrong := _damage_found_by(store.failure, name=key):
            if remove:
                store.forget_failures([key])
            yield f"failures/{key}.json", wrong
    for part in drop_damaged(store, remove):
        yield f"index/{part}", "it can't be read"


def _damage_found_by(*readers: Callable[[str], object], name: str) -> str | None:
    """The file that one of the readers refuses, with the reason; None if all can read theirs."""
    try:
        for read in readers:
            read(name)
    except StoreError as error:
        return f"{Path(error.place).name}: {error.found}"
    return None


def _damaged_runs(store: Store, remove: bool) -> Iterator[tuple[str, str]]:
    for key in sorted(store.keys()):
        wrong = _damage_of(store, key)
        if wrong is not None:
            if remove:
                store.discard(key)
                forget(store, [key])
            yield key, wrong


def _damage_of(store: Store, key: str) -> str | None:
    if wrong := _damage_found_by(store.info, store.scenario, name=key):
        return wrong
    record, scenario = store.info(key), store.scenario(key)
    for name, digest in record.get("files", {}).items():
        found = store.digest(key, name)
        if found is None:
            return f"{name} is missing"
        if found != digest:
            return f"{name} has changed"
    groups = classes(scenario, store.table(key, "flows"))
    made = trial_of(1, scenario, str(record.get("engine")), str(record.get("backend")), groups)
    return None if made.hash == key else "its name isn't the hash of its scenario"


def classes(scenario: Scenario, flows: pl.DataFrame | None) -> tuple[str, ...]:
    """The class of each flow, by the table `flows`, where a chain has several rows."""
    known = {} if flows is None else dict(flows.select("name", "class").iter_rows())
    return tuple(str(known.get(flow["name"], flow["cca"])) for flow in scenario["flows"])
