"""The store of runs: complete or absent, one owner at a time, cared for, exported in order."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from specimens import GOOD, run_cli, write

from narrows.errors import InputError, StoreError
from narrows.plan import Trial, plan
from narrows.spec import parse
from narrows.store import RunInfo, RunResult, RunStore, collect, create_store, damage, open_store
from narrows.store.locks import claim
from narrows.store.owned import hidden, workshop
from narrows.sweeps import execute, export, prepare

Capture = pytest.CaptureFixture[str]
FRAME = pl.DataFrame({"time_s": [0.0, 1.0], "sent": [0, 9]})
STUDY = GOOD.replace('"8mbit"', '["10mbit", "9mbit"]') + "trials = 2\n"


def a_trial(*overrides: str) -> Trial:
    return plan(parse(GOOD, "test", overrides).spec, "1").trials[0]


def a_result() -> RunResult:
    return RunResult({"flow_samples": FRAME}, RunInfo("sim", "1", "ab12", 2.0, 1000, 0.25, 0.5))


def filled(path: Path) -> tuple[RunStore, Trial]:
    store, trial = create_store(path), a_trial()
    store.add(trial, a_result(), {"summary": FRAME})
    return store, trial


def text_of(path: Path, table: str, form: str = "csv") -> str:
    stream = io.BytesIO()
    export(path, table, form, stream)
    return stream.getvalue().decode()


def test_a_run_comes_back(tmp_path: Path) -> None:
    store, trial = filled(tmp_path / "s")
    assert trial.hash in store
    assert store.keys() == {trial.hash}
    info = store.info(trial.hash)
    assert (info["engine"], info["digest"], info["packets"]) == ("1", "ab12", 1000)
    names = sorted(path.name for path in store.run_path(trial.hash).iterdir())
    assert names == ["flow_samples.parquet", "run.json", "scenario.json", "summary.parquet"]
    assert sorted(info["files"]) == [name for name in names if name != "run.json"]


def test_a_partition_is_a_column(tmp_path: Path) -> None:
    """What the documentation says of queries straight from disk."""
    _, trial = filled(tmp_path / "s")
    pattern = tmp_path / "s" / "runs" / "*" / "flow_samples.parquet"
    found = pl.scan_parquet(pattern, hive_partitioning=True).collect()
    assert found["run"].to_list() == [trial.hash] * 2


def test_the_first_of_two_results_stays(tmp_path: Path) -> None:
    store, trial = filled(tmp_path / "s")
    before = store.info(trial.hash)
    late = RunResult({"flow_samples": FRAME.head(1)}, a_result().info)
    store.add(trial, late, {})
    assert store.info(trial.hash) == before
    assert list(damage(store)) == []
    assert list((tmp_path / "s" / "tmp").iterdir()) == []


def test_nothing_stays_of_a_run_that_cannot_be_written(tmp_path: Path) -> None:
    store, trial = create_store(tmp_path / "s"), a_trial()
    with pytest.raises(AttributeError):
        store.add(trial, a_result(), {"summary": "no frame"})  # type: ignore[dict-item]
    assert trial.hash not in store
    assert list((tmp_path / "s" / "tmp").iterdir()) == []


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
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


def test_what_a_killed_process_left_of_a_run_goes_with_the_next(tmp_path: Path) -> None:
    store, trial = create_store(tmp_path / "s"), a_trial()
    left = hidden(tmp_path / "s" / "tmp" / "work")
    left.mkdir()
    (left / "flow_samples.parquet").write_text("half")
    store = create_store(tmp_path / "s")
    store.add(trial, a_result(), {})
    assert list((tmp_path / "s" / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (lambda run: (run / "flow_samples.parquet").write_bytes(b"x"), "has changed"),
        (lambda run: (run / "summary.parquet").unlink(), "is missing"),
        (lambda run: (run / "run.json").write_text("{"), "run.json: an unreadable file"),
        (lambda run: (run / "run.json").write_text("{}"), "run.json: run: nothing"),
        (lambda run: (run / "scenario.json").unlink(), "scenario.json: an unreadable file"),
        (lambda run: run.rename(run.with_name("run=" + "0" * 32)), "hash of its scenario"),
    ],
)
def test_damage_is_found_and_removed(harm: object, said: str, tmp_path: Path) -> None:
    store, trial = filled(tmp_path / "s")
    harm(store.run_path(trial.hash))  # type: ignore[operator]
    [(_, wrong)] = damage(store)
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
    store.add(a_trial(), a_result(), {})
    store.fail(a_trial("run.seed=9"), "", "an error")
    left, lock = hidden(tmp_path / "s" / "tmp" / "work"), tmp_path / "s" / "locks" / LEFT
    left.mkdir()
    lock.touch()
    with store.claim("busy") as ours, workshop(tmp_path / "s" / "tmp") as living:
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
def test_what_cannot_be_exported(
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
