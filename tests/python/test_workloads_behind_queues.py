"""Every workload behind every queue: the engine's own checks hold for each seed.

The engine counts every packet and every byte of a window, and panics if one is wrong. `make fuzz`
runs more seeds: `NARROWS_SEEDS` of them, from `NARROWS_FUZZ_FIRST` on.
"""

from __future__ import annotations

import os

import pytest

from narrows.backends import get_backend
from narrows.plan import plan
from narrows.spec import parse
from narrows.spec.registry import elements, queues

FIRST = int(os.environ.get("NARROWS_FUZZ_FIRST", "1")) % 2**31
SEEDS = range(FIRST, FIRST + int(os.environ.get("NARROWS_SEEDS", "5")))
SIZES = '{ kind = "lognormal", median = "15kb", sigma = 1.3 }'
GAPS = '{ kind = "exponential", mean = "200ms" }'
WORKLOADS = {
    "poisson": f'rate = "20/s", size = {SIZES}',
    "arrivals": f"gap = {GAPS}, size = {SIZES}",
    "on_off": f"on = {GAPS}, off = {GAPS}",
    "requests": f"size = {SIZES}, think = {GAPS}",
    "video": 'bitrate = "2mbit", chunk = "1s"',
    "adaptive_video": 'bitrates = ["500kbit", "2mbit"], chunk = "1s"',
    "web": 'html = "50kb", size = "200b", objects = 300, think = "200ms"',
    "udp": 'rate = "1mbit"',
    "ping": "",
    "media": "",
}
WITHOUT_CONTROL = {"udp", "ping", "media"}


def test_every_workload_is_here() -> None:
    assert WORKLOADS.keys() == elements("workloads").keys()


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("queue", list(queues()))
def test_every_workload_runs_behind_every_queue(queue: str, workload: str) -> None:
    engine = get_backend("sim")
    for seed in SEEDS:
        spec = parse(specification(queue, workload, seed), "test").spec
        result = engine.run(plan(spec, engine.engine).trials[0].scenario)
        assert result.info.packets > 0, f"seed {seed}"


def specification(queue: str, workload: str, seed: int) -> str:
    """20 users of a workload at 20 Mbit/s, where a queue builds up within seconds."""
    control = "none" if workload in WITHOUT_CONTROL else "cubic"
    return f"""
[path]
rate = "20mbit"
rtt = "40ms"
buffer = "1bdp"
queue = "{queue}"
[[flows]]
name = "users"
cca = "{control}"
count = 20
workload = {{ kind = "{workload}", {WORKLOADS[workload]} }}
[run]
duration = "6s"
warmup = "1s"
seed = {seed}
record = "summary"
"""
