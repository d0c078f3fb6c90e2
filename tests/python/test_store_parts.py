"""Parts: what they say together, whoever wrote them."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from pathlib import Path

import polars as pl
import pytest
from exported import export_csv
from polars.testing import assert_frame_equal
from specimens import GOOD, spec_of, write

from narrows.plan import plan
from narrows.store import RunInfo, RunRecord, collect, create_store, damage, open_store
from narrows.store.parts import FinishedRun, write_merged
from narrows.sweeps import execute, prepare

SMALL = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]').replace('"cubic"', '["cubic", "bbr"]')
TABLES = ("runs", "summary", "flows")
PEAK = """
import re, sys
from pathlib import Path
from narrows.store import open_store

def peak_kb():
    return int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])

store = open_store(sys.argv[1])
store.rows("summary")
before = peak_kb()
store.merge(0)
print(len(store.keys()), (peak_kb() - before) * 1024)
"""


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


def test_parts_are_merged_without_a_copy_of_a_long_table(tmp_path: Path) -> None:
    store = create_store(tmp_path / "store")
    trials = plan(spec_of(GOOD, ["run.trials=160"]), "1").trials
    rows = pl.DataFrame({name: [number % 7 for number in range(10_000)] for name in "abc"})
    result = RunRecord({"distributions": rows}, RunInfo("sim", "1", "ab12", 2.0, 1000, 0.25, 0.5))
    tables = {"summary": pl.DataFrame({"flows": [1]})}
    for first in range(0, len(trials), 20):
        some = trials[first : first + 20]
        store.add_part([FinishedRun(trial, result, tables, {}) for trial in some])
    command = [sys.executable, "-c", PEAK, str(tmp_path / "store")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    runs, growth = map(int, done.stdout.split())
    whole = pl.concat(store.table(trial.hash, "distributions") for trial in trials)
    assert (runs, len(store.parts())) == (len(trials), 1)
    assert_frame_equal(whole, pl.concat([rows] * len(trials)))
    assert growth < 2 * 40 * whole.height, "three numbers and the hash of the run in each row"


def test_a_merged_table_has_all_rows_by_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("narrows.store.parts.GROUP", 3)
    frames = [
        pl.DataFrame({"run": ["b", "b", "a"], "x": [1, 2, 3]}),
        pl.DataFrame({"run": ["c", *"ddddd", "e"], "x": [*range(7)], "y": [*range(7)]}),
        pl.DataFrame(schema={"run": pl.String(), "x": pl.Int64()}),
    ]
    write_merged(tmp_path / "table.parquet", frames)
    whole = pl.concat(frames, how="diagonal").sort("run", maintain_order=True)
    assert_frame_equal(pl.read_parquet(tmp_path / "table.parquet"), whole)
    write_merged(tmp_path / "empty.parquet", frames[2:])
    assert_frame_equal(pl.read_parquet(tmp_path / "empty.parquet"), frames[2])
