"""Short tables are written by the native module, long ones by polars: readers see no difference."""

from __future__ import annotations

from io import BytesIO

import polars as pl
import pytest
from specimens import GOOD, scenario_of

from narrows import _native
from narrows.backends import get_backend
from narrows.metrics import summarise
from narrows.metrics.tables import summary_tables
from narrows.store import parquet
from narrows.store.parquet import NativeTables, parquet_files, without


def test_files_hold_the_tables_of_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run = get_backend("sim").run(scenario_of(GOOD))
    short = dict(parquet_files(run.tables))
    monkeypatch.setattr(parquet, "FEW", -1)
    long = dict(parquet_files(run.tables))
    assert list(short) == [f"{name}.parquet" for name in run.tables]
    for name, table in run.tables.items():
        for files in (short, long):
            found = pl.read_parquet(BytesIO(files[f"{name}.parquet"]))
            assert found.equals(table)
            assert found.schema == table.schema
    assert short != long


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
    assert list(without(NativeTables({"one": table, "two": table}), ("two",))) == ["one"]
    assert list(without({"one": pl.DataFrame(), "two": pl.DataFrame()}, ("one",))) == ["two"]


def test_what_a_film_counts_is_whole() -> None:
    film = '{ kind = "video", bitrate = "2mbit", chunk = "500ms", start = "500ms" }'
    film = f'cca = "cubic"\nworkload = {film}\n'
    scenario = scenario_of(GOOD.replace('cca = "cubic"\n', film))
    run = get_backend("sim").run(scenario)
    entry = summarise(scenario, run.tables, run.info)
    assert isinstance(entry["flows"][0]["workload"]["stalls"], float)
    flows = summary_tables(entry, ["cubic"])["flows"]
    assert flows.schema["stalls"] == pl.Int64
    assert flows["stalls"].to_list() == [0]
