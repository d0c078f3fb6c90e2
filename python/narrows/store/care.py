"""Care of a store: what is in it, what nobody needs any more, what is damaged."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrows.errors import StoreError
from narrows.plan import canonical_json, content_hash
from narrows.store.read import SCENARIO
from narrows.store.runs import RUN, RunStore, digest_of, read_json


@dataclass(frozen=True)
class StudyState:
    """How far a study is: of its `runs`, how many are `stored` and how many `failed`."""

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


def states(store: RunStore) -> list[StudyState]:
    """Every study of the store, by name."""
    present, failed = store.keys(), store.failures().keys()
    found = []
    for stem, record in store.studies().items():
        keys = set(store.study_runs(stem)["run"])
        counts = (len(keys), len(keys & present), len(keys & (failed - present)))
        found.append(StudyState(record["name"], *counts, record["backend"], record["engine"]))
    return found


def collect(store: RunStore, remove: bool = True) -> Garbage:
    """Removes runs that no study of the store has, and what killed processes left.

    Runs at work are left alone, as far as they hold their lock. Without
    `remove` it only says what would go.
    """
    wanted: set[str] = set()
    for stem in store.studies():
        wanted.update(store.study_runs(stem)["run"])
    runs = tuple(sorted(store.keys() - wanted))
    failures = tuple(sorted(store.failures().keys() - wanted))
    leftovers = tuple(path.name for path in sorted((store.path / "tmp").iterdir()))
    gone = []
    for name in leftovers:
        with store.claim(name.split(".")[0]) as ours:
            if ours:
                gone.append(name)
                if remove:
                    _remove(store.path / "tmp" / name)
    if remove:
        for key in runs:
            _discard(store, key)
        for key in failures:
            store.failure_path(key).unlink(missing_ok=True)
    return Garbage(runs, failures, tuple(gone))


def _discard(store: RunStore, key: str) -> None:
    """Takes the run's name away first, so that it is never there in part."""
    moved = store.path / "tmp" / f"{key}.discarded"
    store.run_path(key).rename(moved)
    shutil.rmtree(moved, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def damage(store: RunStore, remove: bool = False) -> Iterator[tuple[str, str]]:
    """Every damaged run with what is wrong; `remove` lets the next sweep do it again."""
    for key in sorted(store.keys()):
        wrong = _damage_of(store, key)
        if wrong is not None:
            if remove:
                _discard(store, key)
            yield key, wrong


def _damage_of(store: RunStore, key: str) -> str | None:
    directory = store.run_path(key)
    try:
        record = read_json(directory / RUN)
        scenario = read_json(directory / SCENARIO)
    except StoreError as error:
        return f"{Path(error.place).name}: {error.found}"
    for name, digest in record.get("files", {}).items():
        file = directory / name
        if not file.is_file():
            return f"{name} is missing"
        if digest_of(file) != digest:
            return f"{name} has changed"
    return None if _key(scenario, record) == key else "its name isn't the hash of its scenario"


def _key(scenario: dict[str, Any], record: dict[str, Any]) -> str:
    parts = [canonical_json(scenario), str(record.get("engine")), str(record.get("backend"))]
    return content_hash(parts)
