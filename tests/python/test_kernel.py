"""Real Linux TCP in real time, on this machine's kernel: a few short runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kernel_here import kernel_missing
from specimens import GOOD, scenario_of, write

from narrows.backends import get_backend
from narrows.backends.kernel import Kernel
from narrows.metrics import summarise

pytestmark = pytest.mark.skipif(bool(kernel_missing()), reason=kernel_missing())

TWO = GOOD.replace('"8mbit"', '"16mbit"') + '\n[[flows]]\ncca = "bbr"\nrtt = "30ms"\n'


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return Kernel()


def test_two_flows_fill_the_link_and_the_tables_are_the_simulators(kernel: Kernel) -> None:
    overrides = ["run.record=packets", "run.duration=3s", "run.warmup=1s"]
    scenario = scenario_of(TWO, overrides)
    result = kernel.run(scenario)
    theirs = get_backend("sim").run(scenario).tables
    assert set(result.tables) == set(theirs)
    for name, table in theirs.items():
        assert result.tables[name].schema == table.schema, name
    for name in ("flow_samples", "queue_samples"):
        ours = result.tables[name]["time_s"].to_list()
        # A late machine shows in the last instant alone.
        assert ours[:-2] == theirs[name]["time_s"].to_list()[: len(ours) - 2]
    summary = summarise(scenario, result.tables, result.info)
    assert summary["bottleneck"]["utilization"] > 0.8
    assert summary["bottleneck"]["queue_bdp"]["max"] <= 1.0
    assert result.info.packets > 2000
    for flow, rtt in ((0, 20), (1, 30)):
        rows = result.tables["flow_samples"].filter(result.tables["flow_samples"]["flow"] == flow)
        least = rows["min_rtt_ms"].min()
        assert isinstance(least, float)
        # A late machine adds to it; nothing takes away from it.
        assert rtt <= least < rtt + 20
    assert set(result.tables["packets"]["event"]) == {"sent", "ack_received"}


def test_the_conditions_are_kept(kernel: Kernel) -> None:
    info = kernel.run(scenario_of(GOOD, ["run.duration=600ms", "run.warmup=100ms"])).info
    kept = info.conditions
    assert os.uname().release in kept["kernel"]
    assert kept["sysctls"]["net/ipv4/tcp_no_metrics_save"] == "1"
    assert kept["sysctls"]["net/ipv4/tcp_wmem"].endswith(" 67108864")
    assert kept["oversize_packets"] == 0
    late = kept["lateness_ns"]
    assert 0 < late["p50"] <= late["p99"] <= late["p999"] <= late["max"]
    limits = kept["lateness_limits_ns"]
    beyond = late["p99"] > limits["p99"] or late["p999"] > limits["p999"]
    assert (info.invalid is not None) == beyond


def test_a_chain_with_losses_completes_and_ends_the_run(kernel: Kernel) -> None:
    text = GOOD.replace(
        'cca = "cubic"',
        'cca = "cubic"\nname = "large"\nsize = "1mb"\n[[flows]]\ncca = "bbr"\nname = "chain"\n'
        'size = "50kb"\nrepeat_gap = "100ms"\nstart = "200ms"\nwhile = "large"',
    ).replace('duration = "2s"', 'duration = "20s"\nstop_when = "large"')
    result = kernel.run(scenario_of(text, ["path.rate=12mbit", "path.loss=0.01"]))
    done = result.tables["completions"]
    large = done.filter(done["flow"] == 0).row(0, named=True)
    assert result.info.end_s - large["end_s"] < 0.2
    assert result.info.end_s < 15
    assert done.filter(done["flow"] == 1).height >= 2
    last = result.tables["flow_samples"].filter(result.tables["flow_samples"]["flow"] == 0)
    assert last["received_bytes"].max() == 1_000_000
    # Lost behind the queue, so counted as its own drops and not as the queue's.
    dropped, queue_drops = last["dropped"].max(), result.tables["queue_samples"]["dropped_packets"]
    assert isinstance(dropped, int)
    assert dropped > 0 or queue_drops.max() == 0


def test_progress_is_heard_and_can_stop_the_run(kernel: Kernel) -> None:
    heard: list[float] = []

    def progress(sim_s: float, packets: int) -> None:
        heard.append(sim_s)
        if packets > 100:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        kernel.run(scenario_of(GOOD, ["run.duration=1000s", "run.record=summary"]), progress)
    assert heard == sorted(heard)
    assert not ours()


def test_nothing_is_left_after_kill_9(tmp_path: Path) -> None:
    write(tmp_path)
    command = [sys.executable, "-c", "from narrows.cli import main; main()", "run", "good.toml"]
    command += ["--backend", "kernel", "--set", "run.duration=100s"]
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    process = subprocess.Popen(command, cwd=tmp_path, env=environment)
    await_that(lambda: len(ours(str(temporary))) == 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    await_that(lambda: not ours(str(temporary)))
    assert len(list(temporary.iterdir())) == 1
    command[command.index("run.duration=100s")] = "run.duration=600ms"
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    assert b"bottleneck" in done.stdout
    assert not list(temporary.iterdir())


def await_that(holds: object) -> None:
    deadline = time.monotonic() + 20
    assert callable(holds)
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def ours(mark: str = "narrows-kernel-") -> list[str]:
    """Living routers and traffic tools with `mark` on their command line."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_text()
        except OSError:
            continue
        if command.split("\0")[0].rsplit("/", 1)[-1].startswith("narrows-") and mark in command:
            found.append(command)
    return found
