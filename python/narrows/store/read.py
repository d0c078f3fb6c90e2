"""Reads results directories."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from narrows.errors import StoreError
from narrows.spec.scenario import Scenario
from narrows.store.intact import check_intact
from narrows.store.parquet import read_columns, read_parquet
from narrows.store.records import CaptureOptions, RunInfo

if TYPE_CHECKING:
    import polars as pl

    from narrows.columns import Columns

MANIFEST = "manifest.json"
SPEC = "spec.toml"
SUMMARY = "summary.json"
SUMMARY_TABLE = "summary.csv"
SCENARIO = "scenario.json"
CAPTURES = "captures"
FORMAT = 1
"""The version of the directory's layout; a reader refuses another."""


Form = TypeVar("Form")


class StoredTables(Mapping[str, Form], Generic[Form]):
    """The tables of a trial by name, each read on first use."""

    def __init__(self, directory: Path, read: Callable[[Path], Form]) -> None:
        self._files = {file.stem: file for file in sorted(directory.glob("*.parquet"))}
        self._read, self._known = read, dict[str, Form]()

    def __getitem__(self, name: str) -> Form:
        """Raises KeyError for a table that the run didn't record."""
        if name not in self._known:
            self._known[name] = self._read(self._files[name])
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@dataclass(frozen=True)
class StoredTrial:
    """One run of a result: its number from 1 on, its scenario, its tables."""

    number: int
    path: Path
    info: RunInfo

    @cached_property
    def scenario(self) -> Scenario:
        """What ran, complete."""
        return cast("Scenario", _json(self.path / SCENARIO))

    @cached_property
    def tables(self) -> StoredTables[pl.DataFrame]:
        """`flow_samples`, `queue_samples` and the others that were recorded, as frames."""
        return StoredTables(self.path, read_parquet)

    @cached_property
    def columns(self) -> StoredTables[Columns]:
        """The same as plain columns, without polars."""
        return StoredTables(self.path, read_columns)

    @property
    def captures(self) -> list[Path]:
        """The files of its captures; none if it was run without."""
        return sorted(path for path in (self.path / CAPTURES).glob("*") if path.is_file())


@dataclass(frozen=True)
class Result:
    """A results directory."""

    path: Path
    manifest: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return str(self.manifest["name"])

    @property
    def hash(self) -> str:
        """The hash of everything that determines the result."""
        return str(self.manifest["hash"])

    @property
    def groups(self) -> list[str]:
        """The class of every flow by id: the name of its entry, or its control."""
        return list(self.manifest["groups"])

    @property
    def captured(self) -> CaptureOptions:
        """The captures of its runs."""
        return CaptureOptions(**self.manifest.get("captures", {}))

    @property
    def spec(self) -> str:
        """The specification as run, as TOML."""
        return (self.path / SPEC).read_text(encoding="utf-8")

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The summary as `--json` prints it, with one of `runs` for every trial."""
        return _json(self.path / SUMMARY)

    @cached_property
    def trials(self) -> list[StoredTrial]:
        """The runs, in the order of their numbers."""
        return [
            StoredTrial(trial["number"], self.path / f"trial-{trial['number']}", self._info(trial))
            for trial in self.manifest["trials"]
        ]

    def _info(self, trial: Mapping[str, Any]) -> RunInfo:
        return RunInfo(
            backend=self.manifest["backend"],
            engine=self.manifest["engine"],
            **{name: trial[name] for name in ("digest", "end_s", "packets", "cpu_s", "wall_s")},
            invalid=trial.get("invalid"),
            conditions=trial.get("conditions", {}),
            losses=trial.get("losses"),
        )


def open_result(path: str | Path) -> Result:
    """The result in the directory at `path`; raises StoreError if there is none."""
    directory = Path(path)
    remedy = "a results directory, such as narrows-results/NAME-HASH,"
    if not directory.is_dir():
        found = "a file" if directory.exists() else "no such directory"
        raise StoreError.at(str(path), found, remedy)
    if not (directory / MANIFEST).is_file():
        raise StoreError.at(str(path), f"a directory without {MANIFEST}", remedy)
    manifest = _json(directory / MANIFEST)
    if manifest.get("format") != FORMAT:
        raise StoreError.at(str(path), "a result of another version of narrows", "a fresh run")
    check_intact(manifest, directory, MANIFEST)
    return Result(directory, manifest)


def find_result(path: Path, key: str, version: str) -> Result | None:
    """The complete result at `path` if it has the hash `key` and came from this `version`."""
    try:
        result = open_result(path)
    except StoreError:
        return None
    same = result.manifest.get("hash") == key and result.manifest.get("version") == version
    return result if same else None


def _json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StoreError.at(str(path), f"an unreadable file ({error})", "a fresh run") from None
    except RecursionError:
        raise StoreError.at(str(path), "JSON nested too deeply", "a fresh run") from None
    return document if isinstance(document, dict) else {}
