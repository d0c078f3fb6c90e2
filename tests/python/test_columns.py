"""The columns of tables: what the native module declares is what everybody makes."""

from __future__ import annotations

import polars as pl
import pytest

from narrows import _native
from narrows.columns import compute_table, empty, schema


def test_every_declared_table_has_a_schema() -> None:
    for entry in _native.tables():
        columns = schema(entry["name"])
        assert list(columns) == [column["name"] for column in entry["columns"]]
        assert empty(entry["name"]).schema == columns
    with pytest.raises(KeyError):
        schema("no such table")


def test_a_table_has_its_columns_in_their_order_and_nulls_for_what_is_not_known() -> None:
    rows = pl.DataFrame({"b": [2, 3], "a": [0.5, 1.0]})
    made = compute_table("internals", rows, {"value": pl.col("b"), "time_s": pl.col("a")})
    assert made.schema == schema("internals")
    assert made.rows() == [(0.5, None, None, 2.0), (1.0, None, None, 3.0)]


def test_a_column_that_a_table_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="internals has no column valve"):
        compute_table("internals", pl.DataFrame({"a": [1.0]}), {"valve": pl.col("a")})
