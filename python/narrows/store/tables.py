"""The tables of a stored run by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from narrows.store.protocol import Store

if TYPE_CHECKING:
    import polars as pl

    from narrows.columns import Columns


class RunTables(Mapping[str, "pl.DataFrame"]):
    """The tables of a run in a store, each read on first use."""

    def __init__(self, store: Store, key: str) -> None:
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
    """The same as plain columns."""

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
