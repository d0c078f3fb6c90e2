"""The parts of the tools' configuration that the back ends share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narrows.backends.linux.commands import locate
from narrows.backends.linux.versions import kernel_version
from narrows.spec.scenario import Host, Scenario

FIRST_PORT = 5000
"""The port of the first flow; flow i goes to this port plus i."""
FINE_NS = 10_000_000
"""The interval of the samples for the distributions of queue and RTT, with few flows."""
_LARGEST_BUFFER = {"raised": 64 << 20, "unlimited": 1 << 30}
"""The largest receive and send buffer, in bytes, for values of `host.socket_buffers`."""


def scenario_for_programs(
    scenario: Scenario, names: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Returns the scenario in the form of crates/spec, which the programs read.

    `names` maps the user's own controls to the kernel's names.
    """
    known = names or {}
    rest = {key: value for key, value in scenario.items() if key != "controls"}
    flows = [
        {**flow, "cca": known.get(flow["cca"], flow["cca"]), **locate(flow)}
        for flow in scenario["flows"]
    ]
    return {**rest, "flows": flows}


def buffer_sysctls(host: Host, release: str) -> dict[str, str]:
    """Returns the sizes of socket buffers of a kernel such as "7.3.4" (or "linux-7.3").

    Stock sizes are set, too, since a machine with little memory has smaller ones (`tcp_init`). The
    largest receive buffer is 32 MiB since 6.16 (commit 572be9bf9d0d).
    """
    stock = (32 if kernel_version(release) >= (6, 16) else 6) << 20, 4 << 20
    largest = _LARGEST_BUFFER.get(host["socket_buffers"])
    receive, send = stock if largest is None else (largest, largest)
    return {
        "net/ipv4/tcp_rmem": f"4096 131072 {receive}",
        "net/ipv4/tcp_wmem": f"4096 16384 {send}",
    }


def host_sysctls(host: Host) -> dict[str, str]:
    """Returns the settings of every sender's TCP.

    Unless sharing is wanted, one flow's ssthresh and RTT don't reach the next. No connection is
    given up. By default Linux gives up after 2 minutes without an answer to its SYN and 15 minutes
    without one to its data, which a full queue of a few packets can bring about; the simulator
    never does.
    """
    return {
        "net/ipv4/tcp_no_metrics_save": "0" if host["metrics_save"] else "1",
        "net/ipv4/tcp_syn_retries": "127",
        "net/ipv4/tcp_retries2": "255",
    }


def ecn_sysctls(part: Scenario) -> dict[str, str]:
    """Returns the setting with which receivers answer accurate ECN, if a flow asks for it.

    A sender's own setting counts while it connects, which the traffic tool sets.
    """
    accurate = any(flow["ecn"] == "accurate" for flow in part["flows"])
    return {"net/ipv4/tcp_ecn": "3"} if accurate else {}


def fine_interval(wanted_ns: int, least_ns: int = FINE_NS) -> int:
    """Returns the shortest interval from `least_ns` on that divides `wanted_ns`, all in ns.

    If `wanted_ns` is shorter than that, it is returned itself.
    """
    parts = max(1, wanted_ns // least_ns)
    while wanted_ns % parts:
        parts -= 1
    return wanted_ns // parts
