"""Maintenance of a store: its studies, unneeded runs and damaged runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from narrows.errors import StoreError
from narrows.late import pl
from narrows.plan import trial_of
from narrows.spec.scenario import Scenario
from narrows.store.runs import Store


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
    """The files that `collect` removed, or would remove."""

    runs: tuple[str, ...]
    failures: tuple[str, ...]
    leftovers: tuple[str, ...]


def states(store: Store) -> list[StudyState]:
    """Returns every study of the store, by name."""
    return _states(store, store.study_stems())


def state(store: Store, stem: str) -> StudyState:
    """Returns the study whose files have the name `stem`."""
    return _states(store, [stem])[0]


def _states(store: Store, stems: Iterable[str]) -> list[StudyState]:
    present, failed = store.keys(), set(store.failure_keys())
    found = []
    for stem in stems:
        record, keys = store.study(stem), set(store.study_runs(stem)["run"])
        counts = (len(keys), len(keys & present), len(keys & (failed - present)))
        found.append(StudyState(record["name"], *counts, record["backend"], record["engine"]))
    return found


def collect(store: Store, remove: bool = True) -> Garbage:
    """Removes runs that no study in the store has, and leftovers of killed processes.

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
        store.files.make_folders()
        if runs:
            store.discard(*runs)
        store.forget_failures(failures)
    return Garbage(runs, failures, gone)


def damage(store: Store, remove: bool = False) -> Iterator[tuple[str, str]]:
    """Yields everything damaged with its problem: folders, parts, runs, studies.

    With `remove` it is removed, or made again if it is a folder; the next sweep does the rest.
    """
    missing = store.files.missing_folders()
    yield from ((folder, "no such directory") for folder in missing)
    if remove:
        store.files.make_folders()
    elif missing:
        return
    broken = dict(store.damaged_parts())
    if remove:
        store.drop_parts(broken)
    yield from ((f"parts/{part}", wrong) for part, wrong in broken.items())
    # As long as a part can't be read, runs can't be listed.
    if remove or not broken:
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


def _damage_found_by(*readers: Callable[[str], object], name: str) -> str | None:
    """Returns the file that one of the readers refuses, with the reason; None if there is none."""
    try:
        for read in readers:
            read(name)
    except StoreError as error:
        return f"{Path(error.place).name}: {error.problems[0].found}"
    return None


def _damaged_runs(store: Store, remove: bool) -> Iterator[tuple[str, str]]:
    for key in sorted(store.keys()):
        if wrong := _damage_of(store, key):
            if remove:
                store.discard(key)
            yield key, wrong


def _damage_of(store: Store, key: str) -> str | None:
    """Returns the problem of a run of an intact part; None if there is none."""
    try:
        record, scenario = store.info(key), store.scenario(key)
        groups = classes(scenario, store.table(key, "flows"))
    except StoreError as error:
        return f"{Path(error.place).name}: {error.problems[0].found}"
    made = trial_of(1, scenario, str(record.get("engine")), str(record.get("backend")), groups)
    return None if made.hash == key else "its name isn't the hash of its scenario"


def classes(scenario: Scenario, flows: pl.DataFrame | None) -> tuple[str, ...]:
    """Returns the class of each flow, from the table `flows`, where a chain has several rows."""
    known = {} if flows is None else dict(flows.select("name", "class").iter_rows())
    return tuple(str(known.get(flow["name"], flow["cca"])) for flow in scenario["flows"])
