"""Reads results directories."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from narrows.errors import StoreError
from narrows.files import read_contained
from narrows.late import pl
from narrows.spec.scenario import Scenario
from narrows.store import shapes
from narrows.store.inside import MANIFEST, inner_results, kind_of
from narrows.store.intact import FILES, check_captures, check_intact
from narrows.store.on_use import TablesOnUse
from narrows.store.parquet import SUFFIX, check_rows_of, read_columns, read_parquet
from narrows.store.records import CaptureOptions, RunInfo
from narrows.store.shapes import check_shape

if TYPE_CHECKING:
    from narrows.columns import Columns

SPEC = "spec.toml"
INPUTS = "inputs"
"""The folder of copies of the files that the specification refers to."""
SUMMARY = "summary.json"
SUMMARY_TABLE = "summary.csv"
SCENARIO = "scenario.json"
CAPTURES = "captures"
FORMAT = 1
"""The version of the directory's layout; a reader refuses any other."""
MOST = 1 << 28
"""The most bytes that are read of a text in a result or a store."""


_SAMPLES = ("_samples", "internals")
_EACH = 32
"""The most rows of a flow or link at an instant: internals have one for each of a control's."""


def most_samples(scenario: Scenario) -> int:
    """Returns the most rows of a sampled table: a row for each flow or link, and for each state."""
    run, flows = scenario["run"], len(scenario["flows"])
    instants = run["duration_ns"] // max(run["sample_interval_ns"], 1) + 3
    return _EACH * instants * (flows + _EACH)


@dataclass(frozen=True)
class StoredTrial:
    """A run of a result: its number from 1 on, its scenario, its tables.

    `files` are the names of the files that the run wrote; others in its directory aren't read.
    """

    number: int
    path: Path
    info: RunInfo
    files: frozenset[str]

    @cached_property
    def scenario(self) -> Scenario:
        """The complete scenario of the run."""
        document = _json(self.path / SCENARIO)
        check_shape(document, shapes.SCENARIO, self.path / SCENARIO)
        return cast("Scenario", document)

    @cached_property
    def tables(self) -> TablesOnUse[pl.DataFrame]:
        """`flow_samples`, `queue_samples` and the others that were recorded, as frames."""
        return TablesOnUse(self._names(), lambda name: read_parquet(self._file(name)))

    @cached_property
    def columns(self) -> TablesOnUse[Columns]:
        """The tables as plain columns, without polars."""
        return TablesOnUse(self._names(), lambda name: read_columns(self._file(name)))

    def _names(self) -> list[str]:
        names = (file for file in self.files if file.endswith(SUFFIX) and "/" not in file)
        return [name.removesuffix(SUFFIX) for name in sorted(names)]

    def _file(self, name: str) -> Path:
        """Returns the file of a table; raises StoreError if it has more rows than its run gives."""
        file = self.path / f"{name}{SUFFIX}"
        check_rows_of(file, most_samples(self.scenario) if name.endswith(_SAMPLES) else 0)
        return file

    @property
    def captures(self) -> list[Path]:
        """The files of its captures; empty if the run wrote none."""
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
    def capture_options(self) -> CaptureOptions:
        """The captures of its runs."""
        return CaptureOptions(**self.manifest.get("captures", {}))

    @property
    def spec(self) -> str:
        """The specification as run, as TOML."""
        return read_contained(self.path / SPEC, MOST).decode()

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The numbers of each trial, in `runs`, each with its scenario."""
        document = _json(self.path / SUMMARY)
        check_shape(document, shapes.SUMMARY, self.path / SUMMARY)
        return document

    @cached_property
    def trials(self) -> list[StoredTrial]:
        """The runs, in the order of their numbers."""
        return [self._trial(trial) for trial in self.manifest["trials"]]

    def _trial(self, trial: Mapping[str, Any]) -> StoredTrial:
        name = f"trial-{int(trial['number'])}"
        own = (file for file in self.manifest[FILES] if file.startswith(f"{name}/"))
        files = frozenset(file.removeprefix(f"{name}/") for file in own)
        return StoredTrial(trial["number"], self.path / name, self._info(trial), files)

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
    """Opens the result in the directory at `path`; raises StoreError if there is none."""
    directory = Path(path)
    remedy = "a results directory, such as narrows-results/NAME-HASH,"
    if not directory.is_dir():
        found = "a file" if directory.exists() else "no such directory"
        raise StoreError.at(str(path), found, remedy)
    if not (directory / MANIFEST).is_file():
        kind = kind_of(directory) or f"a directory without {MANIFEST}"
        raise StoreError.at(str(path), kind, inner_results(directory) or remedy)
    manifest = _json(directory / MANIFEST)
    if manifest.get("format") != FORMAT:
        raise StoreError.at(str(path), "a result of another version of narrows", "a fresh run")
    check_intact(manifest, directory, MANIFEST)
    check_shape(manifest, shapes.MANIFEST, directory / MANIFEST)
    return Result(directory, manifest)


def find_result(path: Path, key: str, version: str) -> Result | None:
    """Returns the result at `path` if it is complete, has the hash `key` and this `version`."""
    try:
        result = open_result(path)
        check_captures(result.manifest, path)
    except StoreError:
        return None
    same = result.manifest.get("hash") == key and result.manifest.get("version") == version
    return result if same else None


def _json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(read_contained(path, MOST))
    except (OSError, ValueError) as error:
        raise StoreError.at(str(path), f"an unreadable file ({error})", "a fresh run") from None
    except RecursionError:
        raise StoreError.at(str(path), "JSON nested too deeply", "a fresh run") from None
    return document if isinstance(document, dict) else {}
