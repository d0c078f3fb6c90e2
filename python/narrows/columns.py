"""Tables as columns: as arrays, and as the native module declares them for every back end.

Code that makes a table itself (from a kernel's files, a capture or another program's results) makes
it here, so that names, types and order are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from narrows import _native
from narrows._native import ArrowTable
from narrows.late import pl

Floats: TypeAlias = NDArray[np.float64]
"""Numbers, NaN where one is unknown."""
Table: TypeAlias = "Columns | ArrowTable | pl.DataFrame"
"""A table in any form."""
Tables: TypeAlias = Mapping[str, "Columns | ArrowTable | pl.DataFrame"]


@cache
def schema(table: str) -> Mapping[str, pl.DataType]:
    """Returns the columns of a table by name, in order; raises KeyError for an unknown table."""
    types = {
        "float64": pl.Float64(),
        "uint32": pl.UInt32(),
        "uint64": pl.UInt64(),
        "text": pl.String(),
        "flag": pl.Boolean(),
    }
    declared = {entry["name"]: entry["columns"] for entry in _native.tables()}
    return {column["name"]: types[column["type"]] for column in declared[table]}


def empty(table: str) -> pl.DataFrame:
    """Returns the table without rows."""
    return pl.DataFrame(schema=dict(schema(table)))


def compute_table(table: str, rows: pl.DataFrame, known: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """Computes each column of the table by its expression over `rows`; null without an expression.

    Raises ValueError for a column that the table doesn't have.
    """
    columns = schema(table)
    if others := known.keys() - columns.keys():
        raise ValueError(f"{table} has no column {', '.join(sorted(others))}")
    null = pl.lit(None)
    return rows.select(
        known.get(name, null).cast(kind).alias(name) for name, kind in columns.items()
    )


class Columns:
    """Columns of equal length by name, each an array that is read on use, usually only once.

    Numbers with nulls become floats with NaN in place of nulls; texts become objects with None.
    Metrics and the figures of runs compute on these columns, whether the table comes from the
    native module or is a frame: only studies need polars, a run does without.
    """

    def __init__(
        self,
        names: Sequence[str],
        read: Callable[[str], NDArray[Any]],
        length: int,
        rows: NDArray[np.intp] | None = None,
        parts: Callable[[], Iterator[Columns]] | None = None,
        source: ArrowTable | pl.DataFrame | None = None,
    ) -> None:
        """Makes a table, which is in a file if it has `parts`: then each use reads the column.

        `source` is the table whose columns these are.
        """
        self.names, self.source = tuple(names), source
        self._read, self._rows, self._parts = read, rows, parts
        self._length = length if rows is None else len(rows)
        self._known: dict[str, NDArray[Any]] = {}

    @classmethod
    def of(cls, values: Mapping[str, NDArray[Any]]) -> Columns:
        """Returns a table of arrays."""
        return cls(list(values), values.__getitem__, len(next(iter(values.values()))))

    def __len__(self) -> int:
        return self._length

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Raises KeyError for a column that isn't there."""
        if self._parts is not None:
            return self._read(name)
        if name not in self._known:
            values = self._read(name)
            self._known[name] = values if self._rows is None else values[self._rows]
        return self._known[name]

    def floats(self, name: str) -> NDArray[np.float64]:
        """A column as floats, with NaN for values that the back end couldn't know."""
        return self[name].astype(np.float64, copy=False)

    def texts(self, name: str) -> list[str]:
        """Returns a column of texts, with an empty text for each null."""
        return [text or "" for text in self[name].tolist()]

    def take(self, rows: NDArray[np.intp]) -> Columns:
        """Returns some of the rows, in the order of `rows`."""
        return Columns(self.names, self.__getitem__, self._length, rows)

    def where(self, mask: NDArray[np.bool_]) -> Columns:
        """Returns the rows for which `mask` is true."""
        return self.take(np.flatnonzero(mask))

    def parts(self) -> Iterator[Columns]:
        """Yields the rows in order: part by part if they are in a file, else all at once."""
        return iter((self,)) if self._parts is None else self._parts()

    def having(self, name: str, values: Iterable[Any]) -> Columns:
        """Returns the rows with one of these values in a column.

        Only they are loaded from a file.
        """
        wanted = list(values)
        if self._parts is None:
            return self.where(_among(self[name], wanted))
        # Not `part[...]`, which would keep all its rows.
        found = [
            (part._read, np.flatnonzero(_among(part._read(name), wanted))) for part in self._parts()
        ]

        def read(title: str) -> NDArray[Any]:
            return np.concatenate([values_of(title)[rows] for values_of, rows in found])

        return Columns(self.names, read, sum(len(rows) for _, rows in found))

    def by(self, name: str) -> dict[int, NDArray[np.intp]]:
        """Returns the rows of every flow or link by its number, ascending in time."""
        keys = self[name]
        order = np.lexsort((self["time_s"], keys))
        borders = np.flatnonzero(np.diff(keys[order])) + 1
        spans = np.split(order, borders) if len(order) else []
        return {int(keys[rows[0]]): rows for rows in spans}

    def sort_by(self, *names: str) -> Columns:
        """Returns the rows sorted by these columns, ascending; equal ones keep their order."""
        return self.take(np.lexsort([self[name] for name in reversed(names)]))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yields every row by the names of the columns, as Python values."""
        lists = [self[name].tolist() for name in self.names]
        return (dict(zip(self.names, row, strict=True)) for row in zip(*lists, strict=True))

    def frame(self) -> pl.DataFrame:
        """Returns the table for polars; unknown numbers are null."""
        series = [
            pl.Series(name, self[name].tolist(), pl.String())
            if self[name].dtype.kind == "O"
            else pl.Series(name, self[name])
            for name in self.names
        ]
        return pl.DataFrame(series).with_columns(pl.col(pl.Float64).fill_nan(None))


def columns(table: Table) -> Columns:
    """Returns a table as plain columns."""
    if isinstance(table, Columns):
        return table
    if isinstance(table, ArrowTable):
        return _native_columns(table)
    return Columns(table.columns, lambda name: table[name].to_numpy(), table.height, source=table)


def source(table: Table) -> ArrowTable | pl.DataFrame:
    """Returns a table in a form that the native module reads."""
    if isinstance(table, Columns):
        return source(table.frame() if table.source is None else table.source)
    if isinstance(table, ArrowTable):
        return table
    return table.with_columns(pl.col(pl.Null).cast(pl.Float64))  # Arrow's nulls have no values


def _native_columns(table: ArrowTable) -> Columns:
    names = [name for name, _ in table.columns()]
    groups = table.groups()

    def parts() -> Iterator[Columns]:
        for group, rows in enumerate(groups or ()):
            yield Columns(names, partial(_from_native, table, group=group), rows)

    read = partial(_from_native, table)
    parted = None if groups is None else parts
    return Columns(names, read, len(table), parts=parted, source=table)


def _among(values: NDArray[Any], wanted: Sequence[Any]) -> NDArray[np.bool_]:
    """Returns where a value is one of the wanted ones.

    NumPy would sort texts, which may include nulls.
    """
    if values.dtype.kind != "O":
        return np.isin(values, wanted)
    found: NDArray[np.bool_] = np.zeros(len(values), dtype=np.bool_)
    for value in wanted:
        found |= values == value
    return found


_TYPES = {"float64": "<f8", "uint32": "<u4", "uint64": "<u8", "int64": "<i8", "flag": "?"}


def _from_native(table: ArrowTable, name: str, group: int | None = None) -> NDArray[Any]:
    kind, content, nulls, texts = table.column(name, group)
    null = None if nulls is None else np.frombuffer(nulls, dtype=np.bool_)
    if texts is not None:
        words: NDArray[Any] = np.array(texts, dtype=object)[np.frombuffer(content, dtype="<u4")]
        if null is not None:
            words[null] = None
        return words
    values: NDArray[Any] = np.frombuffer(content, dtype=_TYPES[kind])
    return values if null is None else np.where(null, np.nan, values)
