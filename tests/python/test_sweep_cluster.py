"""Sweeps on a Dask cluster: the same tables, also when a worker is killed half-way."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import deque
from pathlib import Path
from unittest.mock import Mock

import pytest
from exported import everything
from required import module, needs
from specimens import GOOD, run_cli, write
from waiting import HANG_S, await_that

from narrows.execute import Job
from narrows.execute.cluster import ClusterPool, WorkerReply, next_task, work
from narrows.execute.portable_job import PortableJob
from narrows.store import create_store
from narrows.store.run_parts import RunParts, StoredPart
from narrows.sweeps import execute, prepare

module("distributed")

STUDY = GOOD.replace('"8mbit"', '["40mbit", "80mbit"]').replace('"cubic"', '["cubic", "bbr"]')
STUDY = STUDY.replace('"2s"', '"40s"') + "trials = 2\n"
"""Eight runs of some tenths of a second each."""
LOCAL = "import sys; from narrows.cli import main; sys.exit(main(sys.argv[1:]))"
REMOTE = """
import sys
from distributed import LocalCluster
from narrows.cli import main
if __name__ == "__main__":
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs="CRITICAL"
    ) as cluster:
        sys.exit(main([*sys.argv[1:], "--cluster", cluster.scheduler_address]))
"""
SOON = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "4s"}
"""Dask's own setting for how long a scheduler is waited for."""
Capture = pytest.CaptureFixture[str]


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
    command = [sys.executable, str(file), "run", spec, "--json", "--out", out, *more]
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
    assert run_cli("store", "check", str(tmp_path / "out")) == 0


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
    assert run_cli("store", "check", str(tmp_path / "out")) == 0


def test_an_address_where_nobody_answers(tmp_path: Path, capsys: Capture) -> None:
    command = ("run", write(tmp_path, STUDY), "--out", str(tmp_path / "out"))
    assert run_cli(*command, "--cluster", "gopher://nowhere") == 2
    assert "where no scheduler answers" in capsys.readouterr().err


def test_a_silent_scheduler_is_an_error_in_time(tmp_path: Path) -> None:
    """A port that accepts connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, "-c", "import sys; from narrows.start import main; sys.exit(main())",
             "run", write(tmp_path, GOOD), "--out", "out", "--cluster", address],
            cwd=tmp_path, env=os.environ | SOON, capture_output=True, text=True, check=False,
            timeout=HANG_S,
        )  # fmt: skip
    assert done.returncode == 2
    assert f'--cluster: found "{address}", where no scheduler answers' in done.stderr
    assert "hasn't answered for 4 s" in done.stderr
    assert "Traceback" not in done.stderr


def test_runs_wait_for_workers_and_say_so(tmp_path: Path) -> None:
    from distributed import LocalCluster

    made = prepare(write(tmp_path), out=tmp_path / "out")
    store = create_store(tmp_path / "out")
    with LocalCluster(
        n_workers=0, processes=False, protocol="tcp", dashboard_address=None
    ) as cluster:
        told: list[str] = []

        def tell(sentence: str) -> None:
            told.append(sentence)
            cluster.scale(1)

        jobs = [Job(cell, trial, made.backend) for cell, trial in made.runs]
        address = cluster.scheduler_address
        pool = ClusterPool(jobs, store, address, wait_s=0.5, tell=tell)
        assert pool.run().new == 1
    assert len(told) == 1
    assert f"the scheduler at {address} has had no worker for 0.5 s; the runs wait" in told[0]


SECURE = """
import os, sys
from distributed import LocalCluster, Security
from narrows.cli import main
def files(name):
    return {f"tls_{name}_cert": "node.pem", f"tls_{name}_key": "node-key.pem"}
if __name__ == "__main__":
    security = Security(
        require_encryption=True, tls_ca_file="ca.pem", **files("scheduler"), **files("worker"),
        **files("client"),
    )
    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None, security=security,
        protocol="tls://", host="127.0.0.1", silence_logs="CRITICAL",
    ) as cluster:
        address = cluster.scheduler_address
        address = address.replace("tls://", sys.argv[1])
        sys.exit(main([*sys.argv[2:], "--cluster", address]))
"""


def certificates(directory: Path) -> None:
    """An authority, and a certificate for 127.0.0.1 that it has signed."""
    day, name = ["-days", "1"], ["-subj", "/CN=127.0.0.1"]
    for own, signed in (("ca", None), ("node", "ca"), ("foreign", None)):
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *day, *name]
        command += ["-keyout", f"{own}-key.pem", "-out", f"{own}.pem"]
        command += ["-addext", "subjectAltName=IP:127.0.0.1"]
        if signed:
            command += ["-CA", f"{signed}.pem", "-CAkey", f"{signed}-key.pem"]
            command += ["-addext", "basicConstraints=critical,CA:FALSE"]
        subprocess.run(command, cwd=directory, check=True, capture_output=True)


def configure(**files: str) -> dict[str, str]:
    known = {"CA_FILE": "ca.pem", "CLIENT__CERT": "node.pem", "CLIENT__KEY": "node-key.pem"}
    tls = {f"DASK_DISTRIBUTED__COMM__TLS__{k}": v for k, v in (known | files).items() if v}
    return os.environ | tls | SOON


@needs("openssl")
def test_an_encrypted_cluster_and_who_is_kept_out(tmp_path: Path) -> None:
    certificates(tmp_path)
    (tmp_path / "start.py").write_text(SECURE)
    study = write(tmp_path, GOOD)

    def swept(protocol: str, environment: dict[str, str]) -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "start.py", protocol, "run", study, "--out", "out"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr
        return done.returncode, done.stdout + done.stderr

    status, said = swept("tls://", configure(CLIENT__KEY=""))
    assert status == 2
    assert "without distributed.comm.tls.client.key in the configuration of Dask" in said
    assert "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY" in said
    status, said = swept("tls://", configure(CA_FILE="nowhere.pem"))
    assert status == 2
    assert "distributed.comm.tls.ca-file: found nowhere.pem, which is not a file" in said
    for protocol, environment in (
        ("tcp://", configure()),
        ("tls://", configure(CA_FILE="foreign.pem")),
    ):
        status, said = swept(protocol, environment)
        assert status == 2
        assert "where no scheduler answers" in said
    assert not (tmp_path / "out" / "parts").is_dir() or not any(
        (tmp_path / "out" / "parts").iterdir()
    )
    status, said = swept("tls://", configure())
    assert status == 0, said
    assert "1 new" in said


def test_ctrl_c_of_a_terminal_is_one_line(tmp_path: Path) -> None:
    """A terminal sends it to every process of a command, the workers among them."""
    (tmp_path / "start.py").write_text(f'if __name__ == "__main__":\n    {LOCAL}\n')
    endless = write(tmp_path, GOOD.replace('"2s"', '"100000s"'))
    child = subprocess.Popen(
        [sys.executable, "start.py", "run", endless, "--cluster", "local", "--out", "out"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    await_that(lambda: list(tmp_path.glob("out/locks/*")), "no worker is at work")
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=HANG_S)
    stored = "(; 0 of 1 run stored; the same command continues)?"  # as the workers' ends come
    assert child.returncode == 130
    assert re.fullmatch(f"narrows: interrupted{stored}\n", said)


def _jobs(directory: Path, trials: int) -> list[Job]:
    job = prepare(write(directory, GOOD + f"trials = {trials}\n"), out=directory / "out")
    return [Job(cell, trial, job.backend) for cell, trial in job.runs]


def test_a_task_has_many_short_jobs_and_every_thread_gets_some(tmp_path: Path) -> None:
    waiting = deque(_jobs(tmp_path, 3000))
    assert len(next_task(waiting, 2)) > 50
    few = deque(_jobs(tmp_path, 8))
    assert len(next_task(few, 2)) == 1
    assert len(few) == 7


def test_jobs_of_a_task_that_ended_its_workers_are_alone(tmp_path: Path) -> None:
    jobs = _jobs(tmp_path, 3000)
    suspects = {jobs[0].key, jobs[3].key}
    waiting = deque(jobs)
    assert next_task(waiting, 2, suspects) == jobs[:1]
    assert next_task(waiting, 2, suspects) == jobs[1:3]
    assert next_task(waiting, 2, suspects) == [jobs[3]]


def test_the_runs_of_a_task_are_one_part(tmp_path: Path) -> None:
    jobs = _jobs(tmp_path, 5)
    store = create_store(tmp_path / "out")
    answers = work(tmp_path / "out", [PortableJob.of(job) for job in jobs])
    assert {key for key, answer in answers.items() if answer.new} == store.keys()
    assert len(store.keys()) == 5
    assert len(store.parts()) == 1


def test_a_worker_reads_each_part_of_a_store_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    read_part = RunParts._open

    def note(store: RunParts, name: str) -> StoredPart:
        opened.append(name)
        return read_part(store, name)

    monkeypatch.setattr(RunParts, "_open", note)
    create_store(tmp_path / "out")
    for job in _jobs(tmp_path, 6):
        work(tmp_path / "out", [PortableJob.of(job)])
    assert len(set(opened)) == len(opened) <= 6


def test_the_answer_to_a_task_is_fetched_once(tmp_path: Path) -> None:
    jobs = _jobs(tmp_path, 5)
    future = Mock(exception=lambda: None)
    future.result.return_value = {job.key: WorkerReply(new=True, packets=2) for job in jobs}
    pool = ClusterPool(jobs, create_store(tmp_path / "out"), "local")
    assert pool._take(future, jobs) == []
    assert (pool._tally.outcome().new, pool._tally.outcome().packets) == (5, 10)
    assert future.result.call_count == 1
