"""A run of a store, whose tables are read on first use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from narrows.late import pl
from narrows.spec.scenario import Scenario
from narrows.store.on_use import TablesOnUse
from narrows.store.read import StoredTrial
from narrows.store.run_parts import RunParts

if TYPE_CHECKING:
    from narrows.columns import Columns


def run_tables(store: RunParts, key: str) -> TablesOnUse[pl.DataFrame]:
    """Returns the tables of a run in a store."""

    def read(name: str) -> pl.DataFrame:
        found = store.table(key, name)
        if found is None:
            raise KeyError(name)
        return found

    return TablesOnUse(sorted(store.tables_of(key)), read)


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
    def tables(self) -> TablesOnUse[pl.DataFrame]:
        """Its tables as frames, each read on first use."""
        return run_tables(self.store, self.key)

    @cached_property
    def columns(self) -> TablesOnUse[Columns]:
        """The tables as plain columns."""
        from narrows.columns import columns

        tables = self.tables
        return TablesOnUse(tables, lambda name: columns(tables[name]))
