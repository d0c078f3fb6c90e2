"""Own controls that end their process: never a success, and only their own run is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from specimens import GOOD, run_cli, write
from waiting import HANG_S, await_that

START = "import sys; from narrows.start import main; sys.exit(main())"
SPEC = GOOD.replace('"cubic"', '"mine:Mine"\noptions.most = [50, 1000000]') + "trials = 3\n"
CONTROL = """
import os

class Mine:
    def __init__(self, most=50):
        self.most = most
        self.acks = 0

    def on_ack(self, sample):
        self.acks += 1
        if self.acks > self.most:
            END

    def on_congestion(self, event):
        pass

    def control(self):
        return 10
"""
RUST = """
use narrows_control::*;
struct Mine(f64, u32);
fn endless(n: u64) -> u64 { if n == u64::MAX { 0 } else { endless(n + 1) + n % 3 } }
impl CongestionControl for Mine {
    const OPTIONS: &'static [(&'static str, f64)] = &[("most", 50.0)];
    fn new(connection: &Connection) -> Self { Self(connection.option("most"), 0) }
    fn on_ack(&mut self, _sample: &AckSample) {
        self.1 += 1;
        if f64::from(self.1) > self.0 { END }
    }
    fn on_congestion(&mut self, _event: &CongestionEvent) {}
    fn control(&self) -> Control { Control::window(10) }
}
narrows_control::export!(Mine);
"""
LEAVE = "os._exit(0)"
LEAVE_LATER = """
def leave():
    from pathlib import Path
    logs = list(Path.cwd().rglob("tries.jsonl"))
    if Path("leave").exists() and any(log.read_bytes().count(b"\\n") > 8 for log in logs):
        os._exit(0)
"""


def narrows(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command as a person starts it, in its own process group."""
    return subprocess.Popen(
        [sys.executable, "-c", START, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def run_narrows(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """The status of a command, and what it printed."""
    with narrows(folder, *arguments) as child:
        printed, said = child.communicate(timeout=HANG_S)
    return child.returncode, printed, said


def one_run(folder: Path) -> str:
    """A specification of a single run, with the control's own default."""
    return write(folder, SPEC.replace("\noptions.most = [50, 1000000]", ""))


@pytest.mark.parametrize(
    "command",
    [
        ["run", "SPEC", "--allow-code", "mine.py"],
        ["run", "SPEC", "--set", "flows.0.cca=mine:Mine"],
        ["search", "mine:Mine", "--tries", "3"],
    ],
)
def test_a_control_that_leaves_is_no_success(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CONTROL.replace("END", LEAVE))
    spec = one_run(tmp_path)
    status, printed, said = run_narrows(
        tmp_path, *(spec if word == "SPEC" else word for word in command)
    )
    assert (status, printed) == (2, "")
    assert said.splitlines()[-1] == (
        "narrows: error: mine:Mine: found code that ended narrows with status 0; "
        "code that returns, or raises an exception, would be right"
    )


def test_a_module_that_leaves_while_it_is_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import os\nos._exit(0)\n")
    status, _, said = run_narrows(tmp_path, "run", one_run(tmp_path), "--allow-code", ".")
    assert status == 2
    assert "mine:Mine: found code that ended narrows with status 0" in said


def test_an_interrupt_that_a_control_raises_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CONTROL.replace("END", "raise KeyboardInterrupt"))
    status, _, said = run_narrows(tmp_path, "run", one_run(tmp_path), "--allow-code", ".")
    assert status == 2
    assert "mine:Mine: found a KeyboardInterrupt that no signal caused" in said


@pytest.mark.parametrize(
    ("code", "how"),
    [("std::process::exit(0)", "with status 0"), ("self.1 += endless(0) as u32;", "by signal ")],
)
def test_a_control_in_rust_that_leaves_or_crashes_is_named(
    code: str, how: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.rs").write_text(RUST.replace("END", code))
    spec = write(tmp_path, GOOD.replace('"cubic"', '"mine.rs"'))
    status, printed, said = run_narrows(tmp_path, "run", spec, "--allow-code", ".")
    assert (status, printed) == (2, "")
    assert f"mine.rs: found code that ended narrows {how}" in said


@pytest.mark.parametrize("end", [LEAVE, "os.abort()"])
def test_a_sweep_loses_only_the_run_whose_control_ends_it(end: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CONTROL.replace("END", end))
    command = ["run", write(tmp_path, SPEC), "--allow-code", ".", "--out", "out", "--json"]
    for new, stored in ((3, 0), (0, 3)):
        status, printed, _ = run_narrows(tmp_path, *command)
        found = json.loads(printed)
        assert (status, found["new"], found["stored"]) == (1, new, stored)
        assert [one["values"]["flows[0].options.most"] for one in found["failed"]] == [50] * 3
        how = "with status 0" if end == LEAVE else "by signal 6"
        assert all(
            f"mine:Mine: found code that ended its process {how}" in one["error"]
            for one in found["failed"]
        )
        for folder in ("locks", "tmp"):
            assert list((tmp_path / "out" / folder).iterdir()) == []
    assert run_cli("store", "check", str(tmp_path / "out")) == 0


def test_an_evaluation_goes_on_without_the_runs_that_were_lost(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CONTROL.replace("END", LEAVE))
    command = ["evaluate", "mine:Mine", "--suite", "quick", "--only", "tail-drop,high-loss"]
    status, printed, _ = run_narrows(tmp_path, *command)
    assert status == 1
    assert "Mine: runs failed in 2 situations: mine:Mine: found code that ended" in printed
    assert "CUBIC: 2 met" in printed


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_search_that_its_control_ends_keeps_its_log(jobs: str, tmp_path: Path) -> None:
    """The control leaves in the second batch of tries, as long as there is the file `leave`."""
    text = CONTROL.replace("END", "self.acks = -(10**9); leave()") + LEAVE_LATER
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "leave").touch()
    command = ["search", "mine:Mine", "--objective", "loss", "--tries", "12", "--jobs", jobs]
    status, printed, said = run_narrows(tmp_path, *command, "--out", "searched")
    assert (status, printed) == (2, "")
    assert "mine:Mine: found code that ended" in said
    log = next((tmp_path / "searched").rglob("tries.jsonl"))
    kept = log.read_text().splitlines()
    assert len(kept) == 1 + 8
    (tmp_path / "leave").unlink()
    assert run_narrows(tmp_path, *command, "--out", "searched")[0] in (0, 1)
    assert log.read_text().splitlines()[:9] == kept
    assert len(log.read_text().splitlines()) == 1 + 12


def test_the_output_of_a_control_stays_out_of_a_document(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(CONTROL.replace("END", "print('hello')"))
    for command in (["run", one_run(tmp_path)], ["run", write(tmp_path, SPEC, "study.toml")]):
        status, printed, said = run_narrows(tmp_path, *command, "--json", "--allow-code", ".")
        assert status == 0, said
        json.loads(printed)
        assert "hello\n" in said


ENDLESS = CONTROL.replace("END", "pass")


def endless(folder: Path) -> subprocess.Popen[str]:
    """A run of an own control that takes hours, once it has begun."""
    (folder / "mine.py").write_text(ENDLESS)
    text = SPEC.replace("\noptions.most = [50, 1000000]", "").replace('"2s"', '"100000s"')
    spec = write(folder, text + 'record = "summary"\n')
    child = narrows(folder, "run", spec, "--allow-code", ".", "--out", "out")
    await_that(lambda: list(folder.glob(".out*/trial-*")) or list(folder.glob(".out*")))
    return child


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("to_group", [True, False], ids=["group", "process"])
@pytest.mark.usefixtures("interruptible")
def test_signals_end_both_processes_once(number: int, to_group: bool, tmp_path: Path) -> None:
    with endless(tmp_path) as child:
        (os.killpg if to_group else os.kill)(child.pid, number)
        _, said = child.communicate(timeout=HANG_S)
    assert child.returncode == 128 + number
    assert [line for line in said.splitlines() if "Ctrl-C" not in line] == ["narrows: interrupted"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.toml", "mine.py"]


def test_a_killed_parent_takes_its_child_along(tmp_path: Path) -> None:
    with endless(tmp_path) as child:
        child.kill()
        child.communicate(timeout=HANG_S)  # until the last process closes the pipe
    assert child.returncode == -signal.SIGKILL
