"""Writes results directories, each complete or not at all."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

from narrows.errors import StoreError
from narrows.plan import Plan, Trial, canonical_json
from narrows.provenance import provenance
from narrows.spec.copies import names_of_copies, refer_to_copies
from narrows.store.atomic import publish, write_text, writing
from narrows.store.cells import harmless
from narrows.store.inside import MANIFEST
from narrows.store.intact import seal
from narrows.store.owned import owned_directory, remove_abandoned
from narrows.store.parquet import parquet_files
from narrows.store.read import (
    CAPTURES,
    FORMAT,
    INPUTS,
    SCENARIO,
    SPEC,
    SUMMARY,
    SUMMARY_TABLE,
    Result,
    find_result,
    open_result,
)
from narrows.store.records import NO_CAPTURES, CaptureOptions, RunRecord
from narrows.store.slug import slug

RESULTS = "narrows-results"
"""The directory of results if none is given."""
_MAX_SLUG = 40
_OWN = re.compile(
    r"manifest\.json|spec\.toml|summary\.(json|csv)|checks\.json|report\.html"
    r"|replay\.json|(figure|sequence)\.(png|svg)|trial-\d+|inputs|\..*"
)
"""The names in a results directory; hidden names are work in progress."""


def default_directory(plan: Plan) -> Path:
    """Returns `narrows-results/NAME-HASH8` in the current directory."""
    return Path(RESULTS) / f"{slug(plan.name, _MAX_SLUG, 'run')}-{plan.hash[:8]}"


@dataclass
class Draft:
    """A result that is being written, at `path` until it is published."""

    path: Path
    final: Path
    plan: Plan
    version: str
    command: Sequence[str]
    captures: CaptureOptions
    _runs: dict[int, dict[str, Any]] = field(default_factory=dict)

    def captures_directory(self, trial: Trial) -> Path:
        """An empty directory for the captures of a run."""
        directory = self._trial(trial) / CAPTURES
        directory.mkdir()
        return directory

    def _trial(self, trial: Trial) -> Path:
        directory = self.path / f"trial-{trial.number}"
        directory.mkdir(exist_ok=True)
        return directory

    def add_trial(self, trial: Trial, result: RunRecord) -> None:
        """Writes the scenario, tables and further files of one run."""
        directory = self._trial(trial)
        _write(directory / SCENARIO, canonical_json(trial.scenario) + "\n")
        for name, pieces in parquet_files(result.tables):
            with (directory / name).open("wb") as file:
                file.writelines(pieces)
        for name, content in result.files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_bytes(content)
        info = asdict(result.info)
        entry = {"number": trial.number, "seed": trial.seed, "scenario_hash": trial.hash, **info}
        if result.captures:
            entry["captures"] = dict(result.captures)
        self._runs[trial.number] = entry

    def finish(
        self, spec: str, summary: Mapping[str, Any], files: Mapping[str, str] | None = None
    ) -> Result:
        """Writes the files about all trials; from then on `path` can be read as a result.

        `files` are the texts of the files that the specification refers to, which are copied.
        """
        copies = names_of_copies(files or {}, INPUTS)
        _write(self.path / SPEC, refer_to_copies(spec, copies))
        write_copies(self.path, copies, files or {})
        _write(self.path / SUMMARY, json.dumps(summary, indent=1, allow_nan=False) + "\n")
        _write(self.path / SUMMARY_TABLE, summary_csv(summary["runs"]))
        _write(self.path / MANIFEST, json.dumps(seal(self._manifest(), self.path), indent=1) + "\n")
        return open_result(self.path)

    def _manifest(self) -> dict[str, Any]:
        runs = [self._runs[number] for number in sorted(self._runs)]
        common = {name: runs[0][name] for name in ("backend", "engine")}
        return {
            "format": FORMAT,
            "name": self.plan.name,
            "hash": self.plan.hash,
            "version": self.version,
            **common,
            **({"captures": asdict(self.captures)} if self.captures else {}),
            "groups": list(self.plan.groups),
            "trials": [
                {name: value for name, value in run.items() if name not in common} for run in runs
            ],
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "provenance": provenance(),
            "command": list(self.command),
        }

    def publish(self) -> Result:
        """Makes the directory the result; raises StoreError if another process was first."""
        publish(self.path, self.final)
        return open_result(self.final)


@contextmanager
def new_result(
    final: Path,
    plan: Plan,
    version: str,
    command: Sequence[str],
    force: bool = False,
    captures: CaptureOptions = NO_CAPTURES,
) -> Iterator[Draft]:
    """Yields a draft of the result at `final`; it is removed unless published.

    Raises StoreError if `final` holds something other than a result of the same experiment, or
    holds a result and `force` isn't set.
    """
    _check_place(final, plan, version, force)
    if final.is_symlink():
        final = final.resolve()
    remove_abandoned(final.parent)
    with writing(final), owned_directory(final) as partial:
        yield Draft(partial, final, plan, version, command, captures)


def _check_place(final: Path, plan: Plan, version: str, force: bool) -> None:
    if final.is_symlink() and not final.exists():
        raise StoreError.at(str(final), "a link that leads nowhere", "a directory (--out DIR)")
    if not final.exists() or (final.is_dir() and not any(final.iterdir())):
        return
    if not (final / MANIFEST).is_file():
        remedy = "a new or empty directory, or an older result with --force,"
        raise StoreError.at(str(final), "something other than a result", remedy)
    if force:
        _check_only_results(final)
    elif find_result(final, plan.hash, version) is None:
        remedy = "another directory, or --force to replace it,"
        raise StoreError.at(str(final), _describe_existing(final), remedy)


def _check_only_results(final: Path) -> None:
    """Raises StoreError for other files in a result's directory, which would be lost."""
    others = sorted(path.name for path in final.iterdir() if not _OWN.fullmatch(path.name))
    if others:
        found = f"also {others[0]}" + (f" and {len(others) - 1} more" if others[1:] else "")
        remedy = "a result alone, since --force replaces the whole directory,"
        raise StoreError.at(str(final), found, remedy)


def _describe_existing(final: Path) -> str:
    """Describes what exists in place of the result of an experiment."""
    try:
        open_result(final)
    except StoreError as error:
        return f"a damaged result ({Path(error.place).name}: {error.problems[0].found})"
    return "the result of another experiment"


def write_copies(directory: Path, copies: Mapping[str, str], files: Mapping[str, str]) -> None:
    """Writes the texts of files under the names of their copies in a directory."""
    for name, copy in copies.items():
        place = directory / copy
        place.parent.mkdir(exist_ok=True)
        write_text(place, files[name])


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def summary_csv(runs: Iterable[Mapping[str, Any]]) -> str:
    """Returns every flow of every run as a row, with nested values spread over columns."""
    rows = [
        {"trial": trial, "seed": run["seed"], **_flat(flow)}
        for trial, run in enumerate(runs, start=1)
        for flow in run["flows"]
    ]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    file = StringIO(newline="")
    writer = csv.DictWriter(file, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: harmless(cell) for name, cell in row.items()} for row in rows)
    return file.getvalue()


def _flat(flow: Mapping[str, Any]) -> dict[str, Any]:
    nested = ("rtt_ms", "one_way_ms", "workload")
    plain = {name: value for name, value in flow.items() if name not in nested}
    times = _spread("rtt", "ms", flow["rtt_ms"]) | _spread("owd", "ms", flow.get("one_way_ms", {}))
    return plain | times | _workload(flow.get("workload", {}))


def _workload(seen: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the application's metrics; its kind is named as in the table `flows`."""
    times = _spread("completion", "s", seen.get("completion_s", {}))
    rest = {("workload" if name == "kind" else name): value for name, value in seen.items()}
    return {name: value for name, value in rest.items() if name != "completion_s"} | times


def _spread(quantity: str, unit: str, values: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{quantity}_{name}_{unit}": value for name, value in values.items()}
