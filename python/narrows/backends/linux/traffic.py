"""What back ends tell the traffic tool of a scenario in the same way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
    """What the tool takes of a flow."""
    return {name: flow[name] for name in _OF_A_FLOW}


def metrics_sysctl(host: Mapping[str, Any]) -> dict[str, str]:
    """Unless it is wanted, one flow's ssthresh and RTT mustn't leak into the next."""
    return {"net/ipv4/tcp_no_metrics_save": "0" if host["metrics_save"] else "1"}
