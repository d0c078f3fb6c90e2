"""The interface of every store of runs, on a disk or in object storage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from narrows.spec.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

    from narrows.plan import Trial
    from narrows.store.records import RunResult


class Store(Protocol):
    """Runs by hash, studies by name, records of failures, and the parts of the index.

    A run is complete or absent. `str(store)` is its directory or URL.
    """

    def __contains__(self, key: str) -> bool: ...

    def keys(self) -> set[str]:
        """The hashes of all complete runs."""

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """Whether we own the run until the end of the block."""

    def add(
        self, trial: Trial, result: RunResult, tables: Mapping[str, pl.DataFrame]
    ) -> dict[str, Any]:
        """Stores a run with further `tables`; call it inside `claim`. Returns its `run.json`."""

    def info(self, key: str) -> dict[str, Any]:
        """The contents of `run.json`: the engine, the digest, the cost of the run."""

    def scenario(self, key: str) -> Scenario:
        """What ran, complete."""

    def tables_of(self, key: str) -> set[str]:
        """The names of the tables of a run."""

    def schema(self, key: str, name: str) -> Mapping[str, pl.DataType]:
        """The columns of a table that the run has."""

    def table(self, key: str, name: str) -> pl.DataFrame | None:
        """A table of a run; None if the run hasn't got it."""

    def digest(self, key: str, name: str) -> str | None:
        """The current digest of a file of a run; None if the file is missing."""

    def discard(self, key: str) -> None:
        """Removes a run."""

    def fail(self, trial: Trial, cell: str, error: str) -> None:
        """Records why a run failed."""

    def failures(self) -> dict[str, dict[str, Any]]:
        """The records of failed runs by hash."""

    def failure_keys(self) -> list[str]:
        """The hashes of failed runs, ascending."""

    def failure(self, key: str) -> dict[str, Any]:
        """The record of a failed run; raises StoreError for one that can't be read."""

    def failure_since(self, key: str, moment: float) -> str | None:
        """Why a run failed, if it failed after a moment of the system's clock (seconds)."""

    def forget_failures(self, keys: Iterable[str]) -> None:
        """Removes the records of failures."""

    def leftovers(self, remove: bool = False) -> list[str]:
        """Leftovers of killed processes."""

    def add_study(self, name: str, record: Mapping[str, Any], runs: pl.DataFrame) -> None:
        """Keeps a study and the table of its runs, replacing an older one of that name."""

    def studies(self) -> dict[str, dict[str, Any]]:
        """The records of all studies by the name of their files."""

    def study_stems(self) -> list[str]:
        """The names of the files of all studies, ascending."""

    def study(self, stem: str) -> dict[str, Any]:
        """The record of a study; raises StoreError for one that can't be read."""

    def study_runs(self, stem: str) -> pl.DataFrame:
        """The runs of a study in their order, whether or not they are there."""

    def drop_study(self, stem: str) -> None:
        """Removes the record and the table of a study; its runs stay."""

    def parts(self) -> list[str]:
        """The names of the index's parts."""

    def part(self, name: str, table: str, columns: list[str] | None = None) -> pl.DataFrame:
        """A table of a part; raises FileNotFoundError if another process removed it."""

    def add_part(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Adds a part atomically."""

    def drop_parts(self, names: Iterable[str]) -> None:
        """Removes parts of the index."""
