"""A store of runs, addressed by what determines them: scenario, seed, back end, engine.

    DIR/
        store.json              the format
        parts/part-NUMBER/      the tables of many runs: see `narrows.store.parts`
        studies/NAME.json       a study as it was last swept
        studies/NAME.parquet    its runs: combination, trial, seed, hash, a column for each axis
        failures/HASH.json      why a run failed, until it succeeds
        locks/, tmp/            of the processes that are at work, see `narrows.store.owned`

A run is complete or absent: its part is written under `tmp`, flushed to disk, and gets its name by
a single rename. Several processes may share a store: each writes its own parts. Small parts are
merged later, into one that names those which it replaces.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.errors import StoreError
from narrows.files import read_own
from narrows.plan import Trial
from narrows.store import shapes
from narrows.store.atomic import flush
from narrows.store.folders import PARTS, PartFolders
from narrows.store.locks import claim, free_locks
from narrows.store.owned import remove_abandoned, workshop
from narrows.store.parquet import read_parquet, write_parquet
from narrows.store.parted import MEND, PartStore
from narrows.store.read import MOST
from narrows.store.shapes import check_shape
from narrows.store.slug import slug

if TYPE_CHECKING:
    import polars as pl

MARK = "store.json"
FORMAT = 2
"""The version of the store's layout; a reader refuses another."""
FOLDERS = (PARTS, "studies", "failures", "locks", "tmp")
PAGES = "pages"
"""The folder of the pages of single runs."""


class RunStore(PartStore):
    """The store in the directory `path`."""

    def __init__(self, path: Path) -> None:
        super().__init__(PartFolders(path))
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def failure_path(self, key: str) -> Path:
        """Where the record of a failure is, if there is one."""
        return self.path / "failures" / f"{key}.json"

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

    def leftovers(self, remove: bool = False) -> list[str]:
        """Leftovers of killed processes; work in progress is locked, and left alone."""
        folder, locks = self.path / "tmp", self.path / "locks"
        gone = [path.name for path in remove_abandoned(folder, remove)]
        return [*gone, *(path.name for path in free_locks(locks, remove))]

    def workshop(self) -> AbstractContextManager[Path]:
        """A working directory of this process for something that will get its name later."""
        return workshop(self.path / "tmp")

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
