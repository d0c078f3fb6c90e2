"""Sweeps whose runs are done by processes: the same runs, whatever fails, however they end."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from exported import everything
from specimens import GOOD, run_cli, write
from waiting import HANG_S, await_that

from narrows.errors import SpecError
from narrows.execute import Pool, StoreCache, processes
from narrows.execute.job import Job
from narrows.execute.processes import LostProcessError, worth
from narrows.execute.watcher import RunProgress
from narrows.spec.permission import allowing
from narrows.store import create_store, open_store
from narrows.sweeps import SweepJob, execute, prepare

SMALL = GOOD.replace('"8mbit"', '["4mbit", "8mbit"]').replace('"cubic"', '["cubic", "bbr"]')
SMALL += "trials = 6\n"
"""Twenty-four runs of two seconds."""
ENDLESS = SMALL.replace('"2s"', '"100000s"').replace("trials", 'record = "summary"\ntrials')
COMMAND = (
    "import sys; from narrows.cli import main; from narrows.execute import processes\n"
    "processes.WORTH_S, processes.RUN_S = 0, 1e6; sys.exit(main(sys.argv[1:]))"
)


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "WORTH_S", 0.0)
    monkeypatch.setattr(processes, "RUN_S", 1e6)


def job(directory: Path, text: str = SMALL, out: str = "out") -> SweepJob:
    return prepare(write(directory, text), out=directory / out)


def children() -> set[int]:
    """The processes that this one has started and that haven't ended."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(pid) for task in tasks for pid in task.read_text().split()}


def tables(place: Path) -> dict[tuple[str, str], str]:
    """The tables of all runs, value by value."""
    store, found = open_store(place), {}
    for key in sorted(store.keys()):
        for name in store.tables_of(key):
            table = store.table(key, name)
            assert table is not None
            found[key, name] = table.write_csv()
    return found


def test_processes_give_what_a_thread_gives(tmp_path: Path) -> None:
    before = children()
    states: list[RunProgress] = []
    two = execute(job(tmp_path, out="two"), jobs=2, watcher=states.append)
    one = execute(job(tmp_path, out="one"), jobs=1)
    assert (two.new, two.stored, two.failures, two.packets) == (24, 0, (), one.packets)
    assert (states[-1].done, states[-1].part) == (24, 1.0)
    assert tables(tmp_path / "two") == tables(tmp_path / "one")
    assert everything(tmp_path / "two") == everything(tmp_path / "one")
    assert children() == before
    for folder in ("tmp", "locks", "failures"):
        assert list((tmp_path / "two" / folder).iterdir()) == []
    again = execute(job(tmp_path, out="two"), jobs=2)
    assert (again.new, again.stored) == (0, 24)


OWN = """
print("a control that prints")

class Mine:
    def __init__(self, most=10**9):
        self.acks, self.most = 0, most

    def on_ack(self, sample):
        self.acks += 1
        if self.acks > self.most:
            raise ValueError("too many")

    def on_congestion(self, event):
        pass

    def control(self):
        return 10
"""
FAILING = SMALL.replace('["cubic", "bbr"]', '"mine:Mine"\noptions = { most = [20, 1000000] }')


def own(directory: Path, control: str, text: str = FAILING) -> SweepJob:
    """A study of a control that is written in Python."""
    (directory / "mine.py").write_text(control)
    with allowing([directory]):
        return job(directory, text)


def test_controls_in_python_run_and_fail_as_in_threads(tmp_path: Path) -> None:
    done = execute(own(tmp_path, OWN), jobs=2)
    assert (done.new, len(done.failures)) == (12, 12)
    assert {failure.cell.values["flows[0].options.most"] for failure in done.failures} == {20}
    assert all("ValueError: too many" in failure.error for failure in done.failures)
    records = open_store(tmp_path / "out").failures()
    assert {record["error"] for record in records.values()} == {f.error for f in done.failures}
    assert [f.trial.number for f in done.failures] == [1, 2, 3, 4, 5, 6] * 2


def test_an_error_that_ends_everything_comes_as_it_was(tmp_path: Path) -> None:
    made = own(tmp_path, OWN)
    jobs = [Job(cell, trial, made.backend) for cell, trial in made.runs]
    store = create_store(tmp_path / "out")
    with pytest.raises(SpecError, match="too many") as caught:
        Pool(jobs, StoreCache(store, strict=True), 2).run()
    assert caught.value.problems[0].found
    assert "\n" not in str(caught.value)


def test_a_run_that_cannot_be_kept_ends_the_sweep(tmp_path: Path) -> None:
    made = job(tmp_path)
    store = create_store(tmp_path / "out")
    jobs = [Job(cell, trial, made.backend) for cell, trial in made.runs]
    pool = Pool(jobs, StoreCache(store), 2)
    (tmp_path / "out" / "tmp").rmdir()
    with pytest.raises(FileNotFoundError):
        pool.run()


STUCK = OWN.replace('raise ValueError("too many")', "while True: pass")


@pytest.mark.parametrize("control", [None, STUCK])
def test_a_watcher_hears_of_the_progress_and_can_stop(control: str | None, tmp_path: Path) -> None:
    before, heard = children(), list[RunProgress]()

    def stop(state: RunProgress) -> None:
        heard.append(state)
        if state.part > 0 or (control and len(heard) > 10 and children() - before):
            raise KeyboardInterrupt

    made = job(tmp_path, ENDLESS) if control is None else own(tmp_path, control)
    with pytest.raises(KeyboardInterrupt):
        execute(made, jobs=2, watcher=stop)
    assert control or (0 < heard[-1].part < 1 and heard[-1].packets > 0)
    assert children() == before
    assert list((tmp_path / "out" / "tmp").iterdir()) == []


def test_a_process_that_dies_ends_the_sweep_and_loses_only_its_run(tmp_path: Path) -> None:
    before = children()

    def kill(state: RunProgress) -> None:
        if state.part > 0:
            for pid in children() - before:
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(LostProcessError, match="ended by signal 9"):
        execute(job(tmp_path, ENDLESS), jobs=2, watcher=kill)
    assert children() == before
    assert execute(job(tmp_path), jobs=2).new == 24
    assert run_cli("store", "check", str(tmp_path / "out")) == 0


def start(directory: Path, spec: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", COMMAND, "run", spec, "--json", "--jobs", "2"]
    return subprocess.Popen(
        [*command, "--out", str(directory)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        process_group=0,
    )


def locks(directory: Path) -> list[Path]:
    return list(directory.glob("locks/*"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_nothing_is_left_of_a_command_that_was_stopped(number: int, tmp_path: Path) -> None:
    """Ctrl-C of a terminal reaches all processes; after SIGKILL of one the others find out."""
    spec = write(tmp_path, ENDLESS)
    with start(tmp_path / "out", spec) as child:
        await_that(lambda: len(locks(tmp_path / "out")) == 2 or child.poll() is not None)
        if number == signal.SIGINT:
            os.killpg(child.pid, number)
        else:
            child.send_signal(number)
        _, said = child.communicate(timeout=HANG_S)  # until the last of them closes the pipe
    if number == signal.SIGINT:
        words = rb"narrows: interrupted; \d of 24 runs stored; the same command continues\n"
        assert child.returncode == 130
        assert re.fullmatch(words, said)
    else:
        assert said == b""
    await_that(lambda: locks(tmp_path / "out") == [])  # a pool's own helper may end after the pipe
    await_that(lambda: not any((tmp_path / "out" / "tmp").iterdir()))


def test_two_sweeps_at_once_do_every_run_once(tmp_path: Path) -> None:
    spec = write(tmp_path, SMALL)
    with start(tmp_path / "out", spec) as one, start(tmp_path / "out", spec) as other:
        said = [child.communicate(timeout=HANG_S) for child in (one, other)]
        assert [one.returncode, other.returncode] == [0, 0], said
    printed = [json.loads(output) for output, _ in said]
    assert sum(document["new"] for document in printed) == 24
    assert [document["new"] + document["stored"] for document in printed] == [24, 24]


def test_only_what_threads_cannot_do_at_once_goes_to_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def jobs(made: SweepJob) -> list[Job]:
        return [Job(cell, trial, made.backend) for cell, trial in made.runs]

    monkeypatch.undo()
    few = jobs(job(tmp_path))
    many = few * 20
    assert worth(many, 2)
    assert not worth(few, 2), "so few are done before a process has started"
    assert not worth(many, 1)
    assert not worth(jobs(job(tmp_path, SMALL.replace('"2s"', '"100s"'))) * 20, 2), "long"
    assert worth(jobs(own(tmp_path, OWN, FAILING.replace('"2s"', '"100s"'))) * 20, 2)
    monkeypatch.setattr(processes, "free_memory", lambda: 300_000_000)
    assert not worth(many, 2)
    monkeypatch.undo()
    monkeypatch.setattr(processes, "Simulator", Job)
    assert not worth(many, 2), "another back end, which may exist in this process only"


def test_errors_reach_another_process_as_they_are() -> None:
    error = SpecError.at("path", "3", "4", "file.toml")
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.problems, str(copy)) == (SpecError, error.problems, str(error))
