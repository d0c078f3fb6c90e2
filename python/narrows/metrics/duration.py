"""How long the shares of long flows must be measured.

Slow start decides the first shares, and controls change them by about a packet a round trip, so a
mean over too few round trips shows where the flows began.
"""

from __future__ import annotations

from narrows.packets import PACKET_BYTES
from narrows.spec.measured import capacity_known
from narrows.spec.scenario import Flow, Scenario

ROUND_TRIPS = 400
"""How many round trips over a full buffer shares must be measured.

Of 90 runs (BBR, BBRv3, Reno, Vegas and CUBIC beside CUBIC; 20 Mbit/s, 10 to 160 ms, 1 to 16 BDP) 93
% then had shares within 10 points of those of 600 s, and 60 % had them after 25 s.
"""
SHORTEST_S, LONGEST_S = 25.0, 500.0
"""Bounds of that time: two of BBR's probes for its RTT, and what is affordable."""


def needed_s(scenario: Scenario) -> float | None:
    """Returns how long shares must be measured; None unless several long flows share a steady path.

    None, too, for a measurement and for a trace, which have their own length.
    """
    path, flows = scenario["path"], scenario["flows"]
    given = "capacity_known" in path or path["service"]["kind"] == "trace"
    if given or len(flows) < 2 or not is_steady(scenario):
        return None
    rtt_s = max(flow["rtt_ns"] or path["rtt_ns"] for flow in flows) / 1e9
    return min(max(ROUND_TRIPS * (rtt_s + _queue_s(scenario)), SHORTEST_S), LONGEST_S)


def _queue_s(scenario: Scenario) -> float:
    """Returns how long a full buffer takes; 0 if the queue's discipline keeps it short."""
    path = scenario["path"]
    if path["queue"]["kind"] != "droptail":
        return 0.0
    buffer = path["buffer"]
    size = buffer.get("bytes", buffer.get("packets", 0) * PACKET_BYTES)
    return 8 * size / path["rate_bps"]


def lacking_s(scenario: Scenario) -> float | None:
    """Returns how long shares must be measured, if the run measures them for less; else None."""
    run, needed = scenario["run"], needed_s(scenario)
    measured = (run["duration_ns"] - run["warmup_ns"]) / 1e9
    return needed if needed is not None and measured < needed else None


def is_steady(scenario: Scenario) -> bool:
    """Returns True if the same long flows share the same path in all of the measured time."""
    begin_s = scenario["run"]["warmup_ns"] / 1e9
    steady = not scenario.get("changes") and capacity_known(scenario)
    return steady and all(_is_long(flow, begin_s) for flow in scenario["flows"])


def _is_long(flow: Flow, begin_s: float) -> bool:
    endless = flow["size_bytes"] is None and flow["workload"] is None
    begun = flow["start_ns"] / 1e9 <= begin_s
    return endless and begun and flow["stop_ns"] is None and not flow.get("reverse")
