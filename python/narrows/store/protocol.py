"""The interface of every store of runs, on a disk or in object storage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from narrows.spec.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

    from narrows.plan import Trial
    from narrows.store.parts import Entry


class Store(Protocol):
    """Runs by hash in parts, studies by name, records of failures.

    A run is complete or absent. `str(store)` is its directory or URL.
    """

    def __contains__(self, key: str) -> bool: ...

    def keys(self) -> set[str]:
        """The hashes of all complete runs."""

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """Whether we own the run until the end of the block."""

    def add_part(self, entries: Sequence[Entry]) -> None:
        """Stores runs as a part; call it while they are claimed."""

    def merge(self, least: int) -> None:
        """Merges small parts if there are more than `least`, unless another process does."""

    def info(self, key: str) -> dict[str, Any]:
        """The record of a run: the engine, the digest, the cost."""

    def scenario(self, key: str) -> Scenario:
        """What ran, complete."""

    def tables_of(self, key: str) -> set[str]:
        """The names of the tables of a run."""

    def schema(self, key: str, name: str) -> Mapping[str, pl.DataType]:
        """The columns of a table that the run has."""

    def table(self, key: str, name: str) -> pl.DataFrame | None:
        """A table of a run; None if the run hasn't got it."""

    def rows(self, name: str) -> pl.DataFrame:
        """A table of all runs ("runs", "summary" or "flows"), with the column `run`."""

    def discard(self, *keys: str) -> None:
        """Removes runs."""

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
        """The names of the parts that hold runs."""

    def damaged_parts(self) -> Iterator[tuple[str, str]]:
        """The parts that can't be read or have changed, each with what is wrong."""

    def drop_parts(self, names: Iterable[str]) -> None:
        """Removes parts with their runs."""
