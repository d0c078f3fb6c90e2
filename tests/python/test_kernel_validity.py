"""When a run on this machine's kernel shows a busy machine instead."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from specimens import GOOD, scenario_of

from narrows.backends.linux.validity import (
    MOST_DRY,
    WAKING_NS,
    dry_parts,
    most_waiting_ns,
    read_hosts,
    reasons,
)

SAMPLES = 100
STEP_NS = 20_000_000


def flows(**columns: Any) -> pl.DataFrame:
    """A sample of one flow each 20 ms; it is never short of anything unless `columns` say so."""
    plain = {"flow": 0, "cwnd": 10, "app_limited": 0, "rwnd_limited_us": 0, "sndbuf_limited_us": 0}
    given = {name: columns.get(name, [value] * SAMPLES) for name, value in plain.items()}
    return pl.DataFrame({"time_ns": [i * STEP_NS for i in range(SAMPLES)], **given})


def hosts(**changes: Any) -> dict[str, Any]:
    return {"ran_ns": 300, "waited_ns": 100, "turns": 9, "pressure_ns": 0, "dry": {}, **changes}


@pytest.mark.parametrize("since", ["0s", "1s"])
def test_samples_in_which_a_socket_had_run_dry_are_counted(since: str) -> None:
    scenario = scenario_of(GOOD, [f"run.warmup={since}"])
    dry = flows(app_limited=[0] * 90 + [1] * 10)
    assert list(dry_parts(dry, scenario).values()) == [0.1 if since == "0s" else 0.2]
    assert set(dry_parts(flows(), scenario).values()) == {0.0}


@pytest.mark.parametrize("limit", ["rwnd_limited_us", "sndbuf_limited_us"])
def test_a_flow_that_a_window_or_a_buffer_limits_has_not_run_dry(limit: str) -> None:
    held_up = flows(app_limited=[1] * SAMPLES, **{limit: list(range(SAMPLES))})
    assert set(dry_parts(held_up, scenario_of(GOOD)).values()) == {0.0}


def test_flows_with_a_size_end_and_are_not_judged() -> None:
    scenario = scenario_of(GOOD, ["flows.0.size=1mb"])
    assert dry_parts(flows(app_limited=[1] * SAMPLES), scenario) == {}
    gone = flows(cwnd=[None] * SAMPLES, app_limited=[None] * SAMPLES)
    assert dry_parts(gone, scenario_of(GOOD)) == {}


def test_starved_hosts_are_reported() -> None:
    path = scenario_of(GOOD, ["path.rtt=30ms"])
    assert list(reasons(hosts(turns=1000, waited_ns=1000 * 300_000), path)) == []
    (starved,) = reasons(hosts(turns=1000, waited_ns=1000 * 301_000), path)
    assert starved == (
        "senders and receivers waited 301 us for a processor each time; "
        "300 us is the most, 1% of the shortest round trip"
    )
    (dry,) = reasons(hosts(dry={"a": MOST_DRY, "b": 0.5}), path)
    assert dry.startswith('the socket of flow "b" had run dry in 50.00% of its samples')
    assert list(reasons(hosts(turns=0, waited_ns=0), path)) == []


def test_the_shortest_round_trip_counts() -> None:
    two = f'{GOOD}\n[[flows]]\ncca = "reno"\nrtt = "9ms"\n'
    assert most_waiting_ns(scenario_of(two, ["path.rtt=30ms"])) == 90_000
    assert most_waiting_ns(scenario_of(GOOD, ["path.rtt=1900us"])) == WAKING_NS


def test_the_files_of_a_run_are_read(tmp_path: Path) -> None:
    waits = {"hosts": {"ran_ns": 1, "waited_ns": 2, "turns": 3}, "pressure_ns": None}
    (tmp_path / "waits.json").write_text(json.dumps(waits), encoding="utf-8")
    found = read_hosts([tmp_path], flows(), scenario_of(GOOD))
    assert (found["ran_ns"], found["waited_ns"], found["turns"]) == (1, 2, 3)
    assert set(found["dry"].values()) == {0.0}
