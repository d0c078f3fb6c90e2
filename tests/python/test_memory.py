"""A run that needs more memory than there is gets refused, with numbers and a remedy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from specimens import GOOD, run_cli, scenario_of, spec_of, write
from waiting import HANG_S, await_that

from narrows.errors import SpecError
from narrows.execute import memory
from narrows.execute.demand import demand
from narrows.execute.memory import MemoryBudget, free_memory
from narrows.plan import grid, plan
from narrows.spec import load_study

POISSON = GOOD.replace(
    'cca = "cubic"',
    'cca = "cubic"\nworkload = { kind = "poisson", rate = "1000000/s", size = "1kb" }',
)
GB = 10**9


def need(*overrides: str, text: str = GOOD) -> int:
    return sum(part.bytes for part in demand(scenario_of(text, overrides)))


@pytest.mark.parametrize(
    ("text", "overrides", "words"),
    [
        (GOOD, ["run.sample_interval=1us", "run.duration=9s"], ["9,000,001 instants", "1us"]),
        (GOOD, ["flows.0.count=10000", "run.duration=3000s"], ["10,000 flows", "sample_interval"]),
        (POISSON, ["run.duration=100s"], ["connections that arrive in 100s", "lower rate"]),
        (GOOD, ["run.record=packets", "path.rate=100gbit", "run.duration=60s"], ["packets"]),
        (GOOD, ["path.buffer=1000gb", "path.rate=1000gbit", "run.duration=1000s"], ["buffer"]),
    ],
)
def test_a_run_that_needs_more_memory_than_is_free_is_refused(
    text: str,
    overrides: list[str],
    words: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory.MEMORY, "read_free", lambda: 8 * GB)
    settings = [word for override in overrides for word in ("--set", override)]
    out = tmp_path / "out"
    assert run_cli("run", write(tmp_path, text), *settings, "--out", str(out)) == 2
    said = capsys.readouterr().err
    assert "found a run that needs about" in said
    assert "8 GB is free" in said
    for word in words:
        assert word in said
    assert not out.exists()


def test_usual_scenarios_need_little_memory() -> None:
    assert need() < 0.01 * GB
    assert need("flows.0.count=100", "run.duration=600s", "path.rate=10gbit") < 20 * GB
    assert need("flows.0.count=100", "run.duration=600s", "run.record=summary") < 0.01 * GB


MEASURE = """
import json, resource, sys
from pathlib import Path
from narrows.runner import execute, prepare
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
spec, out, *overrides = sys.argv[1:]
execute(prepare(spec), out=Path(out) / "first")
before = peak()
execute(prepare(spec, overrides), out=Path(out) / "second")
print(json.dumps(peak() - before))
"""


@pytest.mark.parametrize(
    "overrides",
    [
        ["run.sample_interval=50us", "run.warmup=0s", "flows.0.cca=bbr3"],
        ["run.record=packets", "path.rate=500mbit"],
        ["flows.0.count=2000", "run.record=summary"],
        ["flows.0.count=60", "run.sample_interval=2ms", "run.warmup=0s"],
    ],
)
def test_a_run_takes_less_than_the_estimate(overrides: list[str], tmp_path: Path) -> None:
    spec = write(tmp_path)
    command = [sys.executable, "-c", MEASURE, spec, str(tmp_path), *overrides]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=True)
    # What Python and its libraries keep for themselves differs by some megabytes.
    assert json.loads(done.stdout) < need(*overrides) + 30_000_000


def test_a_long_run_takes_little_more_than_a_short_one() -> None:
    hour = ["flows.0.count=100", "run.duration=3600s", "run.sample_interval=100ms"]
    assert need(*hour) < 0.7 * GB
    assert need(*hour, "run.sample_interval=10ms") < 10 * need(*hour)


def test_runs_that_fit_one_by_one_wait_for_each_other() -> None:
    scenario = scenario_of(GOOD, ["run.sample_interval=1us"])
    whole = sum(part.bytes for part in demand(scenario))
    budget, entered, waited = (
        MemoryBudget(lambda: int(whole * 1.5)),
        threading.Event(),
        threading.Event(),
    )

    def second() -> None:
        with budget.of(scenario, waited.set):
            entered.set()

    thread = threading.Thread(target=second)
    with budget.of(scenario, lambda: None):
        thread.start()
        await_that(waited.is_set)
        assert not entered.is_set()
    thread.join(HANG_S)
    assert entered.is_set()


def test_waiting_ends_with_the_exception_of_the_watcher() -> None:
    scenario = scenario_of(GOOD, ["run.sample_interval=1us"])
    whole = sum(part.bytes for part in demand(scenario))
    budget = MemoryBudget(lambda: int(whole * 1.5))

    def stop() -> None:
        raise KeyboardInterrupt

    with (
        budget.of(scenario, lambda: None),
        pytest.raises(KeyboardInterrupt),
        budget.of(scenario, stop),
    ):
        pytest.fail("there is no memory")
    with budget.of(scenario, stop):
        pass


def test_no_run_is_refused_if_the_free_memory_is_unknown() -> None:
    with MemoryBudget(lambda: None).of(
        scenario_of(GOOD, ["run.sample_interval=1us"]), lambda: None
    ):
        pass
    with (
        pytest.raises(SpecError, match="0 GB is free"),
        MemoryBudget(lambda: 0).of(scenario_of(GOOD), lambda: None),
    ):
        pytest.fail("there is no memory")


@pytest.mark.parametrize("version", [1, 2])
def test_limits_of_control_groups_count(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {1: "5:cpu:/x\n4:memory:/jobs/mine\n", 2: "0::/jobs/mine\n"}[version]
    (tmp_path / "own").write_text(own)
    root = tmp_path / ("memory" if version == 1 else "")
    inner = root / "jobs" / "mine"
    inner.mkdir(parents=True)
    limit, usage = {
        1: ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        2: ("memory.max", "memory.current"),
    }[version]
    cache = "total_inactive_file" if version == 1 else "inactive_file"
    for group, most in (
        (inner, "max\n" if version == 2 else str(2**60)),
        (root / "jobs", "1000000"),
    ):
        (group / limit).write_text(most)
        (group / usage).write_text("600000\n")
        (group / "memory.stat").write_text(f"anon 1\n{cache} 100000\n")
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path)
    assert free_memory() == 450_000


def test_this_machine_says_what_is_free() -> None:
    free = free_memory()
    assert free is not None
    assert 0 < free <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 2


def test_more_runs_than_can_be_planned_are_refused_before_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SpecError, match=r"10,000 trials with 1,010,000 flows in all; at most"):
        plan(spec_of(GOOD, ["flows.0.count=101", "run.trials=10000"]), "engine")
    monkeypatch.setattr(sys.modules["narrows.plan.grid"], "MOST_FLOWS", 5)
    study = load_study(write(tmp_path, GOOD), ["path.rtt=['10ms', '20ms', '30ms']", "run.trials=2"])
    with pytest.raises(SpecError, match=r"found 6 flows in the runs of the first 3 combinations"):
        grid(study, "engine")


CLOSED = """
[path]
rate = "1gbit"
rtt = "100us"
buffer = "1bdp"
{impairments}
[[flows]]
{flow}
[run]
duration = "5s"
"""
REQUESTS = 'cca = "cubic"\ncount = 100\nworkload = { kind = "requests", size = "1b" }'
CHAIN = 'cca = "cubic"\nsize = "1b"\nrepeat_gap = "0s"\nrtt = "10us"'
SMALL = 'cca = "none"\nworkload = { kind = "udp", rate = "500mbit", size = "10b" }'


@pytest.mark.parametrize(
    ("flow", "impairments", "least_gb", "words"),
    [
        (REQUESTS, "", 2.0, "transfers that follow one another"),
        (CHAIN, "", 0.9, "transfers that follow one another"),
        (SMALL, '[{ kind = "netem", delay = "2s" }]', 1.0, "packets that impairments hold"),
        (SMALL, '[{ kind = "outage", outages = { "1s" = "3s" }, mode = "hold" }]', 1.0, "hold"),
        ('cca = "cubic"', [{"kind": "duplicate", "probability": 1}] * 22, 4.0, "copy"),
    ],
    ids=["requests", "chain", "netem", "outage", "copies"],
)
def test_workloads_that_wait_and_multiply_are_estimated(
    flow: str, impairments: object, least_gb: float, words: str
) -> None:
    if isinstance(impairments, list):
        impairments = "[" + ", ".join('{kind = "duplicate", probability = 1}' for _ in impairments)
        impairments += "]"
    line = f"impairments = {impairments}" if impairments else ""
    parts = demand(scenario_of(CLOSED.format(flow=flow, impairments=line)))
    assert parts[0].bytes > least_gb * GB
    assert words in parts[0].what


def test_a_run_that_outgrows_its_estimate_is_ended() -> None:
    left = [GB, 10**8, 10**8, GB]
    budget = MemoryBudget(lambda: left.pop(0))
    budget.check()
    time.sleep(0.11)
    with pytest.raises(memory.MemoryShortError, match="more memory than estimated"):
        budget.check()
    budget.check()  # meanwhile another run continues
    assert len(left) == 2


def test_a_run_that_is_ended_says_why_and_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory.MEMORY, "read_free", lambda: 10**8)
    words = ["run", write(tmp_path, GOOD)]
    words += ["--set", "run.duration=3000s", "--set", "run.record=summary"]
    assert run_cli(*words, "--out", str(tmp_path / "out")) == 1
    assert "more memory than estimated, while 0.1 GB is left" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["good.toml"]
