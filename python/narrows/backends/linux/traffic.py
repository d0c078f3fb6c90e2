"""The parts of the tools' configuration that the back ends share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narrows.backends.linux.commands import locate
from narrows.spec.scenario import Host, Scenario

FIRST_PORT = 5000
"""Flow i goes to this port plus i."""
FINE_NS = 10_000_000
"""Interval of the samples for the distributions of queue and RTT, with few flows."""
BUFFERS = {
    "stock": ("4096 131072 6291456", "4096 16384 4194304"),
    "raised": ("4096 131072 67108864", "4096 16384 67108864"),
    "unlimited": ("4096 131072 1073741824", "4096 16384 1073741824"),
}
"""tcp_rmem and tcp_wmem for each value of `host.socket_buffers`."""


def scenario_for_programs(
    scenario: Scenario, names: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The scenario in the form of crates/spec, which the programs read.

    `names` has the kernel's names of the user's own controls.
    """
    known = names or {}
    rest = {key: value for key, value in scenario.items() if key != "controls"}
    flows = [
        {**flow, "cca": known.get(flow["cca"], flow["cca"]), **locate(flow)}
        for flow in scenario["flows"]
    ]
    return {**rest, "flows": flows}


def host_sysctls(host: Host) -> dict[str, str]:
    """The settings of every sender's TCP.

    One flow's ssthresh and RTT don't reach the next, unless sharing is wanted. No connection is
    given up: by default Linux does so after 2 minutes without an answer to its SYN and 15 without
    one to its data, which a full queue of a few packets can bring about, and the simulator never.
    """
    return {
        "net/ipv4/tcp_no_metrics_save": "0" if host["metrics_save"] else "1",
        "net/ipv4/tcp_syn_retries": "127",
        "net/ipv4/tcp_retries2": "255",
    }


def fine_interval(wanted_ns: int, least_ns: int = FINE_NS) -> int:
    """The shortest interval from `least_ns` on that divides `wanted_ns`, all in ns.

    If `wanted_ns` is shorter than that, it is returned itself.
    """
    parts = max(1, wanted_ns // least_ns)
    while wanted_ns % parts:
        parts -= 1
    return wanted_ns // parts
