"""The store of runs: complete or absent, one owner at a time, cared for, exported in order."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from specimens import GOOD, run_cli, write

from narrows.errors import InputError, StoreError
from narrows.plan import Trial, plan
from narrows.spec import parse
from narrows.store import (
    RunInfo,
    RunRecord,
    Store,
    collect,
    create_store,
    damage,
    open_store,
)
from narrows.store.folders import MERGE, FolderFiles
from narrows.store.locks import claim
from narrows.store.owned import hidden_path, private_directory
from narrows.store.parts import FinishedRun, write_line
from narrows.sweeps import execute, export, prepare

Capture = pytest.CaptureFixture[str]
FRAME = pl.DataFrame({"time_s": [0.0, 1.0], "sent": [0, 9]})
STUDY = GOOD.replace('"8mbit"', '["10mbit", "9mbit"]') + "trials = 2\n"


def a_trial(*overrides: str) -> Trial:
    return plan(parse(GOOD, "test", overrides).spec, "1").trials[0]


def a_result() -> RunRecord:
    return RunRecord({"flow_samples": FRAME}, RunInfo("sim", "1", "ab12", 2.0, 1000, 0.25, 0.5))


def put(store: Store, trial: Trial, result: RunRecord, tables: Mapping[str, pl.DataFrame]) -> None:
    store.add_part([FinishedRun(trial, result, tables, {"path.rate": "8mbit"})])


def fill(path: Path) -> tuple[Store, Trial]:
    store, trial = create_store(path), a_trial()
    put(store, trial, a_result(), {"summary": FRAME})
    return store, trial


def text_of(path: Path, table: str, form: str = "csv") -> str:
    stream = io.BytesIO()
    export(path, table, form, stream)
    return stream.getvalue().decode()


def test_a_run_comes_back(tmp_path: Path) -> None:
    store, trial = fill(tmp_path / "s")
    assert trial.hash in store
    assert store.keys() == {trial.hash}
    info = store.info(trial.hash)
    assert (info["engine"], info["digest"], info["packets"]) == ("1", "ab12", 1000)
    assert store.scenario(trial.hash) == trial.scenario
    assert store.tables_of(trial.hash) == {"flow_samples", "summary"}
    found = store.table(trial.hash, "flow_samples")
    assert found is not None
    assert_frame_equal(found, FRAME)
    stored = store.stored_run(trial)
    assert stored.columns["flow_samples"]["sent"].tolist() == [0, 9]
    assert (stored.scenario, stored.info.packets, stored.captures) == (trial.scenario, 1000, [])
    [part] = (tmp_path / "s" / "parts").iterdir()
    names = sorted(path.name for path in part.iterdir())
    assert names == ["flow_samples.parquet", "part.json", "runs.parquet", "summary.parquet"]


def test_a_run_has_its_own_columns_beside_others(tmp_path: Path) -> None:
    store, runs = create_store(tmp_path / "s"), [a_trial(f"run.seed={seed}") for seed in (1, 2)]
    frames = [FRAME, FRAME.with_columns(more=pl.lit(None, pl.Int64))]
    store.add_part(
        [FinishedRun(r, a_result(), {"summary": f}, {}) for r, f in zip(runs, frames, strict=True)]
    )
    for run, frame in zip(runs, frames, strict=True):
        found = store.table(run.hash, "summary")
        assert found is not None
        assert_frame_equal(found, frame)


def test_one_line_reads_all_parts(tmp_path: Path) -> None:
    """The documentation's query straight from disk works."""
    store, trial = fill(tmp_path / "s")
    other = a_trial("run.seed=2")
    put(store, other, a_result(), {"summary": FRAME})
    found = pl.scan_parquet(tmp_path / "s" / "parts" / "*" / "flow_samples.parquet").collect()
    assert sorted(found["run"].to_list()) == sorted([trial.hash, other.hash] * 2)
    runs = pl.read_parquet(tmp_path / "s" / "parts" / "*" / "runs.parquet")
    assert sorted(runs["seed"].to_list()) == [trial.seed, 2]
    rate = runs["axes"].str.json_path_match("$['path.rate']")
    assert rate.to_list() == ["8mbit"] * 2


def _merge_runs(place: Path) -> tuple[Store, set[str]]:
    store, trials = create_store(place), [a_trial(f"run.seed={seed}") for seed in range(1, 7)]
    for trial in trials:
        put(store, trial, a_result(), {"summary": FRAME})
    return store, {trial.hash for trial in trials}


def test_small_parts_become_one_that_a_second_process_reads(tmp_path: Path) -> None:
    store, keys = _merge_runs(tmp_path / "s")
    other = open_store(tmp_path / "s")
    before = {key: other.table(key, "flow_samples") for key in keys}
    store.merge(10)
    assert len(store.parts()) == 6
    store.merge(4)
    assert len(store.parts()) == len(list((tmp_path / "s" / "parts").iterdir())) == 1
    assert store.keys() == other.keys() == keys
    for key, frame in before.items():
        found = other.table(key, "flow_samples")
        assert found is not None
        assert frame is not None
        assert_frame_equal(found, frame)
    assert list(damage(store)) == []
    assert set(other.rows("summary")["run"]) == keys


def test_runs_count_once_after_a_merge_that_was_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, keys = _merge_runs(tmp_path / "s")
    with monkeypatch.context() as patch:
        patch.setattr(FolderFiles, "remove_parts", lambda *_: None)
        store.merge(0)
    assert len(list((tmp_path / "s" / "parts").iterdir())) == 7
    other = open_store(tmp_path / "s")
    assert other.keys() == keys
    assert other.rows("summary").height == 2 * len(keys)
    put(other, a_trial("run.seed=9"), a_result(), {"summary": FRAME})
    other.merge(0)
    assert len(list((tmp_path / "s" / "parts").iterdir())) == 1
    assert len(other.keys()) == 7


def test_only_one_process_merges(tmp_path: Path) -> None:
    store, _ = _merge_runs(tmp_path / "s")
    with claim(tmp_path / "s" / "locks" / MERGE) as ours:
        assert ours
        store.merge(0)
    assert len(store.parts()) == 6
    store.merge(0)
    assert len(store.parts()) == 1


def test_a_removed_run_leaves_the_others_of_its_part(tmp_path: Path) -> None:
    store, keys = _merge_runs(tmp_path / "s")
    store.merge(0)
    gone = min(keys)
    store.discard(gone)
    assert store.keys() == open_store(tmp_path / "s").keys() == keys - {gone}
    assert list(damage(store)) == []


def test_a_run_in_two_parts_counts_once(tmp_path: Path) -> None:
    store, trial = fill(tmp_path / "s")
    put(store, trial, a_result(), {"summary": FRAME})
    assert store.rows("runs").height == 1
    assert store.rows("summary").height == FRAME.height
    store.merge(0)
    assert store.table(trial.hash, "flow_samples").height == FRAME.height  # type: ignore[union-attr]
    assert list(damage(store)) == []
    assert list((tmp_path / "s" / "tmp").iterdir()) == []


def test_nothing_stays_of_a_run_that_cannot_be_written(tmp_path: Path) -> None:
    store, trial = create_store(tmp_path / "s"), a_trial()
    with pytest.raises(AttributeError):
        put(store, trial, a_result(), {"summary": "no frame"})  # type: ignore[dict-item]
    assert trial.hash not in store
    assert list((tmp_path / "s" / "tmp").iterdir()) == []


def test_places_that_are_no_store_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "store.json").write_text('{"format": 99}')
    for name, found in (("none", "no such"), ("file", "a file"), ("empty", "without store.json")):
        with pytest.raises(StoreError, match=found):
            open_store(tmp_path / name)
    with pytest.raises(StoreError, match="another version"):
        create_store(tmp_path / "other")
    with pytest.raises(StoreError):
        create_store(tmp_path / "file")


def test_a_lock_has_one_owner(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with claim(lock) as first:
        assert first
        assert lock.read_text().split()[0] == str(os.getpid())
        with claim(lock) as second:
            assert not second
        with claim(lock) as third:
            assert not third, "whoever didn't get it must not free it"
    assert not lock.exists()
    with claim(lock) as again:
        assert again


HOLD = """
import sys, time
from pathlib import Path
from narrows.store.locks import claim
with claim(Path(sys.argv[1])) as ours:
    print(ours, flush=True)
    time.sleep(3600)
"""


def test_kill_9_frees_a_lock(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"True\n"
        with claim(lock) as ours:
            assert not ours
        child.kill()
        child.wait()
    assert lock.exists()
    with claim(lock) as ours:
        assert ours


def test_the_next_run_removes_leftovers_of_a_killed_process(tmp_path: Path) -> None:
    store, trial = create_store(tmp_path / "s"), a_trial()
    left = hidden_path(tmp_path / "s" / "tmp" / "work")
    left.mkdir()
    (left / "flow_samples.parquet").write_text("half")
    store = create_store(tmp_path / "s")
    put(store, trial, a_result(), {})
    assert list((tmp_path / "s" / "tmp").iterdir()) == []


def _rename_run(part: Path) -> None:
    """Gives a run another hash, with digests that fit."""
    for file in part.glob("*.parquet"):
        pl.read_parquet(file).with_columns(run=pl.lit("0" * 32)).write_parquet(file)
    write_line(part, 1)


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda part: (part / "flow_samples.parquet").write_bytes(b"x"), "has changed"),
        (lambda part: (part / "summary.parquet").unlink(), "is missing"),
        (lambda part: (part / "runs.parquet").write_bytes(b"x"), "has changed"),
        (lambda part: (part / "part.json").write_text("{"), "part.json: an unreadable file"),
        (lambda part: (part / "part.json").write_text("{}"), "part.json: runs: nothing"),
        (lambda part: (part / "part.json").unlink(), "part.json is missing"),
        (_rename_run, "hash of its scenario"),
    ],
)
def test_damage_is_found_and_removed(harm: object, said: str, tmp_path: Path) -> None:
    store, trial = fill(tmp_path / "s")
    assert trial.hash in store
    [part] = (tmp_path / "s" / "parts").iterdir()
    harm(part)  # type: ignore[operator]
    [(_, wrong)] = damage(open_store(tmp_path / "s"))
    assert said in wrong
    assert run_cli("store", "check", str(tmp_path / "s")) == 1
    assert run_cli("store", "check", str(tmp_path / "s"), "--remove") == 1
    assert run_cli("store", "check", str(tmp_path / "s")) == 0
    assert store.keys() == set()


LEFT = "0123456789abcdef" * 2


def test_garbage_is_what_no_study_has(tmp_path: Path) -> None:
    spec = write(tmp_path, STUDY)
    execute(prepare(spec, out=tmp_path / "s"))
    store = open_store(tmp_path / "s")
    put(store, a_trial(), a_result(), {})
    store.fail(a_trial("run.seed=9"), "", "an error")
    left, lock = hidden_path(tmp_path / "s" / "tmp" / "work"), tmp_path / "s" / "locks" / LEFT
    left.mkdir()
    lock.touch()
    with store.claim("busy") as ours, private_directory(tmp_path / "s" / "tmp") as living:
        assert ours
        would = collect(store, remove=False)
        assert would.runs == (a_trial().hash,)
        assert would.failures == (a_trial("run.seed=9").hash,)
        assert would.leftovers == (left.name, LEFT)
        assert len(store.keys()) == 5
        assert collect(store) == would
        assert living.is_dir()
    assert len(store.keys()) == 4
    assert store.failures() == {}
    assert collect(store).leftovers == ()


def test_a_study_that_lost_values_leaves_garbage(tmp_path: Path, capsys: Capture) -> None:
    execute(prepare(write(tmp_path, STUDY), out=tmp_path / "s"))
    less = write(tmp_path, STUDY.replace('["10mbit", "9mbit"]', '["9mbit"]'))
    execute(prepare(less, out=tmp_path / "s"))
    assert run_cli("store", "ls", str(tmp_path / "s")) == 0
    assert "good: 2 of 2 runs (sim " in capsys.readouterr().out
    assert run_cli("store", "gc", str(tmp_path / "s"), "--dry-run") == 0
    assert "would remove 2 runs of no study" in capsys.readouterr().out
    assert run_cli("store", "gc", str(tmp_path / "s")) == 0
    assert len(open_store(tmp_path / "s").keys()) == 2


def test_rows_go_by_study_combination_and_trial(tmp_path: Path) -> None:
    execute(prepare(write(tmp_path, STUDY), out=tmp_path / "s"))
    other = STUDY.replace('"good"', '"another"').replace('["10mbit", "9mbit"]', "'7mbit'")
    execute(prepare(write(tmp_path, other, "b.toml"), out=tmp_path / "s"))
    found = pl.read_csv(io.StringIO(text_of(tmp_path / "s", "summary")))
    assert found.select("study", "cell", "trial", "seed", "path.rate").rows() == [
        ("another", 1, 1, 1, None),
        ("another", 1, 2, 2, None),
        ("good", 1, 1, 1, "10mbit"),
        ("good", 1, 2, 2, "10mbit"),
        ("good", 2, 1, 1, "9mbit"),
        ("good", 2, 2, 2, "9mbit"),
    ]
    assert found["rate_mbps"].to_list() == [7.0, 7.0, 10.0, 10.0, 9.0, 9.0]
    assert found["cubic.share"].to_list() == [1.0] * 6


def test_formats_hold_the_same(tmp_path: Path) -> None:
    execute(prepare(write(tmp_path, STUDY), out=tmp_path / "s"))
    csv = pl.read_csv(io.StringIO(text_of(tmp_path / "s", "queue_samples")))
    rows = json.loads(text_of(tmp_path / "s", "queue_samples", "json"))
    assert [tuple(row.values()) for row in rows] == csv.rows()
    file = tmp_path / "table.parquet"
    command = ("export", str(tmp_path / "s"), "queue_samples", "--format", "parquet")
    assert run_cli(*command, "--out", str(file)) == 0
    assert pl.read_parquet(file).rows() == csv.rows()
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def test_numbers_stay_numbers(tmp_path: Path) -> None:
    text = GOOD.replace('rate = "8mbit"', 'rate = "8mbit"\nloss = [0, 0.01]')
    text = text.replace('cca = "cubic"', 'cca = "cubic"\ncount = [1, 2]')
    execute(prepare(write(tmp_path, text), out=tmp_path / "s"))
    rows = json.loads(text_of(tmp_path / "s", "summary", "json"))
    assert [(row["path.loss"], row["flows[0].count"]) for row in rows] == [
        (0.0, 1),
        (0.0, 2),
        (0.01, 1),
        (0.01, 2),
    ]


def test_a_table_without_rows_has_its_columns(tmp_path: Path) -> None:
    execute(prepare(write(tmp_path, STUDY), out=tmp_path / "s"))
    assert text_of(tmp_path / "s", "completions").splitlines() == [
        "study,cell,trial,seed,run,path.rate,flow,instance,start_s,end_s,size_bytes,retransmitted"
    ]


def test_the_result_of_a_run_can_be_exported(tmp_path: Path, capsys: Capture) -> None:
    spec = write(tmp_path, GOOD + "trials = 2\n")
    assert run_cli("run", spec, "--out", str(tmp_path / "r")) == 0
    execute(prepare(spec, out=tmp_path / "s"))
    for table in ("summary", "flows", "flow_samples", "distributions"):
        alone = pl.read_csv(io.StringIO(text_of(tmp_path / "r", table)))
        stored = pl.read_csv(io.StringIO(text_of(tmp_path / "s", table))).drop("run")
        assert alone.equals(stored), table
    capsys.readouterr()
    assert run_cli("export", str(tmp_path / "r"), "runs") == 0


@pytest.mark.parametrize(
    ("arguments", "place", "remedy"),
    [
        (("s", "sumary"), "TABLE", '"summary"'),
        (("r", "summary"), "r", "a results directory"),
        (("s", "summary", "--format", "cvs"), "--format", '"csv"'),
        (("s", "summary", "--out", "none/x.csv"), "none", "can be written"),
    ],
)
def test_tables_that_cannot_be_exported(
    arguments: tuple[str, ...],
    place: str,
    remedy: str,
    tmp_path: Path,
    capsys: Capture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    execute(prepare(write(tmp_path, STUDY), out="s"))
    assert run_cli("export", *arguments) == 2
    said = capsys.readouterr().err
    assert place in said
    assert remedy in said


def test_an_empty_store_has_no_table(tmp_path: Path) -> None:
    create_store(tmp_path / "s")
    with pytest.raises(InputError):
        text_of(tmp_path / "s", "summary")


def test_a_directory_may_have_any_name(tmp_path: Path) -> None:
    out = tmp_path / "a [b] *"
    execute(prepare(write(tmp_path, STUDY), out=out))
    assert len(text_of(out, "summary").splitlines()) == 5
    assert run_cli("store", "check", str(out)) == 0


def test_a_snapshot_is_a_store_that_stays_as_it_is(tmp_path: Path, capsys: Capture) -> None:
    execute(prepare(write(tmp_path, STUDY), out=tmp_path / "s"))
    there, copy = str(tmp_path / "s"), str(tmp_path / "copy")
    assert run_cli("store", "snapshot", there, copy) == 0
    assert capsys.readouterr().out == f"{copy}: 4 runs\n"
    before = text_of(copy, "summary")
    store = open_store(there)
    assert before == text_of(there, "summary")
    store.discard(*store.keys())
    assert text_of(copy, "summary") == before
    assert run_cli("store", "check", copy) == 0
    assert run_cli("store", "snapshot", there, copy) == 2
    assert "found something that is there; a new directory" in capsys.readouterr().err
    assert run_cli("store", "snapshot", "memory://nowhere", copy) == 2
