"""The crate outside the workspace: it builds, and its control runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from waiting import HANG_S

import narrows as nw
from narrows import _native

ROOT = Path(__file__).parents[2]
CRATE = ROOT / "experiments" / "own-control-rust"


def test_a_control_from_outside_runs(tmp_path):
    shutil.copy(ROOT / "Cargo.lock", CRATE / "Cargo.lock")  # the workspace's versions are at hand
    program = _build()
    result = nw.run(CRATE / "experiment.toml", out=tmp_path / "result")
    file = result.path / "trial-1" / "scenario.json"
    command = [program, file]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=True)
    found = re.fullmatch(r"(\d+) packets in 20 s, digest (\w+)\n", done.stdout)
    reno = _native.run(file.read_text())
    assert found
    assert int(found[1]) > 0.9 * reno.packets
    assert found[2] != reno.digest


def _build():
    environment = os.environ | {"CARGO_TARGET_DIR": str(ROOT / "target")}
    command = ["cargo", "build", "--offline", "--quiet"]
    done = subprocess.run(
        command, cwd=CRATE, env=environment, capture_output=True, text=True, timeout=HANG_S
    )
    assert done.returncode == 0, done.stderr
    return ROOT / "target" / "debug" / "own-control"
