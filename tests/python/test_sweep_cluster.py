"""Sweeps on a Dask cluster: the same tables, also when a worker is killed half-way."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from specimens import GOOD, run_cli, write
from waiting import HANG_S

from narrows.sweeps import execute, export, prepare

pytest.importorskip("distributed", reason="the extra `cluster` isn't installed")

STUDY = GOOD.replace('"8mbit"', '["40mbit", "80mbit"]').replace('"cubic"', '["cubic", "bbr"]')
STUDY = STUDY.replace('"2s"', '"40s"') + "trials = 2\n"
"""Eight runs of some tenths of a second each."""
TABLES = ("summary", "flows", "flow_samples", "queue_samples", "internals", "distributions")
LOCAL = "import sys; from narrows.cli import main; sys.exit(main(sys.argv[1:]))"
REMOTE = """
import sys
from distributed import LocalCluster
from narrows.cli import main
if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        sys.exit(main([*sys.argv[1:], "--cluster", cluster.scheduler_address]))
"""
Capture = pytest.CaptureFixture[str]


def everything(store: Path) -> dict[str, bytes]:
    found = {}
    for table in TABLES:
        stream = io.BytesIO()
        export(store, table, "csv", stream)
        found[table] = stream.getvalue()
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The tables of the same sweep without a cluster."""
    directory = tmp_path_factory.mktemp("alone")
    execute(prepare(write(directory, STUDY), out=directory / "out"))
    return everything(directory / "out")


def start(directory: Path, script: str, *more: str) -> subprocess.Popen[bytes]:
    file = directory / "start.py"
    file.write_text(script)
    spec, out = write(directory, STUDY), str(directory / "out")
    command = [sys.executable, str(file), "sweep", spec, "--json", "--out", out, *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def ancestors(pid: int) -> list[int]:
    found = [pid]
    while found[-1] > 1:
        stat = Path(f"/proc/{found[-1]}/stat").read_text()
        found.append(int(stat.rpartition(")")[2].split()[1]))
    return found


def kill_a_worker(store: Path, child: subprocess.Popen[bytes]) -> bool:
    """Kills a process that holds the lock of a run, if it is one that `child` started."""
    ends = time.monotonic() + HANG_S
    while time.monotonic() < ends:
        for lock in store.glob("locks/*"):
            try:
                pid = int(lock.read_text().split()[0])
                if child.pid in ancestors(pid)[1:]:
                    os.kill(pid, signal.SIGKILL)
                    return True
            except (OSError, IndexError, ValueError):
                continue
        if child.poll() is not None:
            return False
        time.sleep(0.01)
    return False


def test_two_workers_give_what_threads_give(tmp_path: Path, alone: dict[str, bytes]) -> None:
    with start(
        tmp_path,
        LOCAL.replace("; sys", '\nif __name__ == "__main__": sys'),
        "--cluster",
        "local",
        "--jobs",
        "2",
    ) as child:
        output, errors = child.communicate(timeout=HANG_S)
    assert child.returncode == 0, errors
    printed = json.loads(output)
    assert (printed["new"], printed["failed"]) == (8, [])
    assert everything(tmp_path / "out") == alone
    assert run_cli("store", "verify", str(tmp_path / "out")) == 0


def test_a_killed_worker_loses_only_its_run(tmp_path: Path, alone: dict[str, bytes]) -> None:
    with start(tmp_path, REMOTE) as child:
        struck = kill_a_worker(tmp_path / "out", child)
        output, errors = child.communicate(timeout=HANG_S)
    assert struck, errors
    assert child.returncode == 0, errors
    printed = json.loads(output)
    assert printed["failed"] == []
    assert printed["new"] + printed["stored"] == 8
    assert everything(tmp_path / "out") == alone
    assert run_cli("store", "verify", str(tmp_path / "out")) == 0


def test_an_address_where_nobody_answers(tmp_path: Path, capsys: Capture) -> None:
    command = ("sweep", write(tmp_path, STUDY), "--out", str(tmp_path / "out"))
    assert run_cli(*command, "--cluster", "gopher://nowhere") == 2
    assert "where no scheduler answers" in capsys.readouterr().err
