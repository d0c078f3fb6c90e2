"""From a specification to scenarios, and from scenarios to hashes."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from specimens import GOOD, TOGETHER, scenario_of, spec_of

from narrows.plan import canonical_json, content_hash, plan


def test_a_scenario_in_full() -> None:
    scenario = scenario_of(TOGETHER)
    assert scenario["path"] == {
        "rate_bps": 8_000_000,
        "rtt_ns": 20_000_000,
        "buffer": {"bytes": 40_000},
        "queue": {"kind": "droptail"},
        "service": {"kind": "constant"},
        "loss": 0.001,
        "impairments": [],
        "links": [],
        "reverse": None,
    }
    assert scenario["flows"][1] == {
        "name": "chain",
        "cca": "reno",
        "options": {},
        "ecn": "off",
        "start_ns": 100_000_000,
        "stop_ns": None,
        "size_bytes": 20_000,
        "workload": None,
        "receive_window_bytes": None,
        "rtt_ns": None,
        "reverse": False,
        "links": None,
        "repeat_gap_ns": 50_000_000,
        "while": "large",
    }
    assert [flow["name"] for flow in scenario["flows"]] == ["large", "chain", "bbr-1", "bbr-2"]
    assert scenario["host"] == {
        "profile": "linux-6.12",
        "fq": True,
        "jitter_ns": 10_000,
        "timer_lateness_ns": 0,
        "gso": False,
        "metrics_save": False,
        "gro_ns": 0,
        "socket_buffers": "unlimited",
    }
    assert scenario["run"] == {
        "duration_ns": 5 * 10**9,
        "warmup_ns": 100_000_000,
        "stop_when": "large",
        "sample_interval_ns": 50_000_000,
        "record": "packets",
    }
    assert (scenario["name"], scenario["seed"]) == ("together", 7)


def test_packets_stay_packets() -> None:
    assert scenario_of(GOOD, ["path.buffer=100pkt"])["path"]["buffer"] == {"packets": 100}


def test_trials_have_seeds_that_follow() -> None:
    made = plan(spec_of(GOOD, ["run.trials=3", "run.seed=5"]), "1")
    assert [trial.seed for trial in made.trials] == [5, 6, 7]
    assert [trial.number for trial in made.trials] == [1, 2, 3]
    others = [{**trial.scenario, "seed": 0} for trial in made.trials]
    assert others[0] == others[1] == others[2]
    assert made.groups == ("cubic",)


def test_trials_share_in_memory_what_is_equal() -> None:
    """A sweep may have a million of them."""
    spec = spec_of(TOGETHER)
    first, *others = (trial.scenario for trial in plan(spec, "engine").trials)
    assert others
    for number, other in enumerate(others, start=2):
        assert canonical_json(other) == spec.canonical(number)
        assert [name for name in first if other[name] is not first[name]] == ["seed"]


def test_canonical_json_has_one_spelling() -> None:
    assert canonical_json({"b": [1, 0.5], "a": {"y": None, "x": True}}) == (
        '{"a":{"x":true,"y":null},"b":[1,0.5]}'
    )
    scenario = scenario_of(TOGETHER)
    shuffled = dict(reversed(list(scenario.items())))
    assert canonical_json(shuffled) == canonical_json(scenario)
    assert json.loads(canonical_json(scenario)) == scenario


def test_no_scenario_holds_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json({"loss": float("nan")})


def test_spellings_of_the_same_thing_hash_alike() -> None:
    one = plan(spec_of(GOOD), "1")
    same = ["path.rate=8000kbit", "run.warmup=0.5s", "path.loss=0", "flows.0.count=1"]
    assert plan(spec_of(GOOD, same), "1").hash == one.hash
    assert plan(spec_of(GOOD, ["path.loss=-0.0"]), "1").hash == one.hash


@pytest.mark.parametrize(
    "override",
    ["run.seed=2", "run.trials=2", "path.buffer=2bdp", "flows.0.name=a", "name=x", "host.fq=true"],
)
def test_everything_that_may_matter_changes_the_hash(override: str) -> None:
    assert plan(spec_of(GOOD, [override]), "1").hash != plan(spec_of(GOOD), "1").hash


def test_engine_and_back_end_change_the_hash() -> None:
    spec = spec_of(GOOD)
    hashes = {plan(spec, "1").hash, plan(spec, "2").hash, plan(spec, "1", "kernel").hash}
    assert len(hashes) == 3


def test_parts_of_a_hash_dont_run_together() -> None:
    assert content_hash(["ab", "c"]) != content_hash(["a", "bc"])
    assert content_hash(["a"]) == content_hash(iter(["a"]))
    assert len(content_hash([])) == 32


def test_starts_are_spread_within_a_class_and_anew_in_each_trial() -> None:
    text = GOOD.replace("[run]", 'count = 4\nstart_spread = "1s"\n\n[run]\ntrials = 2')
    made, again = (plan(spec_of(text), "test") for _ in range(2))
    assert made.groups == ("cubic",) * 4
    first, second = (
        [flow["start_ns"] for flow in trial.scenario["flows"]] for trial in made.trials
    )
    assert len({*first, *second}) == 8
    assert all(0 <= start < 1_000_000_000 for start in (*first, *second))
    assert [trial.hash for trial in again.trials] == [trial.hash for trial in made.trials]


def test_a_planned_run_takes_little_memory() -> None:
    """A sweep may have a million of them."""
    many = spec_of(TOGETHER, ["run.trials=3000"])
    plan(spec_of(TOGETHER), "engine")  # what is loaded and kept once
    tracemalloc.start()
    kept = plan(many, "engine")
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken / len(kept.trials) < 300
