"""The summary's numbers, computed again from the table of packets by other code.

Each seed gives a small random scenario of TCP, UDP, transfers and chains behind a drop-tail queue.
Nothing here uses `narrows.metrics` but the summary itself. `make fuzz` runs more seeds:
`NARROWS_SEEDS` of them, from `NARROWS_FUZZ_FIRST` on.
"""

from __future__ import annotations

import math
import os
from itertools import pairwise
from typing import Any

import pytest
from recomputed import (
    HANDSHAKE,
    SEGMENT,
    Case,
    Events,
    agree,
    case_of,
    integral,
    quantile,
    time_to_send,
)

from narrows.backends import get_backend
from narrows.metrics.summary import summarise
from narrows.metrics.tables import summary_row
from narrows.plan import plan
from narrows.spec import parse

FIRST = int(os.environ.get("NARROWS_FUZZ_FIRST", "1")) % 2**31
SEEDS = range(FIRST, FIRST + int(os.environ.get("NARROWS_SEEDS", "12")))


def expect(case: Case, events: Events) -> dict[str, Any]:
    """Computes the numbers of the summary that follow from packets."""
    span = events.end_s - case.warmup_s
    forwarded, dropped = events.counted_rows("forwarded"), events.counted_rows("dropped")
    capacity = integral(case.rates, case.warmup_s, events.end_s)
    payload = events.payload()
    total = sum(payload.values())
    found: dict[str, Any] = {
        "utilization": min(sum(row["size"] for row in forwarded) * 8 / capacity, 1.0),
        "drops": len(dropped),
        "forwarded": len(forwarded),
        "loss_rate": len(dropped) / len(sent) if (sent := events.counted_rows("sent")) else None,
        "flows": len(case.flows),
        "packets": sum(
            row["event"] == "forwarded" and row["size"] > HANDSHAKE for row in events.rows
        ),
    }
    if len(case.rates) == 1 and len(case.rtts) == 1:
        waited = sum(span * size for span, size in events.backlog())
        found["queue_mean_bdp"] = _in_bdp(case, events, waited)
    if "loss = 0.01" in case.text:
        lost = events.data("dropped", "lost")
        sent = len(events.data("sent"))
        found["path_loss_rate"] = len(lost) / sent if sent else None
        found["path_drops"] = len(lost)
    for name, flow in case.flows.items():
        found[f"{name}.share"] = payload[name] / total if total else None
        if flow["kind"] in ("endless", "udp"):
            active = min(span, events.end_s - flow["start_s"])
            found[f"{name}.goodput_mbps"] = payload[name] * 8e-6 / active
            wire = sum(row["size"] for row in events.data("forwarded", flow=name))
            found[f"{name}.throughput_mbps"] = wire * 8e-6 / active
            repeated = [row for row in events.data("sent", flow=name) if row["retransmission"]]
            found[f"{name}.retransmits"] = len(repeated)
        else:
            found |= {f"{name}.{key}": value for key, value in _transfers(case, events, name)}
    rates = [found.get(f"{name}.goodput_mbps") for name in case.flows]
    if None not in rates and any(rates):
        found["jain"] = sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates))
    return found


def _in_bdp(case: Case, events: Events, waited: float) -> float:
    """A mean queue, from the bytes that waited and for how many seconds."""
    mean = waited / (events.end_s - case.warmup_s)
    return mean * 8 / (case.rates[0][1] * case.rtts[0][1])


def rounding(case: Case, events: Events, name: str) -> float:
    """How far a number may be off since packets have times in whole nanoseconds."""
    if name != "queue_mean_bdp":
        return 0.0
    return _in_bdp(case, events, sum(1e-9 * row["size"] for row in events.counted_rows("sent")))


def _transfers(case: Case, events: Events, name: str) -> list[tuple[str, float | None]]:
    lives, size = events.lives(name), case.flows[name]["size"]
    done = [(start, end) for start, end in lives if end is not None]
    times = [end - start for start, end in done]
    found: list[tuple[str, float | None]] = [
        ("completed", len(done)),
        ("unfinished", len(lives) - len(done)),
        ("late", _late(case, events, name)),
    ]
    if not times:
        return [*found, ("completion_mean_s", None)]
    least = [_least_s(case, start, size) for start, _ in done]
    span = "to_10kb" if size <= 10_000 else "to_1mb"
    slow = [took / shortest for took, shortest in zip(times, least, strict=True)]
    return [
        *found,
        ("completion_mean_s", sum(times) / len(times)),
        ("completion_p50_s", quantile(times, 50)),
        ("completion_p95_s", quantile(times, 95)),
        ("completion_p99_s", quantile(times, 99)),
        ("completion_max_s", max(times)),
        ("slowdown_mean", sum(slow) / len(slow)),
        ("slowdown_p50", quantile(slow, 50)),
        (f"slowdown_p50_{span}", quantile(slow, 50)),
        (f"slowdown_p99_{span}", quantile(slow, 99)),
        ("slowdown_p99", quantile(slow, 99)),
    ]


def _least_s(case: Case, start: float, size: float) -> float:
    """The shortest time: two round trips, and the payload's time on the link after the first."""
    spans = pairwise([*case.rtts, (math.inf, 0)])
    rtt = min(value for (_, value), (until, _) in spans if until > start)
    return 2 * rtt + time_to_send(case.rates, start + rtt, size * 8 * 1500 / SEGMENT)


def _late(case: Case, events: Events, name: str) -> float | None:
    """The share of the transfers that missed their deadline, unfinished ones included."""
    allowed_s = case.flows[name].get("deadline_s")
    if allowed_s is None:
        return None
    ages = [(end, (end or events.end_s) - start) for start, end in events.lives(name)]
    known = [age > allowed_s for end, age in ages if end is not None or age > allowed_s]
    return sum(known) / len(known) if known else None


@pytest.mark.parametrize("seed", SEEDS)
def test_the_summary_follows_from_the_packets(seed: int) -> None:
    case = case_of(seed)
    planned = plan(parse(case.text, "test").spec, "test")
    scenario = planned.trials[0].scenario
    result = get_backend("sim").run(scenario)
    names = list(case.flows)
    row = summary_row(summarise(scenario, result.tables, result.info, names), names)
    events = Events(case, result.tables["packets"].to_dicts(), result.info.end_s)
    numbers = expect(case, events)
    differing = {
        name: (row[name], value)
        for name, value in numbers.items()
        if not agree(row[name], value, rounding(case, events, name))
    }
    assert not differing, f"summary and packets differ in seed {seed}:\n{case.text}"
    assert_bounds(row, names)


def assert_bounds(row: dict[str, Any], names: list[str]) -> None:
    """Checks bounds of every run: shares from 0 to 1, no negative delay, ordered percentiles."""
    assert 0 <= row["utilization"] <= 1
    shares = [row[f"{name}.share"] for name in names]
    assert None in shares or sum(shares) == pytest.approx(1.0)
    for unit in ("bdp", "ms"):
        queue = [row[f"queue_{part}_{unit}"] for part in ("p5", "p50", "p95", "max")]
        if None not in queue:
            assert 0 <= queue[0] <= queue[1] <= queue[2] <= queue[3]
            assert row[f"queue_mean_{unit}"] <= queue[3]
    for name in names:
        delays = [row[f"{name}.delay_{part}_ms"] for part in ("p50", "p95", "p99")]
        if None not in delays:
            assert 0 <= delays[0] <= delays[1] <= delays[2]
            assert row[f"{name}.delay_mean_ms"] >= 0
        slowest = row.get(f"{name}.slowdown_p50")
        assert slowest is None or slowest >= 1
