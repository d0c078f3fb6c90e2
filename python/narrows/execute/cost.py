"""Estimates the cost of a run.

The cost decides the run's place in a sweep, and how long it will take is announced.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from narrows.execute.demand import mean
from narrows.packets import PACKET_BITS, PAYLOAD_BYTES
from narrows.spec.datagrams import kind_of
from narrows.spec.ending import planned_end_ns
from narrows.spec.registry import is_bbr
from narrows.spec.scenario import Flow, Scenario
from narrows.spec.suggest import quote

# Other costs than packets of TCP, in such packets. Measured: 800 short runs in a thread,
# the start of ten thousand flows, instructions with a row for each millisecond, and the
# repository's experiments with calls and with stacks of other projects.
RUN = 13_000
"""Planning a run, its metrics and its files: Python's part, beside the engine's."""
_FLOW = 100
_ROW = 2
"""The samples of a flow at an instant."""
_IN_FLIGHT = 2.0
"""The packets in flight, times the square root of the random loss."""
_CALL, _STACK = 4.0, 10.0
"""A packet of a video call; a packet of another stack."""
_DATAGRAM, _CONNECTION, _PERIOD = 0.12, 8.0, 0.08
"""A datagram, whether it is dropped or not; a connection that arrives, beside its payload; a period
of an application that turns on and off."""

LOAD_PER_CPU_S = 1.5e6
"""A typical speed of the simulator, for as long as no stored run shows this machine's."""


def load(scenario: Scenario) -> float:
    """Returns the cost of a run, in packets.

    It counts the packets that flows can send and links can carry, and other events. What flows
    can't send because a queue drops packets isn't known in advance.
    """
    run, flows = scenario["run"], scenario["flows"]
    until_s = _end_s(scenario)
    instants = 0.0 if run["record"] == "summary" else until_s * 1e9 / run["sample_interval_ns"]
    packets = sum(_direction_cost(scenario, until_s, back) for back in (False, True))
    beside = sum(_extra_events_cost(flow) * _active_s(flow, until_s) for flow in flows)
    return packets + beside + RUN + len(flows) * (_FLOW + instants * _ROW)


def _end_s(scenario: Scenario) -> float:
    """Returns when a run ends.

    For `stop_when`, a flow with a size is assumed to get half of the rate.
    """
    run = scenario["run"]
    duration_s = planned_end_ns(scenario) / 1e9
    for flow in scenario["flows"]:
        if flow["name"] == run["stop_when"] and flow["size_bytes"] is not None:
            needed_s = 2 * flow["size_bytes"] * 8 / _rate_bps(scenario, flow.get("reverse", False))
            return min(duration_s, flow["start_ns"] / 1e9 + needed_s)
    return duration_s


def _rate_bps(scenario: Scenario, back: bool) -> float:
    path = scenario["path"]
    link = path["reverse"] if back and path["reverse"] else path
    return float(link["rate_bps"])


def _direction_cost(scenario: Scenario, until_s: float, back: bool) -> float:
    """Returns the cost of the packets in a direction, at most those that keep its link busy."""
    most = _rate_bps(scenario, back) / PACKET_BITS
    flows = [flow for flow in scenario["flows"] if flow.get("reverse", False) is back]
    sent = [
        min(_packets_of_flow(flow, most, until_s), _despite_loss(scenario, flow)) for flow in flows
    ]
    active_s = max((_active_s(flow, until_s) for flow in flows), default=0.0)
    whole = sum(sent)
    share = min(1.0, most * active_s / whole) if whole else 0.0
    return share * sum(each * _weight(flow) for each, flow in zip(sent, flows, strict=True))


def _weight(flow: Flow) -> float:
    if flow.get("stack") is not None:
        return _STACK
    return _CALL if kind_of(flow) == "media" else 1.0


def _despite_loss(scenario: Scenario, flow: Flow) -> float:
    """Returns the packets that a flow gets through random loss in the longest run.

    Mathis et al. 1997: 1.22 packets in a round trip over the root of the loss; nearer to 2 for
    CUBIC and others. BBR doesn't react to loss.
    """
    path = scenario["path"]
    lossy = [one for one in path["impairments"] if one["kind"] == "loss"]
    loss = path["loss"] + sum(float(one.get("probability", 0.0)) for one in lossy)
    if not loss or flow["workload"] is not None or is_bbr(flow["cca"]):
        return math.inf
    rtt_ns = path["rtt_ns"] if flow["rtt_ns"] is None else flow["rtt_ns"]
    return float(planned_end_ns(scenario)) / rtt_ns * _IN_FLIGHT / math.sqrt(loss)


def _active_s(flow: Flow, until_s: float) -> float:
    stop_s = until_s if flow["stop_ns"] is None else min(until_s, flow["stop_ns"] / 1e9)
    return max(stop_s - flow["start_ns"] / 1e9, 0.0)


def _packets_of_flow(flow: Flow, most: float, until_s: float) -> float:
    """Returns the packets that a flow sends, at most those that keep the link busy."""
    active_s, work = _active_s(flow, until_s), flow["workload"]
    if flow["size_bytes"] is not None and flow["repeat_gap_ns"] is None:
        return float(min(flow["size_bytes"] / PAYLOAD_BYTES, most * active_s))
    if work is None:
        return most * active_s
    return min(_packet_rate(work, most), most) * active_s


def slowest(scenario: Scenario) -> str:
    """Names the flow whose events take most of a run, other than packets that fill the link.

    Empty if there is none.
    """
    until_s = _end_s(scenario)
    flows = scenario["flows"]
    flow = max(flows, key=lambda flow: _extra_events_cost(flow) * _active_s(flow, until_s))
    if _extra_events_cost(flow) * _active_s(flow, until_s) < load(scenario) / 2:
        return ""
    per_s, _, what = _events(flow)
    rounded = float(f"{per_s:.3g}")
    return f"flow {quote(flow['name'])}, which has {rounded:,.0f} {what} a second"


def _extra_events_cost(flow: Flow) -> float:
    """Returns the cost per second of a flow's events beside the packets that fill the link."""
    per_s, each, _ = _events(flow)
    return per_s * each


def _events(flow: Flow) -> tuple[float, float, str]:
    """Returns an application's own events per second, the cost of one, and their name."""
    work = flow["workload"] or {}
    kind = work.get("kind")
    if kind == "udp":
        return float(work["rate_bps"]) / 8 / work["size_bytes"], _DATAGRAM, "datagrams"
    if kind == "ping":
        return 2e9 / max(float(work["interval_ns"]), 1.0), _DATAGRAM, "pings and answers"
    if kind == "on_off":
        period_ns = mean(work["on_ns"]) + mean(work["off_ns"])
        return 1e9 / max(period_ns, 1.0), _PERIOD, "times on and off"
    if kind == "arrivals":
        return 1e9 / max(mean(work["gap_ns"]), 1.0), _CONNECTION, "connections"
    return 0.0, 0.0, ""


def _packet_rate(work: Mapping[str, Any], most: float) -> float:
    """Returns the packets that an application offers per second."""
    kind = work["kind"]
    if kind == "arrivals":
        return mean(work["size_bytes"]) / PAYLOAD_BYTES * 1e9 / max(mean(work["gap_ns"]), 1.0)
    if kind == "on_off":
        on_ns = mean(work["on_ns"])
        return most * on_ns / max(on_ns + mean(work["off_ns"]), 1.0)
    if kind in ("udp", "ping"):
        return 0.0
    if kind == "media":
        return float(work["max_bps"] / 8 / work["packet_bytes"])
    if kind in ("video", "adaptive_video"):
        return float(max([work.get("bitrate_bps", 0), *work.get("bitrates_bps", ())]) / PACKET_BITS)
    return most
