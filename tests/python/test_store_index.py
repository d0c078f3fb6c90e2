"""The index: what it says is what the runs say, whoever wrote it, and it may go at any time."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import polars as pl
from exported import exported
from polars.testing import assert_frame_equal
from specimens import GOOD, write

from narrows.store import collect, create_store, damage, open_store
from narrows.store.index import MOST_PARTS, Entry, Gathered, rows, together
from narrows.sweeps import execute, prepare

SMALL = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]').replace('"cubic"', '["cubic", "bbr"]')
TABLES = ("runs", "summary", "flows")


def swept(directory: Path, text: str = SMALL, out: str = "out") -> Path:
    execute(prepare(write(directory, text), out=directory / out))
    return directory / out


def everything(store: Path) -> dict[str, bytes]:
    return {table: exported(store, table) for table in TABLES}


def parts(store: Path) -> list[str]:
    return open_store(store).parts()


def test_a_sweep_indexes_what_it_did(tmp_path: Path) -> None:
    store = swept(tmp_path)
    assert len(parts(store)) == 1
    for table in TABLES:
        assert set(rows(open_store(store), table)["run"]) == open_store(store).keys()


def test_an_index_that_went_is_made_again(tmp_path: Path) -> None:
    store = swept(tmp_path)
    before = everything(store)
    shutil.rmtree(store / "index")
    assert everything(store) == before
    assert len(parts(store)) == 1


def test_answers_come_from_the_index_alone(tmp_path: Path) -> None:
    store = swept(tmp_path)
    before = everything(store)
    for file in store.glob("runs/*/*.parquet"):
        file.unlink()
    assert everything(store) == before


def test_runs_in_two_parts_count_once(tmp_path: Path) -> None:
    store = swept(tmp_path)
    before = everything(store)
    (name,) = parts(store)
    shutil.copytree(store / "index" / name, store / "index" / "part-of-another-process")
    assert everything(store) == before


def test_many_parts_become_one(tmp_path: Path) -> None:
    store = swept(tmp_path)
    before = everything(store)
    whole = {table: rows(open_store(store), table) for table in TABLES}
    shutil.rmtree(store / "index")
    for key in sorted(open_store(store).keys()):
        for _ in range(MOST_PARTS // 4 + 1):
            frames = {table: whole[table].filter(pl.col("run") == key) for table in TABLES}
            open_store(store).add_part(frames)
    assert len(parts(store)) > MOST_PARTS
    assert everything(store) == before
    assert len(parts(store)) == 1


def test_what_is_collected_or_damaged_leaves_the_index(tmp_path: Path) -> None:
    store = swept(tmp_path)
    swept(tmp_path, SMALL.replace('"bbr"', '"reno"'))
    collect(open_store(store))
    keys = open_store(store).keys()
    assert len(keys) == 4
    assert set(rows(open_store(store), "summary")["run"]) == keys
    key = min(keys)
    (store / "runs" / f"run={key}" / "flows.parquet").write_bytes(b"broken")
    assert [found for found, _ in damage(open_store(store), remove=True)] == [key]
    assert set(rows(open_store(store), "flows")["run"]) == keys - {key}
    swept(tmp_path, SMALL.replace('"bbr"', '"reno"'))
    assert set(rows(open_store(store), "flows")["run"]) == keys


def test_columns_do_not_depend_on_the_order_of_the_runs(tmp_path: Path) -> None:
    swept(tmp_path, SMALL)
    first = tmp_path / "other"
    execute(prepare(write(tmp_path, SMALL), out=first, filters=["flows[0].cca=bbr"]))
    swept(tmp_path, SMALL, "other")
    assert exported(tmp_path / "out", "summary") == exported(first, "summary")


def test_runs_gathered_a_few_at_a_time_make_the_same_part() -> None:
    frames = [
        pl.DataFrame({"goodput": [float(n)]} | ({f"only_{n % 7}": ["some"]} if n > 40 else {}))
        for n in range(120)
    ]
    entries = [Entry(f"{n}", {}, {"summary": f, "flows": f}) for n, f in enumerate(frames)]
    gathered, whole = Gathered(), together(entries)
    for entry in entries:
        gathered.add(entry)
    found = gathered.part()
    assert gathered.count == 120
    for name in TABLES:
        assert_frame_equal(found[name], whole[name])


def test_an_empty_store_has_empty_tables(tmp_path: Path) -> None:
    assert rows(create_store(tmp_path / "empty"), "summary").height == 0


def test_a_summary_says_which_runs_are_invalid(tmp_path: Path) -> None:
    store = swept(tmp_path)
    frame = pl.read_csv(io.BytesIO(exported(store, "summary")), schema_overrides={"invalid": str})
    assert_frame_equal(
        frame.select("invalid"), pl.DataFrame({"invalid": [None] * 4}, {"invalid": str})
    )
