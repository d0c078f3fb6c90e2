"""Estimates from a scenario how much memory a run needs at most, before it starts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from narrows._native import CERTAIN
from narrows.figures import MOST_DRAWN
from narrows.packets import PACKET_BITS, PACKET_BYTES
from narrows.spec.ending import planned_end_ns
from narrows.spec.scenario import Flow, Scenario
from narrows.spec.values import format_duration
from narrows.words import count_of

NS = 10**9

# Measured peaks of a process, from the engine to the finished page, rounded up, in bytes.
_SAMPLE = 1_700
"""Bytes for a flow at an instant: its row and about ten of its control's internals, as long as the
tables are in memory."""
_FIRST = 70_000
"""The rows that are kept in memory."""
_FURTHER = 40
"""Bytes for each row beyond `_FIRST`, which goes to a file that is read in parts."""
_DRAWN = 1_150
"""Further bytes for a flow at an instant, if each of its rows is drawn."""
_LINK_SAMPLE = 300
_EVENTS = 400
"""Bytes for a packet that passes a link, with a row for each of its events."""
_ARRIVAL = 4_200
"""Bytes for a connection: its ends, its timers, and its row."""
_ANSWER = 520
"""Bytes for the row of a transfer on a connection that has further ones."""
_FLOW = 15_000
_QUEUED = 250
_FIRST_WINDOW = 10


@dataclass(frozen=True)
class Part:
    """A part of a run's memory: what it is for, and what would reduce it."""

    bytes: int
    what: str
    remedy: str


def demand(scenario: Scenario) -> list[Part]:
    """Estimates the memory that a run needs, the largest part first."""
    parts = [
        _flows(scenario),
        _arrivals(scenario),
        _successive(scenario),
        _packets_held(scenario),
        _samples(scenario),
        _packets(scenario),
    ]
    return sorted(parts, key=lambda part: -part.bytes)


def _flows(scenario: Scenario) -> Part:
    count, path = len(scenario["flows"]), scenario["path"]
    links = [path, *path["links"], *([path["reverse"]] if path["reverse"] else [])]
    carried = _packets_carried(scenario)
    longest = max(path["rtt_ns"], *(flow["rtt_ns"] or 0 for flow in scenario["flows"]))
    on_the_way = path["rate_bps"] * longest // (NS * PACKET_BITS)
    waiting = sum(_buffer_packets(link["buffer"]) for link in links) + on_the_way
    need = count * _FLOW + min(waiting, carried) * _QUEUED
    what = f"{count_of(count, 'flow')} and the packets on their way"
    return Part(need, what, "fewer flows, or less buffer,")


def _buffer_packets(buffer: Mapping[str, int]) -> int:
    """Returns the packets that a buffer holds."""
    [(unit, amount)] = buffer.items()
    return amount if unit == "packets" else amount // PACKET_BYTES


def _packets_carried(scenario: Scenario) -> int:
    """Returns the packets that the bottleneck carries if it is always busy."""
    bits = scenario["path"]["rate_bps"] * planned_end_ns(scenario) // NS
    return int(bits // PACKET_BITS)


def _arrivals(scenario: Scenario) -> Part:
    duration_ns = planned_end_ns(scenario)
    count = round(sum(_of_flow(flow, duration_ns) for flow in scenario["flows"]))
    what = f"{count:,} connections that arrive in {format_duration(duration_ns)}"
    return Part(count * _ARRIVAL, what, "a lower rate of arrivals, or a shorter run.duration,")


def _of_flow(flow: Flow, duration_ns: int) -> float:
    """Returns the connections that a flow opens at given times.

    Others wait for the previous one.
    """
    workload = flow["workload"] or {}
    if workload.get("kind") != "arrivals":
        return 0.0
    return float(duration_ns / max(mean(workload["gap_ns"]), 1.0))


def _successive(scenario: Scenario) -> Part:
    """Estimates the rows of successive transfers: answers, chunks, the flows of a chain."""
    chains = sum(_in_turn(scenario, flow, 2) for flow in scenario["flows"] if _repeats(flow))
    answers = sum(_in_turn(scenario, flow, 1) for flow in scenario["flows"] if _answers(flow))
    need = round(chains * _ARRIVAL + answers * _ANSWER)
    what = f"{round(chains + answers):,} transfers that follow one another"
    return Part(need, what, "larger transfers or longer pauses, or a shorter run.duration,")


def _repeats(flow: Flow) -> bool:
    return flow["repeat_gap_ns"] is not None


def _answers(flow: Flow) -> bool:
    return (flow["workload"] or {}).get("kind") == "requests"


def _in_turn(scenario: Scenario, flow: Flow, trips: int) -> float:
    """Returns the most transfers of a flow.

    Each takes `trips` round trips, the time of its bytes, and its pause.
    """
    path, workload = scenario["path"], flow["workload"] or {}
    rtt_ns = path["rtt_ns"] if flow["rtt_ns"] is None else flow["rtt_ns"]
    size = mean(workload["size_bytes"]) if workload else float(flow["size_bytes"] or 0)
    pause_ns = mean(workload["think_ns"]) if workload else float(flow["repeat_gap_ns"] or 0)
    each_ns = trips * rtt_ns + size * 8 * NS / path["rate_bps"] + pause_ns
    return float(planned_end_ns(scenario)) / max(each_ns, 1.0)


def _packets_held(scenario: Scenario) -> Part:
    """Estimates the packets that impairments hold, and the copies that they make."""
    run_ns = planned_end_ns(scenario)
    impairments = scenario["path"].get("impairments", ())
    hold_ns = min(sum(map(_hold_ns, impairments)), run_ns)
    copies = math.prod(1 + _probability(one) for one in impairments if one["kind"] == "duplicate")
    rate = sum(_datagrams_per_s(flow) for flow in scenario["flows"])
    full = scenario["path"]["rate_bps"] / PACKET_BITS
    at_once = max(rate, full if hold_ns else 0.0) * hold_ns / NS + _FIRST_WINDOW
    need = at_once * copies * _QUEUED
    what = "packets that impairments hold or copy"
    return Part(round(need), what, "shorter delays and outages, or fewer copies,")


def _hold_ns(impairment: Mapping[str, Any]) -> float:
    """Returns how long an impairment holds a packet at most."""
    if impairment["kind"] == "outage":
        if impairment.get("mode") != "hold":
            return 0.0
        spans = impairment.get("outages_ns") or impairment.get("outages") or []
        return float(max([impairment.get("lasts_ns") or 0, *(span[1] for span in spans)]))
    times = ("delay_ns", "jitter_ns", "max_ns", "hold_ns", "spread_ns")
    changes = [delay for _, delay in impairment.get("delays") or []]
    return float(sum(impairment.get(name) or 0 for name in times) + max(changes, default=0))


def _probability(impairment: Mapping[str, Any]) -> float:
    value = impairment["probability"]
    return float(value) / CERTAIN if isinstance(value, int) and value > 1 else float(value)


def _datagrams_per_s(flow: Flow) -> float:
    """Returns the datagrams that a source without a control sends per second."""
    workload = flow["workload"] or {}
    if workload.get("kind") != "udp":
        return 0.0
    return float(workload["rate_bps"] / (8 * workload["size_bytes"]))


def mean(law: Mapping[str, Any]) -> float:
    """Returns the mean of a distribution, linear between its points."""
    if "constant" in law:
        return float(law["constant"])
    lines = pairwise(law["points"])
    return float(sum((to - at) * (low + high) / 2 for (at, low), (to, high) in lines) / CERTAIN)


def _samples(scenario: Scenario) -> Part:
    run, path = scenario["run"], scenario["path"]
    if run["record"] == "summary":
        return Part(0, "samples", "")
    interval_ns, count = run["sample_interval_ns"], len(scenario["flows"])
    instants = planned_end_ns(scenario) // interval_ns + 1
    links = 1 + len(path["links"]) + (path["reverse"] is not None)
    rows, drawn = instants * count, instants * min(count, MOST_DRAWN)
    need = rows * _FURTHER + min(rows, _FIRST) * (_SAMPLE - _FURTHER)
    need += drawn * _DRAWN + instants * links * _LINK_SAMPLE
    every = format_duration(interval_ns)
    what = (
        f"samples of {count_of(count, 'flow')} at {count_of(instants, 'instant')} (every {every})"
    )
    return Part(need, what, 'a longer run.sample_interval, or run.record = "summary",')


def _packets(scenario: Scenario) -> Part:
    if scenario["run"]["record"] != "packets":
        return Part(0, "packets", "")
    count = _packets_carried(scenario)
    what = f"every event of {count_of(count, 'packet')}"
    return Part(count * _EVENTS, what, 'run.record = "samples", or a shorter run.duration,')
