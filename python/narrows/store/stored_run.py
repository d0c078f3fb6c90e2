"""A run of a store, whose tables are read on first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from narrows.late import pl
from narrows.spec.scenario import Scenario
from narrows.store.read import StoredTrial
from narrows.store.run_parts import RunParts

if TYPE_CHECKING:
    from narrows.columns import Columns


class RunTables(Mapping[str, "pl.DataFrame"]):
    """The tables of a run in a store, each read on first use."""

    def __init__(self, store: RunParts, key: str) -> None:
        self._store, self._key = store, key
        self._read: dict[str, pl.DataFrame] = {}

    def __getitem__(self, name: str) -> pl.DataFrame:
        """Raises KeyError for a table that the run didn't record."""
        if name not in self._read:
            found = self._store.table(self._key, name)
            if found is None:
                raise KeyError(name)
            self._read[name] = found
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._store.tables_of(self._key)))

    def __len__(self) -> int:
        return len(self._store.tables_of(self._key))


class RunColumns(Mapping[str, "Columns"]):
    """The tables of a run as plain columns."""

    def __init__(self, tables: RunTables) -> None:
        self._tables = tables

    def __getitem__(self, name: str) -> Columns:
        """Raises KeyError for a table that the run didn't record."""
        from narrows.columns import columns

        return columns(self._tables[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


@dataclass(frozen=True)
class StoredRun(StoredTrial):
    """A run of a store."""

    store: RunParts
    key: str

    @cached_property
    def scenario(self) -> Scenario:
        """The complete scenario of the run."""
        return self.store.scenario(self.key)

    @cached_property
    def tables(self) -> RunTables:  # type: ignore[override]
        """Its tables as frames, each read on first use."""
        return RunTables(self.store, self.key)

    @cached_property
    def columns(self) -> RunColumns:  # type: ignore[override]
        """The tables as plain columns."""
        return RunColumns(self.tables)
