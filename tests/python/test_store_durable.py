"""A store while it is written: finished runs stay, and other programs can read it."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from specimens import write
from waiting import await_that

from narrows.store import open_store, snapshot
from narrows.sweeps import execute, prepare

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "kill_writers.py"
SPEC = """\
name = "small"
[path]
rate = ["10mbit", "20mbit"]
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "cubic"
[run]
duration = "2s"
record = "summary"
trials = 2
"""
PARTS = 4
SWEEP = f"""
import sys
from narrows.store import batch
from narrows.store.runs import Store
from narrows.sweeps import execute, prepare
batch.MANY, batch.MOST, batch.PARTS = 5, 5, {PARTS}  # many parts, which are merged often
add_part = Store.add_part
def add_when_allowed(store, entries):
    sys.stdin.readline()  # each line allows a part, and the end of the input all others
    add_part(store, entries)
Store.add_part = add_when_allowed
execute(prepare(sys.argv[1], out=sys.argv[2]), jobs=1)
"""
READINGS = 3


@pytest.fixture
def kill_writers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    specification = importlib.util.spec_from_file_location("kill_writers", TOOL)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "kill_writers", module)
    specification.loader.exec_module(module)
    return module


def test_a_kill_loses_no_run_that_was_finished_ten_seconds_before(
    kill_writers: ModuleType, tmp_path: Path
) -> None:
    study = kill_writers.write_study(tmp_path)
    kills = [kill_writers.kill(study, tmp_path / str(after), after, 1) for after in (1.0, 11.5)]
    assert min(one.finished for one in kills) > 0
    assert max(one.oldest_s for one in kills) < kill_writers.DURABLE_S


@pytest.fixture
def store(tmp_path: Path) -> Path:
    execute(prepare(write(tmp_path, SPEC), out=tmp_path / "out"))
    return tmp_path / "out"


def test_pandas_reads_all_runs_in_one_line(store: Path) -> None:
    pd = pytest.importorskip("pandas")
    flows = pd.concat(map(pd.read_parquet, glob(f"{store}/parts/*/flows.parquet")))  # noqa: PTH207
    assert set(flows["run"]) == open_store(store).keys()


def test_duckdb_reads_all_runs_in_one_line(store: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    files = f"read_parquet('{store}/parts/*/summary.parquet', union_by_name = true)"
    rows = duckdb.sql(f"SELECT run, utilization FROM {files}").fetchall()
    assert {run for run, _ in rows} == open_store(store).keys()
    assert all(0 < utilization <= 1 for _, utilization in rows)


def test_r_reads_all_runs_with_the_documented_line(store: Path) -> None:
    program = shutil.which("Rscript")
    if program is None or _r(program, "stopifnot(requireNamespace('arrow'))").returncode:
        pytest.skip("needs R with its package arrow")
    guide = (ROOT / "docs" / "how-to" / "sweep.md").read_text(encoding="utf-8")
    [line] = re.findall(r"^(arrow::open_dataset\(.*\)) +# R$", guide, re.MULTILINE)
    said = _r(program, f"cat(unique(as.data.frame({line.replace('DIR', str(store))})$run))")
    assert said.returncode == 0, said.stderr
    assert set(said.stdout.split()) == open_store(store).keys()


def _r(program: str, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program, "-e", text], capture_output=True, text=True, check=False)


def _polars(parts: str) -> list[str]:
    return pl.read_parquet(f"{parts}/runs.parquet")["run"].to_list()


def _duckdb(parts: str) -> list[str]:
    import duckdb

    rows = duckdb.sql(f"SELECT run FROM read_parquet('{parts}/runs.parquet')").fetchall()
    return [run for (run,) in rows]


@pytest.mark.parametrize("program", ["polars", "duckdb"])
def test_a_store_is_read_while_two_sweeps_write_to_it(tmp_path: Path, program: str) -> None:
    pytest.importorskip(program)
    read = {"polars": _polars, "duckdb": _duckdb}[program]
    spec, out = write(tmp_path, SPEC.replace("trials = 2", "trials = 100")), tmp_path / "out"
    with _sweeps([sys.executable, "-c", SWEEP, spec, str(out)]) as sweeps:
        seen = list(_readings(read, out, tmp_path / "copy", sweeps))
    assert [sweep.returncode for sweep in sweeps] == [0, 0]
    assert 0 < seen[0] < seen[-1] < 200
    assert sorted(read(f"{out}/parts/*")) == sorted(open_store(out).keys())
    assert len(open_store(out).keys()) == 200


@contextmanager
def _sweeps(command: list[str]) -> Iterator[list[subprocess.Popen[str]]]:
    """Two sweeps of one study into one store, which write their parts when told; then the rest."""
    sweeps = [subprocess.Popen(command, stdin=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        yield sweeps
    finally:
        for sweep in sweeps:  # all before the first wait: one waits for the other's runs
            assert sweep.stdin is not None
            sweep.stdin.close()
        for sweep in sweeps:
            sweep.wait()


def _readings(
    read: Callable[[str], list[str]],
    out: Path,
    copy: Path,
    sweeps: Sequence[subprocess.Popen[str]],
) -> Iterator[int]:
    """The runs of some snapshots, each read after a merge has removed parts of it."""
    _allow(1, sweeps, lambda: list(out.glob("parts/*/runs.parquet")))
    for _ in range(READINGS):
        keys = snapshot(out, copy).keys()
        known = set(out.glob("parts/*"))
        _allow(PARTS, sweeps, lambda known=known: known - set(out.glob("parts/*")))
        runs = read(f"{copy}/parts/*")
        assert sorted(runs) == sorted(keys), "each once"
        yield len(runs)
        shutil.rmtree(copy)


def _allow(
    parts: int, sweeps: Sequence[subprocess.Popen[str]], happens: Callable[[], object]
) -> None:
    """Allows each sweep some parts, and waits until something happens."""
    for sweep in sweeps:
        assert sweep.stdin is not None
        sweep.stdin.write("\n" * parts)
        sweep.stdin.flush()
    await_that(happens)
