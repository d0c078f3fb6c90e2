"""A store of runs, addressed by what determines them: scenario, seed, back end, engine.

    DIR or URL/
        store.json              the format
        parts/part-NUMBER/      the tables of many runs: see `narrows.store.parts`
        studies/NAME.json       a study as it was last swept
        studies/NAME.parquet    its runs: combination, trial, seed, hash, a column for each axis
        failures/HASH.json      why a run failed, until it succeeds

`narrows.store.folders` keeps the files in a directory, `narrows.store.objects` in object storage.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from narrows.errors import StoreError
from narrows.late import pl
from narrows.plan import Trial
from narrows.store import shapes
from narrows.store.medium import MEND, as_json, read_document
from narrows.store.parquet import SUFFIX, damage_of, parquet_bytes
from narrows.store.parts import FinishedRun
from narrows.store.records import RunInfo
from narrows.store.run_parts import RunParts
from narrows.store.slug import slug
from narrows.store.stored_run import StoredRun


class Store(RunParts):
    """Runs by hash in parts, studies by name, records of failures."""

    @property
    def directory(self) -> Path | None:
        """Its directory; None in object storage."""
        return self.files.directory

    def stored_run(self, trial: Trial) -> StoredRun:
        """Returns a run with its tables, each read on first use."""
        info, names = self.info(trial.hash), RunInfo.__dataclass_fields__
        known = RunInfo(**{name: value for name, value in info.items() if name in names})
        files = frozenset(f"{name}{SUFFIX}" for name in self.tables_of(trial.hash))
        place = self.place_of(trial.hash).parent
        return StoredRun(trial.number, place, known, files, self, trial.hash)

    def add_part(self, entries: Sequence[FinishedRun]) -> None:
        """Adds runs as a part that appears at once; they no longer count as failed."""
        super().add_part(entries)
        self.forget_failures(entry.key for entry in entries)

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """Yields True if we own the run until the end of the block."""
        return self.files.claim(key)

    def leftovers(self, remove: bool = False) -> list[str]:
        """Leftovers of killed processes."""
        return self.files.leftovers(remove)

    def fail(self, trial: Trial, cell: str, error: str) -> None:
        """Records why a run failed."""
        record = {
            "run": trial.hash,
            "seed": trial.seed,
            "cell": cell,
            "error": error,
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "scenario": trial.scenario,
        }
        self.files.write(_failure(trial.hash), as_json(record))

    def failures(self) -> dict[str, dict[str, Any]]:
        """Returns the records of failed runs by hash."""
        return {key: self.failure(key) for key in self.failure_keys()}

    def failure_keys(self) -> list[str]:
        """Returns the hashes of failed runs, ascending."""
        return self._stems("failures")

    def failure(self, key: str) -> dict[str, Any]:
        """Returns the record of a failed run; raises StoreError for one that can't be read."""
        return read_document(self.files, _failure(key), shapes.FAILURE)

    def failure_since(self, key: str, moment: float) -> str | None:
        """Returns why a run failed, if it failed after a moment of the clock (seconds)."""
        when = self.files.modification_time(_failure(key))
        return None if when is None or when < moment else str(self.failure(key)["error"])

    def forget_failures(self, keys: Iterable[str]) -> None:
        """Removes the records of failures."""
        self.files.remove(map(_failure, keys))

    def add_study(self, name: str, record: Mapping[str, Any], runs: pl.DataFrame) -> None:
        """Keeps a study and the table of its runs, replacing an older one of that name."""
        stem = slug(name)
        known = f"studies/{stem}.json"
        if self.files.has(known) and read_document(self.files, known, None) == record:
            return
        self.files.write(f"studies/{stem}{SUFFIX}", parquet_bytes(runs))
        self.files.write(known, as_json(record))

    def studies(self) -> dict[str, dict[str, Any]]:
        """Returns the records of all studies by the name of their files."""
        return {stem: self.study(stem) for stem in self.study_stems()}

    def study_stems(self) -> list[str]:
        """Returns the names of the files of all studies, ascending."""
        return self._stems("studies")

    def study(self, stem: str) -> dict[str, Any]:
        """Returns the record of a study; raises StoreError for one that can't be read."""
        return read_document(self.files, f"studies/{stem}.json", shapes.STUDY)

    def study_runs(self, stem: str) -> pl.DataFrame:
        """Returns the runs of a study in order, whether or not they are stored."""
        place = self.files.place(f"studies/{stem}{SUFFIX}")
        try:
            with damage_of(str(place)), self.files.open(f"studies/{stem}{SUFFIX}") as file:
                return pl.read_parquet(file)
        except OSError as error:
            raise StoreError.at(str(place), f"no table ({error.strerror})", MEND) from None
        except StoreError as error:
            raise StoreError.at(str(place), error.problems[0].found, MEND) from None

    def drop_study(self, stem: str) -> None:
        """Removes the record and the table of a study; its runs stay."""
        self.files.remove([f"studies/{stem}.json", f"studies/{stem}{SUFFIX}"])

    def _stems(self, folder: str) -> list[str]:
        """Returns the names of the documents in a folder, ascending."""
        names = self.files.names(folder)
        return [name.removesuffix(".json") for name in names if name.endswith(".json")]


def _failure(key: str) -> str:
    return f"failures/{key}.json"
