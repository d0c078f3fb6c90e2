"""The example that trains an agent, in a short form."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from required import module

import narrows as nw

module("gymnasium")
module("cmaes")

EXAMPLE = Path(__file__).parents[2] / "experiments" / "agent"


@pytest.mark.parametrize("environment", ["Bottleneck", "Mixed", "Cellular"])
def test_a_policy_is_trained_and_held_against_reno(environment: str, tmp_path: Path) -> None:
    short = ["--generations", "1", "--population", "4", "--episodes", "2", "--tests", "1"]
    short += ["--environment", environment]
    done = subprocess.run(
        [sys.executable, EXAMPLE / "train.py", *short],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(EXAMPLE)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"4000 steps in .* a second", done.stdout), done.stdout
    assert re.search(r"power: agent [\d.]+ Mbit/s, reno [\d.]+ Mbit/s", done.stdout), done.stdout


def test_the_trained_control_keeps_the_queue_short(tmp_path: Path) -> None:
    result = nw.run(EXAMPLE / "experiment.toml", out=tmp_path / "out", allow_code=[EXAMPLE])
    row = result.summary_table.row(0, named=True)
    assert row["utilization"] > 0.8
    assert row["queue_mean_bdp"] < 0.6
