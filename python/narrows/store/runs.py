"""A store of runs, addressed by what determines them: scenario, seed, back end, engine.

    DIR/
        store.json              the format
        runs/run=HASH/          run.json, scenario.json, the tables as Parquet
        studies/NAME.json       a study as it was last swept
        studies/NAME.parquet    its runs: combination, trial, seed, hash, a column for each axis
        failures/HASH.json      why a run failed, until it succeeds
        index/ the most-used tables, see `narrows.store.index`
        locks/, tmp/            of the processes that are at work, see `narrows.store.owned`

A run is complete or absent: it is written under `tmp`, flushed to disk, and gets its name by a
single rename. Several processes may share a store. `run=HASH` is a partition that polars and DuckDB
read as a column.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from narrows.errors import StoreError
from narrows.files import open_regular, read_own
from narrows.plan import Trial, canonical_json
from narrows.spec.scenario import Scenario
from narrows.store import shapes
from narrows.store.atomic import flush, flush_all
from narrows.store.locks import claim, free_locks
from narrows.store.owned import remove_abandoned, workshop
from narrows.store.parquet import parquet_files, read_parquet, read_schema, write_parquet
from narrows.store.read import MOST, SCENARIO, StoredTrial
from narrows.store.records import RunInfo
from narrows.store.shapes import check_shape
from narrows.store.slug import slug

if TYPE_CHECKING:
    import polars as pl

    from narrows.store.records import RunResult

MARK = "store.json"
RUN = "run.json"
FORMAT = 1
"""The version of the store's layout; a reader refuses another."""
FOLDERS = ("runs", "studies", "failures", "index", "locks", "tmp")
PAGES = "pages"
"""The folder of the pages of single runs."""
_PREFIX = "run="
MEND = "`narrows store check --remove` and another sweep"


class RunStore:
    """The store in the directory `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def run_path(self, key: str) -> Path:
        """Where the run with the hash `key` is, or will be."""
        return self.path / "runs" / f"{_PREFIX}{key}"

    def failure_path(self, key: str) -> Path:
        """Where the record of a failure is, if there is one."""
        return self.path / "failures" / f"{key}.json"

    def __contains__(self, key: str) -> bool:
        path = self.run_path(key)
        return path.is_dir() and not path.is_symlink()

    def keys(self) -> set[str]:
        """The hashes of all complete runs, from one listing of the directory."""
        with os.scandir(self.path / "runs") as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return {name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)}

    def failures(self) -> dict[str, dict[str, Any]]:
        """The records of failed runs by hash."""
        return {key: self.failure(key) for key in self.failure_keys()}

    def failure_keys(self) -> list[str]:
        """The hashes of failed runs, ascending."""
        return sorted(file.stem for file in (self.path / "failures").glob("*.json"))

    def failure(self, key: str) -> dict[str, Any]:
        """The record of a failed run."""
        return _read_shaped(self.failure_path(key), shapes.FAILURE)

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Whether we own the run until the end of the block."""
        with claim(self.path / "locks" / key) as ours:
            yield ours

    def failure_since(self, key: str, moment: float) -> str | None:
        """Why a run failed, if it failed after a moment of the system's clock (seconds)."""
        file = self.failure_path(key)
        if not file.is_file() or file.stat().st_mtime < moment:
            return None
        return str(read_json(file).get("error", ""))

    def forget_failures(self, keys: Iterable[str]) -> None:
        """Removes the records of failures."""
        for key in keys:
            self.failure_path(key).unlink(missing_ok=True)

    def info(self, key: str) -> dict[str, Any]:
        """The contents of `run.json`: the engine, the digest, the cost of the run."""
        return _read_shaped(self.run_path(key) / RUN, shapes.RUN)

    def scenario(self, key: str) -> Scenario:
        """What ran, complete."""
        return cast("Scenario", _read_shaped(self.run_path(key) / SCENARIO, shapes.SCENARIO))

    def stored(self, trial: Trial) -> StoredTrial:
        """A run with its tables, each read on first use."""
        info, names = self.info(trial.hash), RunInfo.__dataclass_fields__
        known = RunInfo(**{name: value for name, value in info.items() if name in names})
        files = frozenset(info.get("files", {}))
        return StoredTrial(trial.number, self.run_path(trial.hash), known, files)

    def tables_of(self, key: str) -> set[str]:
        """The names of the tables of a run."""
        return {file.stem for file in self.run_path(key).glob("*.parquet")}

    def schema(self, key: str, name: str) -> Mapping[str, pl.DataType]:
        """The columns of a table that the run has."""
        return read_schema(self.run_path(key) / f"{name}.parquet")

    def table(self, key: str, name: str) -> pl.DataFrame | None:
        """A table of a run; None if the run hasn't got it."""
        file = self.run_path(key) / f"{name}.parquet"
        return read_parquet(file) if file.is_file() else None

    def digest(self, key: str, name: str) -> str | None:
        """The current digest of a file of a run; None if the file is missing."""
        file = self.run_path(key) / name
        return _digest_of_file(file) if file.is_file() else None

    def discard(self, key: str) -> None:
        """Removes a run, its name first, so that it is never visible in part."""
        with self.workshop() as room:
            self.run_path(key).rename(room / key)

    def leftovers(self, remove: bool = False) -> list[str]:
        """Leftovers of killed processes; work in progress is locked, and left alone."""
        folder, locks = self.path / "tmp", self.path / "locks"
        gone = [path.name for path in remove_abandoned(folder, remove)]
        return [*gone, *(path.name for path in free_locks(locks, remove))]

    def parts(self) -> list[str]:
        """The names of the index's parts."""
        return sorted(path.name for path in (self.path / "index").glob("part-*"))

    def part(self, name: str, table: str, columns: list[str] | None = None) -> pl.DataFrame:
        """A table of a part; raises FileNotFoundError if another process removed it."""
        return read_parquet(self.path / "index" / name / f"{table}.parquet", columns)

    def add_part(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Adds a part atomically."""
        name = f"part-{secrets.token_hex(8)}"
        with self.workshop() as room:
            work = room / name
            work.mkdir()
            for table, frame in tables.items():
                write_parquet(frame, work / f"{table}.parquet")
            flush_all([work])
            index = self.path / "index"
            index.mkdir(exist_ok=True)
            work.rename(index / name)
            flush(index)

    def drop_parts(self, names: Iterable[str]) -> None:
        """Removes parts of the index."""
        for name in names:
            part = self.path / "index" / name
            if part.is_dir() and not part.is_symlink():
                shutil.rmtree(part, ignore_errors=True)
            else:
                part.unlink(missing_ok=True)

    def add(
        self, trial: Trial, result: RunResult, tables: Mapping[str, pl.DataFrame]
    ) -> dict[str, Any]:
        """Stores a run with further `tables`; if another process was first, its run is kept.

        Call it inside `claim`. Returns the contents of `run.json`.
        """
        with self.workshop() as room:
            record = self.prepare(room, trial, result, tables)
            self.commit(room, [trial.hash])
        return record

    def prepare(
        self, room: Path, trial: Trial, result: RunResult, tables: Mapping[str, pl.DataFrame]
    ) -> dict[str, Any]:
        """Writes a run into a workshop, where `commit` finds it; returns its `run.json`."""
        work = room / trial.hash
        work.mkdir()
        digests = {}
        for name, pieces in run_files(trial, result, tables):
            digests[name] = _write_pieces(work / name, pieces)
        record = record_of(trial, result, digests)
        _write(work / RUN, json_lines(record))
        return record

    def commit(self, room: Path, keys: Iterable[str]) -> None:
        """Gives prepared runs their names once all of them are on the disk."""
        works = {key: room / key for key in keys}
        flush_all(works.values())
        for key, work in works.items():
            self._name(work, self.run_path(key))
            self.failure_path(key).unlink(missing_ok=True)
        flush(self.path / "runs")

    def workshop(self) -> AbstractContextManager[Path]:
        """A working directory of this process for something that will get its name later."""
        return workshop(self.path / "tmp")

    def _name(self, work: Path, final: Path) -> None:
        try:
            work.rename(final)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise

    def fail(self, trial: Trial, cell: str, error: str) -> None:
        """Records why a run failed."""
        self._replace(self.failure_path(trial.hash), failure_of(trial, cell, error))

    def add_study(self, name: str, record: Mapping[str, Any], runs: pl.DataFrame) -> None:
        """Keeps a study and the table of its runs, replacing an older one of that name."""
        file = self.path / "studies" / f"{slug(name)}.json"
        if file.is_file() and read_json(file) == record:
            return
        with self.workshop() as room:
            work = room / f"{file.stem}.parquet"
            write_parquet(runs, work)
            flush(work)
            work.replace(file.with_suffix(".parquet"))
        self._replace(file, record)

    def studies(self) -> dict[str, dict[str, Any]]:
        """The records of all studies by the name of their files."""
        return {stem: self.study(stem) for stem in self.study_stems()}

    def study_stems(self) -> list[str]:
        """The names of the files of all studies, ascending."""
        return sorted(file.stem for file in (self.path / "studies").glob("*.json"))

    def study(self, stem: str) -> dict[str, Any]:
        """The record of a study."""
        return _read_shaped(self.path / "studies" / f"{stem}.json", shapes.STUDY)

    def study_runs(self, stem: str) -> pl.DataFrame:
        """The runs of a study in their order, whether or not they are there."""
        file = self.path / "studies" / f"{stem}.parquet"
        try:
            return read_parquet(file)
        except OSError as error:
            raise StoreError.at(str(file), f"no table ({error.strerror})", MEND) from None
        except StoreError as error:
            raise StoreError.at(str(file), error.found, MEND) from None

    def drop_study(self, stem: str) -> None:
        """Removes the record and the table of a study; its runs stay."""
        with self.workshop() as room:
            for suffix in (".json", ".parquet"):
                file = self.path / "studies" / f"{stem}{suffix}"
                if file.exists() or file.is_symlink():
                    file.rename(room / file.name)

    def _replace(self, file: Path, document: Mapping[str, Any]) -> None:
        with self.workshop() as room:
            work = room / file.name
            _write(work, json.dumps(document, indent=1) + "\n")
            flush(work)
            work.replace(file)


def unwritable(
    error: OSError, place: Path, remedy: str = "a directory that can be written (--out DIR)"
) -> StoreError:
    """The error of a directory, or a file, that can't be written."""
    reason = error.strerror or str(error)
    return StoreError.at(str(error.filename or place), reason, remedy)


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file of a store; raises StoreError if it can't be read."""
    try:
        document = json.loads(read_own(path, MOST))
    except (OSError, ValueError, RecursionError) as error:
        remedy = "`narrows store check --remove`" if path.name == MARK else MEND
        raise StoreError.at(str(path), f"an unreadable file ({error})", remedy) from None
    return document if isinstance(document, dict) else {}


def _read_shaped(path: Path, shape: shapes.Shape) -> dict[str, Any]:
    """The same, which also has a shape."""
    document = read_json(path)
    check_shape(document, shape, path, MEND)
    return document


def json_lines(record: Mapping[str, Any]) -> str:
    """A record as JSON with an entry per line, which is faster than full indentation."""
    lines = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in record.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def digest_of(content: bytes) -> str:
    """BLAKE2b of a file's content, as 32 hexadecimal digits."""
    return blake2b(content, digest_size=16).hexdigest()


def _write_pieces(path: Path, pieces: Iterable[bytes]) -> str:
    """Writes a file; returns the digest of its content."""
    digest = blake2b(digest_size=16)
    with path.open("wb") as file:
        for piece in pieces:
            file.write(piece)
            digest.update(piece)
    return digest.hexdigest()


def _digest_of_file(path: Path) -> str:
    """The same of a file, which needn't fit into memory."""
    with open_regular(path, follow=False) as file:
        return file_digest(file, partial(blake2b, digest_size=16)).hexdigest()


def run_files(
    trial: Trial, result: RunResult, tables: Mapping[str, pl.DataFrame]
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The names and contents, in pieces, of the files of a run, without `run.json`."""
    yield SCENARIO, [(canonical_json(trial.scenario) + "\n").encode()]
    yield from parquet_files(result.tables)
    yield from parquet_files(tables)


def record_of(trial: Trial, result: RunResult, digests: Mapping[str, str]) -> dict[str, Any]:
    """The contents of `run.json`, with the digests of all other files of the run."""
    return {
        "run": trial.hash,
        "seed": trial.seed,
        **asdict(result.info),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": dict(sorted(digests.items())),
    }


def failure_of(trial: Trial, cell: str, error: str) -> dict[str, Any]:
    """The record of a failure."""
    return {
        "run": trial.hash,
        "seed": trial.seed,
        "cell": cell,
        "error": error,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "scenario": trial.scenario,
    }


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
