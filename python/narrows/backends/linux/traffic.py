"""The parts of the traffic tool's configuration that the back ends share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

FIRST_PORT = 5000
"""Flow i goes to this port plus i."""
FULL_PACKET = 1500
"""IP bytes of a full packet."""
FINE_NS = 10_000_000
"""Interval of the samples for the distributions of queue and RTT, with few flows."""
BUFFERS = {
    "stock": ("4096 131072 6291456", "4096 16384 4194304"),
    "raised": ("4096 131072 67108864", "4096 16384 67108864"),
    "unlimited": ("4096 131072 1073741824", "4096 16384 1073741824"),
}
"""tcp_rmem and tcp_wmem for each value of `host.socket_buffers`."""
_OF_A_FLOW = (
    "name",
    "cca",
    "ecn",
    "start_ns",
    "stop_ns",
    "size_bytes",
    "receive_window_bytes",
    "repeat_gap_ns",
    "while",
)


def flow_config(flow: Mapping[str, Any]) -> dict[str, Any]:
    """The tool's configuration of a flow."""
    return {name: flow[name] for name in _OF_A_FLOW}


def metrics_sysctl(host: Mapping[str, Any]) -> dict[str, str]:
    """The sysctl that keeps one flow's ssthresh and RTT from the next, unless sharing is wanted."""
    return {"net/ipv4/tcp_no_metrics_save": "0" if host["metrics_save"] else "1"}


def fine_interval(wanted_ns: int, least_ns: int = FINE_NS) -> int:
    """The shortest interval from `least_ns` on that divides `wanted_ns`, all in ns.

    If `wanted_ns` is shorter than that, it is returned itself.
    """
    parts = max(1, wanted_ns // least_ns)
    while wanted_ns % parts:
        parts -= 1
    return wanted_ns // parts


def run_config(run: Mapping[str, Any], sample_ns: int) -> dict[str, Any]:
    """The tool's configuration of `run`, with samples `sample_ns` apart.

    Packets are noted to the end if they are recorded, otherwise not at all.
    """
    return {
        "duration_ns": run["duration_ns"],
        "warmup_ns": run["warmup_ns"],
        "sample_ns": sample_ns,
        "stop_when": run["stop_when"],
        "first_port": FIRST_PORT,
        "capture_ns": run["duration_ns"] + 1 if run["record"] == "packets" else 0,
    }
