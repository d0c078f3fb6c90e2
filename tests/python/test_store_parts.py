"""Parts: what they say together, whoever wrote them."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import polars as pl
from exported import export_csv
from polars.testing import assert_frame_equal
from specimens import GOOD, write

from narrows.store import collect, create_store, damage, open_store
from narrows.sweeps import execute, prepare

SMALL = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]').replace('"cubic"', '["cubic", "bbr"]')
TABLES = ("runs", "summary", "flows")


def swept(directory: Path, text: str = SMALL, out: str = "out") -> Path:
    execute(prepare(write(directory, text), out=directory / out))
    return directory / out


def everything(store: Path) -> dict[str, bytes]:
    return {table: export_csv(store, table) for table in TABLES}


def parts(store: Path) -> list[str]:
    return open_store(store).parts()


def test_a_sweep_fills_a_part(tmp_path: Path) -> None:
    store = swept(tmp_path)
    assert len(parts(store)) == 1
    for table in TABLES:
        assert set(open_store(store).rows(table)["run"]) == open_store(store).keys()


def test_collected_or_damaged_runs_leave_the_parts(tmp_path: Path) -> None:
    store = swept(tmp_path)
    swept(tmp_path, SMALL.replace('"bbr"', '"reno"'))
    collect(open_store(store))
    keys = open_store(store).keys()
    assert len(keys) == 4
    assert set(open_store(store).rows("summary")["run"]) == keys
    part = parts(store)[0]
    (store / "parts" / part / "flows.parquet").write_bytes(b"broken")
    assert [found for found, _ in damage(open_store(store), remove=True)] == [f"parts/{part}"]
    left = open_store(store)
    assert left.keys() < keys
    assert set(left.rows("flows")["run"]) == left.keys()
    swept(tmp_path, SMALL.replace('"bbr"', '"reno"'))
    assert set(open_store(store).rows("flows")["run"]) == keys


def test_columns_do_not_depend_on_the_order_of_the_runs(tmp_path: Path) -> None:
    swept(tmp_path, SMALL)
    first = tmp_path / "other"
    execute(prepare(write(tmp_path, SMALL), out=first, filters=["flows[0].cca=bbr"]))
    swept(tmp_path, SMALL, "other")
    assert export_csv(tmp_path / "out", "summary") == export_csv(first, "summary")


def test_two_sweeps_at_once_share_a_store(tmp_path: Path) -> None:
    spec = write(tmp_path, SMALL + "trials = 3\n")
    threads = [
        threading.Thread(target=lambda: execute(prepare(spec, out=tmp_path / "both")))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = open_store(tmp_path / "both")
    assert len(store.keys()) == store.rows("runs").height == 12
    assert list(damage(store)) == []
    execute(prepare(spec, out=tmp_path / "one"))
    assert export_csv(tmp_path / "both", "summary") == export_csv(tmp_path / "one", "summary")


def test_an_empty_store_has_empty_tables(tmp_path: Path) -> None:
    assert create_store(tmp_path / "empty").rows("summary").height == 0


def test_a_summary_says_which_runs_are_invalid(tmp_path: Path) -> None:
    store = swept(tmp_path)
    frame = pl.read_csv(io.BytesIO(export_csv(store, "summary")), schema_overrides={"invalid": str})
    assert_frame_equal(
        frame.select("invalid"), pl.DataFrame({"invalid": [None] * 4}, {"invalid": str})
    )
