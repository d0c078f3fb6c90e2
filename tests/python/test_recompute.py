"""The summary's numbers, computed again from the table of packets by other code.

Each seed gives a small random scenario of TCP, UDP, transfers and chains behind a drop-tail queue.
Nothing here uses `narrows.metrics` but the summary itself. `make fuzz` runs more seeds:
`NARROWS_SEEDS` of them, from `NARROWS_FUZZ_FIRST` on.
"""

from __future__ import annotations

import math
import os
import random
from collections import defaultdict, deque
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest

from narrows.backends import get_backend
from narrows.metrics.summary import summarise
from narrows.metrics.tables import summary_row
from narrows.plan import plan
from narrows.spec import parse

FIRST = int(os.environ.get("NARROWS_FUZZ_FIRST", "1")) % 2**31
SEEDS = range(FIRST, FIRST + int(os.environ.get("NARROWS_SEEDS", "12")))
SEGMENT = 1448
"""Bytes of payload in a full packet of TCP."""
HEADERS = {"tcp": 52, "udp": 28}
HANDSHAKE = 60
"""IP bytes of a SYN, the longest packet without payload."""
Steps = list[tuple[float, float]]
"""Values and the times in s from which they hold, the first from 0 on."""


@dataclass
class Case:
    """A random scenario as text, with the values that the expectations need."""

    text: str
    rates: Steps
    rtts: Steps
    warmup_s: float
    flows: dict[str, dict[str, Any]] = field(default_factory=dict)


def case_of(seed: int) -> Case:
    """The scenario of a seed: its warm-up ends early or late, and half of the paths change."""
    draw = random.Random(seed)
    rate, rtt = draw.choice([3, 8, 20]) * 1e6, draw.choice([12, 40, 130]) / 1e3
    duration, warmup = draw.choice([4, 7]), draw.choice([0.0, 0.31, 1.5])
    case = Case("", [(0.0, rate)], [(0.0, rtt)], warmup)
    lossy = draw.random() < 0.4
    text = f'[path]\nrate = "{rate:.0f}bit"\nrtt = "{rtt * 1e3:.0f}ms"\n'
    text += f'buffer = "{draw.choice([0.6, 1, 3])}bdp"\nloss = {0.01 if lossy else 0.0}\n'
    for number in range(draw.randint(1, 4)):
        entry, flow = _flow(draw, number)
        case.flows[flow["name"]] = flow
        text += entry
    text += _changes(draw, case, duration)
    text += f'[run]\nduration = "{duration}s"\nwarmup = "{warmup}s"\nseed = {seed}\n'
    case.text = text + 'record = "packets"\n'
    return case


def _flow(draw: random.Random, number: int) -> tuple[str, dict[str, Any]]:
    kind = draw.choice(["endless", "endless", "sized", "chain", "udp"])
    start = draw.choice([0.0, 0.0, 0.4])
    name = f"{kind}-{number}"
    flow = {"name": name, "kind": kind, "start_s": start, "headers": HEADERS["tcp"]}
    text = f'[[flows]]\nname = "{name}"\nstart = "{start}s"\n'
    if kind == "udp":
        flow["headers"] = HEADERS["udp"]
        rate = draw.choice([0.5, 2])
        return text + f'cca = "none"\nworkload = {{ kind = "udp", rate = "{rate}mbit" }}\n', flow
    text += f'cca = "{draw.choice(["reno", "cubic", "bbr"])}"\n'
    if kind in ("sized", "chain"):
        flow["size"] = draw.choice([9_000, 150_000, 900_000])
        text += f'size = "{flow["size"]}b"\n'
    if kind == "chain":
        flow["gap_s"] = draw.choice([0.0, 0.05, 0.3])
        text += f'repeat_gap = "{flow["gap_s"]}s"\n'
    if "size" in flow and draw.random() < 0.5:
        flow["deadline_s"] = draw.choice([0.1, 0.6])
        text += f'deadline = "{flow["deadline_s"]}s"\n'
    return text, flow


def _changes(draw: random.Random, case: Case, duration: float) -> str:
    text = ""
    for _ in range(draw.choice([0, 0, 1, 2])):
        at = max(case.rates[-1][0], case.rtts[-1][0]) + draw.choice([0.2, 0.9])
        if at >= duration:
            break
        text += f'[[changes]]\nat = "{at:.1f}s"\n'
        if draw.random() < 0.6:
            case.rates.append((round(at, 1), draw.choice([2, 12, 50]) * 1e6))
            text += f'rate = "{case.rates[-1][1]:.0f}bit"\n'
        else:
            case.rtts.append((round(at, 1), draw.choice([5, 60]) / 1e3))
            text += f'rtt = "{case.rtts[-1][1] * 1e3:.0f}ms"\n'
    return text


def integral(steps: Steps, begin: float, end: float) -> float:
    """The value times seconds in a span."""
    total = 0.0
    for (since, value), (until, _) in pairwise([*steps, (math.inf, 0.0)]):
        total += value * max(min(until, end) - max(since, begin), 0.0)
    return total


def time_to_send(rates: Steps, begin: float, bits: float) -> float:
    """How long a link needs for so many bits from a time on."""
    for (since, rate), (until, _) in pairwise([*rates, (math.inf, 0.0)]):
        begins = max(since, begin)
        if until <= begin:
            continue
        if bits <= rate * (until - begins):
            return begins + bits / rate - begin
        bits -= rate * (until - begins)
    raise AssertionError("the last rate lasts for ever")


class Events:
    """The events of packets, in their order."""

    def __init__(self, case: Case, rows: list[dict[str, Any]], end_s: float) -> None:
        self.case, self.end_s = case, end_s
        self.rows = [row for row in rows if row["time_s"] <= end_s]
        self.names = list(case.flows)

    def counted(self, *events: str, flow: str | None = None) -> list[dict[str, Any]]:
        """Those from the warm-up on; the instant 0 counts without a warm-up."""
        since = self.case.warmup_s if self.case.warmup_s > 0 else -1.0
        return [
            row
            for row in self.rows
            if row["event"] in events
            and row["time_s"] > since + 1e-10
            and (flow is None or self.names[row["flow"]] == flow)
        ]

    def data(self, *events: str, flow: str | None = None) -> list[dict[str, Any]]:
        """Packets with payload."""
        return [row for row in self.counted(*events, flow=flow) if row["size"] > HANDSHAKE]

    def payload(self) -> dict[str, int]:
        """The bytes that each flow's receiver got after the warm-up, each once."""
        seen: set[tuple[int, int, int]] = set()
        new = []
        for row in self.rows:
            key = (row["flow"], row["instance"], row["seq"])
            if row["event"] == "received" and row["size"] > HANDSHAKE and key not in seen:
                seen.add(key)
                new.append(id(row))
        first = set(new)
        found = dict.fromkeys(self.names, 0)
        for row in self.data("received"):
            if id(row) in first:
                name = self.names[row["flow"]]
                found[name] += row["size"] - self.case.flows[name]["headers"]
        return found

    def lives(self, name: str) -> list[tuple[float, float | None]]:
        """Start and end in s of each connection of a flow with a size; no end if it isn't done."""
        flow, number = self.case.flows[name], self.names.index(name)
        last = math.ceil(flow["size"] / SEGMENT)
        starts: dict[int, float] = {}
        ends: dict[int, float] = {}
        for row in self.rows:
            if row["flow"] != number:
                continue
            starts.setdefault(row["instance"], row["time_s"])
            if row["event"] == "ack_received" and row["seq"] >= last:
                ends.setdefault(row["instance"], row["time_s"])
        return [(starts[instance], ends.get(instance)) for instance in sorted(starts)]

    def backlog(self) -> float:
        """The mean of the bytes that wait, where the rate is constant."""
        rate, span = self.case.rates[0][1], self.end_s - self.case.warmup_s
        waiting: dict[tuple[int, int, int], deque[dict[str, Any]]] = defaultdict(deque)
        total, left = 0.0, 0.0
        for row in self.rows:
            queue = waiting[row["flow"], row["instance"], row["seq"]]
            if row["event"] == "sent":
                queue.append(row)
            elif row["event"] == "dropped":
                queue.pop()
            elif row["event"] == "forwarded":
                left = row["time_s"]
                total += self._waited(queue.popleft(), left - row["size"] * 8 / rate)
        kept = {id(row) for queue in waiting.values() for row in queue}
        still = [row for row in self.rows if id(row) in kept]
        # The first of those still there is in transmission since the last one left.
        total += sum(self._waited(row, left) for row in still[:1])
        total += sum(self._waited(row, self.end_s) for row in still[1:])
        return total / span

    def _waited(self, sent: dict[str, Any], until_s: float) -> float:
        """Bytes times seconds of a packet that waited until then, from the warm-up on."""
        return float(sent["size"] * max(until_s - max(sent["time_s"], self.case.warmup_s), 0.0))


def ranked(values: list[float], share: int) -> float:
    """The smallest value that this share of the values doesn't exceed."""
    return sorted(values)[max(math.ceil(share * len(values) / 100), 1) - 1]


def agree(found: float | None, value: Any) -> bool:
    """Whether a number of the summary is the expected one."""
    if isinstance(value, float):
        return found == pytest.approx(value, rel=1e-6, abs=1e-9)
    return bool(found == value)


def expected(case: Case, events: Events) -> dict[str, Any]:
    """The numbers of the summary that packets tell."""
    span = events.end_s - case.warmup_s
    forwarded, dropped = events.counted("forwarded"), events.counted("dropped")
    capacity = integral(case.rates, case.warmup_s, events.end_s)
    payload = events.payload()
    total = sum(payload.values())
    found: dict[str, Any] = {
        "utilization": min(sum(row["size"] for row in forwarded) * 8 / capacity, 1.0),
        "drops": len(dropped),
        "forwarded": len(forwarded),
        "loss_rate": len(dropped) / len(sent) if (sent := events.counted("sent")) else None,
        "flows": len(case.flows),
        "packets": sum(
            row["event"] == "forwarded" and row["size"] > HANDSHAKE for row in events.rows
        ),
    }
    if len(case.rates) == 1 and len(case.rtts) == 1:
        found["queue_mean_bdp"] = events.backlog() * 8 / (case.rates[0][1] * case.rtts[0][1])
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
            again = [row for row in events.data("sent", flow=name) if row["retransmission"]]
            found[f"{name}.retransmits"] = len(again)
        else:
            found |= {f"{name}.{key}": value for key, value in _transfers(case, events, name)}
    rates = [found.get(f"{name}.goodput_mbps") for name in case.flows]
    if None not in rates and any(rates):
        found["jain"] = sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates))
    return found


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
        ("completion_p50_s", ranked(times, 50)),
        ("completion_p95_s", ranked(times, 95)),
        ("completion_p99_s", ranked(times, 99)),
        ("completion_max_s", max(times)),
        ("slowdown_mean", sum(slow) / len(slow)),
        ("slowdown_p50", ranked(slow, 50)),
        (f"slowdown_p50_{span}", ranked(slow, 50)),
        (f"slowdown_p99_{span}", ranked(slow, 99)),
        ("slowdown_p99", ranked(slow, 99)),
    ]


def _least_s(case: Case, start: float, size: float) -> float:
    """Two round trips, and the payload's time on the link after the first."""
    spans = pairwise([*case.rtts, (math.inf, 0)])
    rtt = min(value for (_, value), (until, _) in spans if until > start)
    return 2 * rtt + time_to_send(case.rates, start + rtt, size * 8 * 1500 / SEGMENT)


def _late(case: Case, events: Events, name: str) -> float | None:
    """The part of the transfers that took longer than their deadline, or already do."""
    allowed_s = case.flows[name].get("deadline_s")
    if allowed_s is None:
        return None
    ages = [(end, (end or events.end_s) - start) for start, end in events.lives(name)]
    known = [age > allowed_s for end, age in ages if end is not None or age > allowed_s]
    return sum(known) / len(known) if known else None


@pytest.mark.parametrize("seed", SEEDS)
def test_the_summary_is_what_the_packets_tell(seed: int) -> None:
    case = case_of(seed)
    planned = plan(parse(case.text, "test").spec, "test")
    scenario = planned.trials[0].scenario
    result = get_backend("sim").run(scenario)
    names = list(case.flows)
    row = summary_row(summarise(scenario, result.tables, result.info, names), names)
    events = Events(case, result.tables["packets"].to_dicts(), result.info.end_s)
    numbers = expected(case, events)
    differing = {
        name: (row[name], value) for name, value in numbers.items() if not agree(row[name], value)
    }
    assert not differing, f"summary and packets differ in seed {seed}:\n{case.text}"
    assert_bounds(row, names)


def assert_bounds(row: dict[str, Any], names: list[str]) -> None:
    """What holds for every run: parts are within 0 and 1, delays are above 0, and orders."""
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
