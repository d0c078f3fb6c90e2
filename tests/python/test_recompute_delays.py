"""Round-trip times, queueing delays, queues, convergence and RTT bias, computed from packets.

Each seed gives flows whose windows stay below the buffer, so that no packet is lost: then every
acknowledgement measures the round trip of the last packet that it covers. Percentiles are compared
with the packets' own distribution, as the histograms' buckets are up to 1/128 wide.
"""

from __future__ import annotations

import math
import os
import random
from typing import Any

import pytest
from recomputed import HANDSHAKE, HEADERS, Case, Events, WeightedValues, agree

from narrows.backends import get_backend
from narrows.metrics.summary import summarise
from narrows.metrics.tables import summary_row, summary_tables
from narrows.plan import plan
from narrows.spec import parse

FIRST = int(os.environ.get("NARROWS_FUZZ_FIRST", "1")) % 2**31
SEEDS = range(FIRST, FIRST + int(os.environ.get("NARROWS_SEEDS", "12")))
BUCKET = 1 / 128
"""The width of a histogram's bucket, as a part of its values."""
FAIR, FAIR_SECONDS = 0.9, 5
"""Jain's index in every second, and for how many seconds, of flows that have converged."""
PERCENTILES = {"p5": 5, "p50": 50, "p95": 95, "p99": 99}


def calm_case(seed: int) -> Case:
    """A random scenario of endless flows, probes and datagrams that loses no packet."""
    draw = random.Random(seed)
    rate, rtt = draw.choice([4, 10, 25]) * 1e6, draw.choice([12, 40, 90]) / 1e3
    case = Case("", [(0.0, rate)], [(0.0, rtt)], draw.choice([0.0, 0.31, 1.5]))
    text = f'[path]\nrate = "{rate:.0f}bit"\nrtt = "{rtt * 1e3:.0f}ms"\nbuffer = "1000pkt"\n'
    for number in range(draw.randint(2, 4)):
        kind = draw.choice(["endless", "endless", "endless", "ping", "udp"])
        name, start = f"{kind}-{number}", draw.choice([0.0, 0.0, 0.4])
        own = draw.choice([None, 25, 61])
        flow = {"name": name, "kind": kind, "start_s": start, "rtt_s": (own or rtt * 1e3) / 1e3}
        flow["headers"] = HEADERS["tcp" if kind == "endless" else "udp"]
        case.flows[name] = flow
        text += f'[[flows]]\nname = "{name}"\nstart = "{start}s"\n'
        text += f'rtt = "{own}ms"\n' if own else ""
        text += {
            "endless": f'cca = "{draw.choice(["reno", "cubic", "bbr"])}"\n'
            f'receive_window = "{draw.choice([30, 64, 128])}kb"\n',
            "ping": 'cca = "none"\nworkload = { kind = "ping", interval = "37ms" }\n',
            "udp": 'cca = "none"\nworkload = { kind = "udp", rate = "300kbit" }\n',
        }[kind]
    text += f'[run]\nduration = "8s"\nwarmup = "{case.warmup_s}s"\nrecord = "packets"\n'
    case.text = text + f"seed = {seed}\n"
    return case


def round_trips(events: Events, name: str) -> list[float]:
    """The round-trip times in ms of a flow that loses nothing, from the warm-up on."""
    case, number = events.case, events.names.index(name)
    probe = case.flows[name]["kind"] == "ping"
    sent: dict[int, float] = {}
    acked, found = -1, []
    for row in events.rows:
        if row["flow"] != number:
            continue
        if row["event"] == "sent" and row["size"] > HANDSHAKE:
            assert row["seq"] not in sent, "a packet leaves again"
            sent[row["seq"]] = row["time_s"]
        elif row["event"] == "ack_received":
            newest = row["seq"] if probe else row["seq"] - 1
            if newest > acked and newest in sent:
                acked = newest
                unit = 1 if probe else 1000  # Linux counts whole microseconds
                ends = [round(at * 1e9) // unit for at in (sent[newest], row["time_s"])]
                found.append((row["time_s"], (ends[1] - ends[0]) * unit / 1e6))
    return [rtt for at, rtt in found if at >= case.warmup_s]


def expected_convergence(case: Case, events: Events) -> float | None:
    """From the start of the last flow to the first five fair seconds, each of them fair."""
    begin = max(flow["start_s"] for flow in case.flows.values())
    count = math.floor(events.end_s - begin + 1e-9)
    got = {name: [0] * (count + 1) for name in case.flows}
    seen: set[tuple[int, int, int]] = set()
    for row in events.rows:
        key = (row["flow"], row["instance"], row["seq"])
        if row["event"] == "received" and row["size"] > HANDSHAKE and key not in seen:
            seen.add(key)
            name = events.names[row["flow"]]
            window = math.ceil(row["time_s"] - begin - 1e-9) - 1
            if window >= 0:
                got[name][min(window, count)] += row["size"] - case.flows[name]["headers"]
    fair = [is_fair([got[name][window] for name in got]) for window in range(count)]
    run = 0
    for window, good in enumerate(fair):
        run = run + 1 if good else 0
        if run == FAIR_SECONDS:
            return float(window + 1 - run)
    return None


def is_fair(amounts: list[int]) -> bool:
    """Returns True if Jain's index of the amounts is high enough."""
    squares = sum(amount**2 for amount in amounts)
    return bool(squares) and sum(amounts) ** 2 / (len(amounts) * squares) >= FAIR


def expected_bias(case: Case, row: dict[str, Any]) -> float | None:
    """The slope of log goodput over log RTT, by the covariance, with the sign turned."""
    points = [
        (math.log(flow["rtt_s"]), math.log(row[f"{name}.goodput_mbps"]))
        for name, flow in case.flows.items()
        if row[f"{name}.goodput_mbps"]
    ]
    if len({x for x, _ in points}) < 2:
        return None
    count = len(points)
    sums = [sum(x**a * y**b for x, y in points) for a, b in ((1, 0), (0, 1), (1, 1), (2, 0))]
    return -(count * sums[2] - sums[0] * sums[1]) / (count * sums[3] - sums[0] ** 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_delays_and_fairness_are_what_the_packets_tell(seed: int) -> None:
    case = calm_case(seed)
    scenario = plan(parse(case.text, "test").spec, "test").trials[0].scenario
    result = get_backend("sim").run(scenario)
    names = list(case.flows)
    summary = summarise(scenario, result.tables, result.info, names)
    row = summary_row(summary, names)
    events = Events(case, result.tables["packets"].to_dicts(), result.info.end_s)
    assert not events.counted_rows("dropped", "lost"), case.text
    wrong = [
        *(line for name in names for line in wrong_round_trips(case, events, summary, name)),
        *wrong_queue(case, events, row),
    ]
    for name, value in (
        ("convergence_s", expected_convergence(case, events)),
        ("rtt_bias", expected_bias(case, row)),
    ):
        wrong += [] if agree(row[name], value) else [f"{name}: {row[name]}, packets {value}"]
    assert not wrong, f"seed {seed}:\n{case.text}"


def wrong_round_trips(case: Case, events: Events, summary: dict[str, Any], name: str) -> list[str]:
    """The statistics of a flow's round-trip times and queueing delays that packets contradict."""
    rows = summary_tables(summary, list(case.flows))["flows"].to_dicts()
    (flow,) = (one for one in rows if one["name"] == name)
    own_ms = case.flows[name]["rtt_s"] * 1e3
    rtts = WeightedValues([(1.0, rtt) for rtt in round_trips(events, name)])
    told = flow["rtt_mean_ms"] is not None
    if not (told and rtts):
        return [] if told == bool(rtts) else [f"{name}: RTTs {told}, packets {bool(rtts)}"]
    found = []
    for key in ("min", "mean", *PERCENTILES):
        for kind, base in (("rtt", 0.0), ("delay", own_ms)):
            value = flow.get(f"{kind}_{key}_ms")
            if value is not None and not rtts.has(key, value + base, BUCKET):
                found.append(f"{name}.{kind}_{key}_ms: {value}, packets {rtts.statistic(key)}")
    return found


def wrong_queue(case: Case, events: Events, row: dict[str, Any]) -> list[str]:
    """The statistics of the bottleneck's queue that packets contradict."""
    (_, rate), (_, rtt) = case.rates[0], case.rtts[0]
    waiting = WeightedValues([(span, float(size)) for span, size in events.backlog()])
    scales = {"bdp": rate * rtt / 8, "ms": rate / 8e3}
    return [
        f"queue_{key}_{unit}: {row[f'queue_{key}_{unit}']}, packets {waiting.statistic(key)} bytes"
        for key in ("mean", "p5", "p50", "p95", "max")
        for unit, scale in scales.items()
        if not waiting.has(key, row[f"queue_{key}_{unit}"] * scale, BUCKET)
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_flows_converge_when_their_receivers_get_the_same(seed: int) -> None:
    draw = random.Random(seed)
    rtt, last = draw.choice([20, 60]), draw.choice([0.5, 3.0])
    case = Case("", [(0.0, 8e6)], [(0.0, rtt / 1e3)], 0.0)
    text = f'[path]\nrate = "8mbit"\nrtt = "{rtt}ms"\nbuffer = "1bdp"\n'
    for number in range(draw.randint(2, 3)):
        start = last if number else 0.0
        flow = {"name": f"flow-{number}", "start_s": start, "headers": HEADERS["tcp"]}
        case.flows[flow["name"]] = flow
        text += f'[[flows]]\nname = "flow-{number}"\nstart = "{start}s"\n'
        text += f'cca = "{draw.choice(["reno", "cubic"])}"\n'
    text += f'[run]\nduration = "30s"\nseed = {seed}\nrecord = "packets"\n'
    scenario = plan(parse(text, "test").spec, "test").trials[0].scenario
    result = get_backend("sim").run(scenario)
    row = summary_row(summarise(scenario, result.tables, result.info), list(case.flows))
    events = Events(case, result.tables["packets"].to_dicts(), result.info.end_s)
    expected = expected_convergence(case, events)
    assert agree(row["convergence_s"], expected), f"{row['convergence_s']} {expected}\n{text}"
