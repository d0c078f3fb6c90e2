"""The tables that every back end writes, as the native module declares them.

Code that makes a table itself (from a kernel's files, a capture or another program's results) makes
it here, so that names, types and order are the same everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


@cache
def schema(table: str) -> Mapping[str, pl.DataType]:
    """The columns of a table by name, in their order; raises KeyError for an unknown table."""
    import polars as pl

    from narrows import _native

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
    """The table without rows."""
    import polars as pl

    return pl.DataFrame(schema=dict(schema(table)))


def shaped(table: str, rows: pl.DataFrame, known: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """The table with each column computed by its expression over `rows`; null where there is none.

    Raises ValueError for a column that the table doesn't have.
    """
    import polars as pl

    columns = schema(table)
    if others := known.keys() - columns.keys():
        raise ValueError(f"{table} has no column {', '.join(sorted(others))}")
    null = pl.lit(None)
    return rows.select(
        known.get(name, null).cast(kind).alias(name) for name, kind in columns.items()
    )
