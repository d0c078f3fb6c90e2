"""The tables of a run as files, columns and frames: readers see no difference."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from specimens import GOOD, scenario_of

from narrows import _native
from narrows.backends import get_backend
from narrows.columns import Columns, columns
from narrows.metrics import summarise, weighted_mean
from narrows.metrics.tables import summary_tables
from narrows.store.parquet import (
    NativeTables,
    drop_tables,
    parquet_files,
    read_columns,
    write_parquet,
)


def test_files_hold_the_tables_of_a_run(tmp_path: Path) -> None:
    run = get_backend("sim").run(scenario_of(GOOD))
    files = {name: b"".join(pieces) for name, pieces in parquet_files(run.tables)}
    assert list(files) == [f"{name}.parquet" for name in run.tables]
    for name, table in run.tables.items():
        found = pl.read_parquet(BytesIO(files[f"{name}.parquet"]))
        assert found.equals(table)
        assert found.schema == table.schema
        file = tmp_path / name
        file.write_bytes(files[f"{name}.parquet"])
        for form in (table, read_columns(file), run.columns[name]):
            same(columns(form), table)


def same(found: Columns, table: pl.DataFrame) -> None:
    """Asserts that columns equal a frame, with nulls as NaN or None."""
    assert found.names == tuple(table.columns)
    assert len(found) == table.height
    for name in found.names:
        values = table[name].to_numpy()
        np.testing.assert_array_equal(found[name], values)
        assert found[name].dtype == values.dtype


@pytest.mark.parametrize("rows", [0, 4, 5001])
def test_a_table_of_any_length_can_be_read_back(rows: int, tmp_path: Path) -> None:
    words = [None if row % 3 else "abc"[row % 7 % 3] for row in range(rows)]
    numbers = [None if row % 5 == 1 else row * 0.1 for row in range(rows)]
    table = _native.table([("word", "text", words), ("number", "float64", numbers)])
    file = tmp_path / "t.parquet"
    file.write_bytes(table.parquet())
    for found in (columns(table), read_columns(file)):
        assert found["word"].tolist() == words
        known = [None if np.isnan(x) else x for x in found["number"].tolist()]
        assert known == numbers
    written = pl.read_parquet(BytesIO(table.parquet()))
    write_parquet(written, file)
    same(read_columns(file), written)


def test_sums_are_those_of_frames() -> None:
    random = np.random.default_rng(1)
    for count in (0, 1, 127, 128, 129, 1000, 12_345):
        values = random.lognormal(0, 3, count)
        mean = pl.Series(values).sum() / count if count else None
        assert weighted_mean(pl.DataFrame({"value": values, "weight": np.ones(count)})) == mean


def test_rows_are_a_table_whatever_is_null() -> None:
    words = [("name", "text", ["a", None]), ("count", "int64", [None, 2**40])]
    table = _native.table([*words, ("share", "float64", [0.5, None])])
    found = pl.read_parquet(BytesIO(table.parquet()))
    assert found.rows() == [("a", None, 0.5), (None, 2**40, None)]
    assert found.dtypes == [pl.String, pl.Int64, pl.Float64]
    assert NativeTables({"one": table})["one"].equals(found)


def test_columns_that_are_no_table_are_refused() -> None:
    with pytest.raises(ValueError, match="no type of columns: uint7"):
        _native.table([("a", "uint7", [1])])
    with pytest.raises(ValueError, match="same length"):
        _native.table([("a", "int64", [1]), ("b", "int64", [1, 2])])
    with pytest.raises(TypeError):
        _native.table([("a", "float64", ["x"])])


def test_tables_can_be_left_out() -> None:
    table = _native.table([("a", "int64", [1])])
    assert list(drop_tables(NativeTables({"one": table, "two": table}), ("two",))) == ["one"]
    assert list(drop_tables({"one": pl.DataFrame(), "two": pl.DataFrame()}, ("one",))) == ["two"]


def test_counts_of_a_film_are_whole() -> None:
    film = '{ kind = "video", bitrate = "2mbit", chunk = "500ms", start = "500ms" }'
    film = f'cca = "cubic"\nworkload = {film}\n'
    scenario = scenario_of(GOOD.replace('cca = "cubic"\n', film))
    run = get_backend("sim").run(scenario)
    entry = summarise(scenario, run.tables, run.info)
    assert isinstance(entry["flows"][0]["workload"]["stalls"], float)
    flows = summary_tables(entry, ["cubic"])["flows"]
    assert flows.schema["stalls"] == pl.Int64
    assert flows["stalls"].to_list() == [0]
