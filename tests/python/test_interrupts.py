"""Ctrl-C and kill -9 at any moment of a command: a word, no traceback, and nothing left behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from required import needs
from specimens import GOOD, write

from narrows import cli
from narrows.cli.status import INTERRUPTED

TOOL = Path(__file__).parents[2] / "tools" / "kill_runs.py"
COMMAND = """
from narrows.start import main
print("ready", flush=True)
raise SystemExit(main())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("after_ms", [10, 80, 160, 250, 400])
def test_a_signal_while_libraries_load(number: int, after_ms: int, tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    child = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "run", "good.toml", "--out", "out"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(after_ms / 1000)
    child.send_signal(number)
    _, said = child.communicate(timeout=300)
    assert (child.returncode, said) in ((128 + number, "narrows: interrupted\n"), (0, ""))


def test_a_signal_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """As `nohup` has it."""
    write(tmp_path, GOOD)
    code = f"import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n{COMMAND}"
    child = subprocess.Popen(
        [sys.executable, "-c", code, "run", "good.toml", "--out", "out"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGHUP)
    child.communicate(timeout=300)
    assert child.returncode == 0


@pytest.mark.parametrize("status", [0, INTERRUPTED])
def test_an_interrupted_command_leaves_without_ending_the_interpreter(status: int) -> None:
    """A library's thread that is still at work would abort the process while that ends."""
    code = (
        "import atexit, sys; from narrows.cli.interrupts import leave_with\n"
        f"atexit.register(print, 'ending'); leave_with({status}); sys.exit({status})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (status, "" if status else "ending\n")


def test_ctrl_c_does_not_change_the_status_of_what_is_done() -> None:
    """The interpreter's end would give the signal back to the system, which kills."""
    code = (
        "import atexit, os, signal; from narrows.cli.interrupts import leave_with\n"
        "class Late:\n"
        "    def __del__(self, kill=os.kill, me=os.getpid(), what=signal.SIGINT): kill(me, what)\n"
        "import builtins; builtins.late = Late(); leave_with(0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_ctrl_c_where_python_cannot_raise_it_comes_again() -> None:
    """A callback of a weak reference, as imports have some: what it raises is only printed."""

    class BlockedRun:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)  # the signal arrives here

    def work(_arguments: object) -> int:
        BlockedRun()
        threading.Event().wait(60)
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli, "dispatch", work)
        began = time.monotonic()
        assert cli.main([]) == INTERRUPTED
        assert time.monotonic() - began < 50


@pytest.mark.parametrize(
    ("name", "commands"),
    [
        ("KILL", "run,sweep"),
        ("INT", "run,sweep"),
        ("TERM", "run,sweep"),
        ("HUP", "search,figure"),
        ("TERM", "evaluate,analyze"),
        pytest.param("KILL", "kernel", marks=needs("kernel")),
        pytest.param("TERM", "kernel", marks=needs("kernel")),
    ],
)
def test_nothing_is_left_of_runs_that_were_killed(name: str, commands: str) -> None:
    seed = str(time.time_ns() % 1_000_000)
    options = ["--kills", "1", "--seed", seed, "--signals", name, "--commands", commands]
    done = subprocess.run(
        [sys.executable, str(TOOL), *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^0 of [12] left something$", done.stdout, re.MULTILINE)
