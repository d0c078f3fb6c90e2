"""A store while it is written: finished runs stay, and other programs can read it."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from glob import glob
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from specimens import write

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
SWEEP = """
import sys
from narrows.store import batch
from narrows.sweeps import execute, prepare
batch.MANY, batch.PARTS = 5, 4  # many parts, which are merged often
execute(prepare(sys.argv[1], out=sys.argv[2]), jobs=1)
"""


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
    spec, out = write(tmp_path, SPEC.replace("trials = 2", "trials = 60")), tmp_path / "out"
    command = [sys.executable, "-c", SWEEP, spec, str(out)]
    with subprocess.Popen(command) as one, subprocess.Popen(command) as other:
        seen = [len(runs) for runs in _readings(read, out, tmp_path / "copy", (one, other))]
    assert one.returncode == other.returncode == 0
    assert 0 < min(seen) < max(seen)
    assert sorted(read(f"{out}/parts/*")) == sorted(open_store(out).keys())


def _readings(
    read: Callable[[str], list[str]],
    out: Path,
    copy: Path,
    sweeps: Sequence[subprocess.Popen[bytes]],
) -> Iterator[set[str]]:
    """The runs of one snapshot after the other, each read when parts have been merged since."""
    while any(sweep.poll() is None for sweep in sweeps):
        if not list(out.glob("parts/*/runs.parquet")):
            continue
        keys = snapshot(out, copy).keys()
        _await_a_merge(out, sweeps)
        runs = read(f"{copy}/parts/*")
        assert sorted(runs) == sorted(keys), "each once"
        yield keys
        shutil.rmtree(copy)


def _await_a_merge(out: Path, sweeps: Sequence[subprocess.Popen[bytes]]) -> None:
    """Waits until a part is gone that is there now, or both sweeps are over."""
    known = set(out.glob("parts/*"))
    while known <= set(out.glob("parts/*")) and any(sweep.poll() is None for sweep in sweeps):
        time.sleep(0.01)
