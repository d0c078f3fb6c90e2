"""A store of runs, addressed by what decides them: scenario, seed, back end, engine.

    DIR/
        store.json              the format
        runs/run=HASH/          run.json, scenario.json, the tables as Parquet
        studies/NAME.json       a study as it was last swept
        studies/NAME.parquet    its runs: combination, trial, seed, hash, a column for each axis
        failures/HASH.json      why a run failed, until it succeeds
        locks/, tmp/            of the processes that are at work

A run is complete or it isn't there: it is written under `tmp`, reaches the disk,
and gets its name by a single rename. Several processes may share a store.
`run=HASH` is a partition that polars and DuckDB read as a column.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.errors import StoreError
from narrows.plan import Trial, canonical_json
from narrows.store.atomic import flush
from narrows.store.locks import claim
from narrows.store.read import SCENARIO

if TYPE_CHECKING:
    import polars as pl

    from narrows.store.records import RunResult

MARK = "store.json"
RUN = "run.json"
FORMAT = 1
"""Of the store; a reader refuses another."""
_FOLDERS = ("runs", "studies", "failures", "locks", "tmp")
_PREFIX = "run="


class RunStore:
    """The store in the directory `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run_path(self, key: str) -> Path:
        """Where the run with the hash `key` is, or will be."""
        return self.path / "runs" / f"{_PREFIX}{key}"

    def failure_path(self, key: str) -> Path:
        """Where the record of a failure is, if there is one."""
        return self.path / "failures" / f"{key}.json"

    def __contains__(self, key: str) -> bool:
        return self.run_path(key).is_dir()

    def keys(self) -> set[str]:
        """The hashes of all complete runs, from one look at the directory."""
        with os.scandir(self.path / "runs") as entries:
            names = [entry.name for entry in entries]
        return {name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)}

    def failures(self) -> dict[str, dict[str, Any]]:
        """The records of failed runs by hash."""
        files = sorted((self.path / "failures").glob("*.json"))
        return {file.stem: read_json(file) for file in files}

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Whether the run is ours to compute until the end of the block."""
        with claim(self.path / "locks" / key) as ours:
            yield ours

    def info(self, key: str) -> dict[str, Any]:
        """What `run.json` says: the engine, the digest, what the run cost."""
        return read_json(self.run_path(key) / RUN)

    def add(self, trial: Trial, result: RunResult, tables: Mapping[str, pl.DataFrame]) -> None:
        """Stores a run with further `tables`; if another process was first, its run stays.

        Call it inside `claim`.
        """
        work = self._work(trial.hash)
        try:
            _write(work / SCENARIO, canonical_json(trial.scenario) + "\n")
            for name, table in {**result.tables, **tables}.items():
                table.write_parquet(work / f"{name}.parquet", compression="zstd")
            _write(work / RUN, json.dumps(_record(trial, result, work), indent=1) + "\n")
            self._name(work, self.run_path(trial.hash))
        finally:
            shutil.rmtree(work, ignore_errors=True)
        self.failure_path(trial.hash).unlink(missing_ok=True)

    def _work(self, key: str) -> Path:
        """An empty directory for a run; what a killed process left of the same run goes."""
        folder = self.path / "tmp"
        for left in folder.glob(f"{key}.*"):
            shutil.rmtree(left, ignore_errors=True)
        work = folder / f"{key}.{secrets.token_hex(4)}"
        work.mkdir()
        return work

    def _name(self, work: Path, final: Path) -> None:
        for file in (*work.iterdir(), work):
            flush(file)
        try:
            work.rename(final)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        flush(final.parent)

    def fail(self, trial: Trial, cell: str, error: str) -> None:
        """Records why a run failed."""
        self._replace(
            self.failure_path(trial.hash),
            {
                "run": trial.hash,
                "seed": trial.seed,
                "cell": cell,
                "error": error,
                "when": datetime.now(UTC).isoformat(timespec="seconds"),
                "scenario": trial.scenario,
            },
        )

    def add_study(self, name: str, record: Mapping[str, Any], runs: pl.DataFrame) -> None:
        """Keeps a study and the table of its runs, in place of an older one of that name."""
        file = self.path / "studies" / f"{slug(name)}.json"
        if file.is_file() and read_json(file) == record:
            return
        work = self.path / "tmp" / f"{file.stem}.{secrets.token_hex(4)}.parquet"
        runs.write_parquet(work, compression="zstd")
        flush(work)
        work.replace(file.with_suffix(".parquet"))
        self._replace(file, record)

    def studies(self) -> dict[str, dict[str, Any]]:
        """The records of all studies by the name of their files."""
        files = sorted((self.path / "studies").glob("*.json"))
        return {file.stem: read_json(file) for file in files}

    def study_runs(self, stem: str) -> pl.DataFrame:
        """The runs of a study in their order, whether or not they are there."""
        import polars as pl

        return pl.read_parquet(self.path / "studies" / f"{stem}.parquet", glob=False)

    def _replace(self, file: Path, document: Mapping[str, Any]) -> None:
        work = self.path / "tmp" / f"{file.stem}.{secrets.token_hex(4)}.json"
        _write(work, json.dumps(document, indent=1) + "\n")
        flush(work)
        work.replace(file)


def create_store(path: str | Path) -> RunStore:
    """The store at `path`, made if there is none; raises StoreError if it can't be."""
    directory = Path(path)
    if (directory / MARK).is_file():
        return open_store(directory)
    try:
        if directory.is_dir() and any(
            entry.name not in _FOLDERS for entry in directory.iterdir() if entry.name != MARK
        ):
            remedy = "a new or empty directory, or one of an earlier sweep,"
            raise StoreError.at(str(path), "something that is no store of runs", remedy)
        for folder in _FOLDERS:
            (directory / folder).mkdir(parents=True, exist_ok=True)
        work = directory / "tmp" / f"{secrets.token_hex(4)}.json"
        _write(work, json.dumps({"format": FORMAT}) + "\n")
        work.replace(directory / MARK)
    except OSError as error:
        raise unwritable(error, directory) from error
    return RunStore(directory)


def open_store(path: str | Path) -> RunStore:
    """The store at `path`; raises StoreError if there is none."""
    directory = Path(path)
    remedy = "the directory of a sweep"
    if not directory.is_dir():
        found = "a file" if directory.exists() else "no such directory"
        raise StoreError.at(str(path), found, remedy)
    if not (directory / MARK).is_file():
        raise StoreError.at(str(path), f"a directory without {MARK}", remedy)
    if read_json(directory / MARK).get("format") != FORMAT:
        raise StoreError.at(str(path), "a store of another version of narrows", "a fresh sweep")
    return RunStore(directory)


def is_store(path: str | Path) -> bool:
    """Whether a directory is a store of runs."""
    return (Path(path) / MARK).is_file()


def unwritable(error: OSError, directory: Path) -> StoreError:
    """The error of a directory that can't be written."""
    reason = error.strerror or str(error)
    remedy = "a directory that can be written (--out DIR)"
    return StoreError.at(str(error.filename or directory), reason, remedy)


def slug(name: str) -> str:
    """A file name for what a person calls something."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.")[:80] or "study"


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file of a store; raises StoreError if it can't be read."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        remedy = "`narrows store verify --remove` and another sweep"
        raise StoreError.at(str(path), f"an unreadable file ({error})", remedy) from None
    return document if isinstance(document, dict) else {}


def digest_of(file: Path) -> str:
    """BLAKE2b of a file's content, as 32 hexadecimal digits."""
    digest = blake2b(digest_size=16)
    digest.update(file.read_bytes())
    return digest.hexdigest()


def _record(trial: Trial, result: RunResult, work: Path) -> dict[str, Any]:
    files = sorted(file for file in work.iterdir() if file.name != RUN)
    return {
        "run": trial.hash,
        "seed": trial.seed,
        **asdict(result.info),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": {file.name: digest_of(file) for file in files},
    }


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
