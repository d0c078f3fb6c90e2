"""The hosts of a guest whose packets cross the router's path: namespaces snd and rcv.

Behind each is a device of the guest's first namespace, at which the gate takes and releases
packets (crates/router/src/gate.rs).
"""

from __future__ import annotations

from typing import Any

from narrows.backends.linux.groups import Group
from narrows.backends.linux.traffic import (
    BUFFERS,
    FIRST_PORT,
    FULL_PACKET,
    metrics_sysctl,
    told_scenario,
)
from narrows.backends.uml.machine import GUEST_DIRECTORY, LOG, STATUS
from narrows.backends.uml.network import CONFIG, GUEST, NETWORK
from narrows.backends.uml.qdiscs import ETHERNET, framed
from narrows.spec.scenario import Scenario

GATE = "gate.json"
ZERO_NS = 20 * 10**9
"""CLOCK_MONOTONIC of every guest at time 0 of the run, after all have booted."""
_MACS = ("02:00:00:00:01:01", "02:00:00:00:02:01")
_DEVICES = ("g0", "g1")
_MANY = 10_000_000
"""More packets than wait in a host in any scenario."""
_NETWORK = """\
ip -batch - <<EOF
netns add snd
netns add rcv
link add s0 netns snd address {macs[0]} type veth peer name g0
link add v0 netns rcv address {macs[1]} type veth peer name g1
link set g0 up
link set g1 up
EOF
ip -n snd -batch - <<EOF
addr add {sender}/24 dev s0
link set s0 up
neigh add {receiver} lladdr {macs[1]} dev s0
EOF
ip -n rcv -batch - <<EOF
addr add {receiver}/24 dev v0
link set v0 up
neigh add {sender} lladdr {macs[0]} dev v0
EOF
tc -n snd -batch - <<EOF
{qdiscs}
EOF
"""
_INIT = """\
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
{{
sh -e {here}/{network} && {{
{router} gate {here}/{gate} &
{tool} {here}/{config}
}}
}} > {here}/{log} 2>&1
echo $? > {here}/{status}
exec {tool} power-off
"""


def addresses(number: int) -> tuple[str, str]:
    """The addresses of a guest's sending and receiving host."""
    return f"10.77.{number}.1", f"10.77.{number}.2"


def network_script(part: Scenario, group: Group, number: int) -> str:
    """The shell commands that make both hosts, to be run with `sh -e`."""
    rmem, wmem = BUFFERS[part["host"]["socket_buffers"]]
    sender, receiver = addresses(number)
    return (GUEST + _NETWORK).format(
        rmem=rmem,
        wmem=wmem,
        macs=_MACS,
        sender=sender,
        receiver=receiver,
        qdiscs="\n".join(_qdiscs(part, group.own.get("line_rate_bps"))),
    )


def _qdiscs(part: Scenario, line_rate_bps: int | None) -> list[str]:
    """The sending host's qdiscs: a token bucket for the card's rate, and fq."""
    fair = f"fq flow_limit {_MANY} limit {_MANY}" if part["host"]["fq"] else ""
    if line_rate_bps is None:
        return [f"qdisc add dev s0 root {fair}"] if fair else []
    frame = FULL_PACKET + ETHERNET
    burst = frame + max(2, framed(line_rate_bps) * 3 // 8_000_000)
    rate = f"tbf rate {framed(line_rate_bps)}bit burst {burst} limit {2**31}"
    bucket = f"qdisc add dev s0 root handle 1: {rate}"
    return [bucket, f"qdisc add dev s0 parent 1:1 {fair}"] if fair else [bucket]


def gate_config(window_ns: int) -> dict[str, Any]:
    """The gate's configuration."""
    return {
        "zero_ns": ZERO_NS,
        "window_ns": window_ns,
        "devices": _DEVICES,
        "addresses": [[int(byte, 16) for byte in mac.split(":")] for mac in _MACS],
        "directory": GUEST_DIRECTORY,
    }


def tool_config(part: Scenario, group: Group, number: int, interval_ns: int) -> dict[str, Any]:
    """The configuration of the traffic tool, which samples every `interval_ns`."""
    own = {f"net/ipv4/{name}": value for name, value in group.own.get("sysctls", {}).items()}
    return {
        "scenario": told_scenario(part),
        "sample_ns": interval_ns,
        "first_port": FIRST_PORT,
        "zero_ns": ZERO_NS,
        "namespaces": {"sender": "/run/netns/snd", "receiver": "/run/netns/rcv"},
        "receiver": addresses(number)[1],
        "sender_device": "s0",
        "receiver_device": "v0",
        "checksums": True,
        "sysctls": {**metrics_sysctl(part["host"]), **own},
        "out": GUEST_DIRECTORY,
    }


def init_script(tool: str, router: str) -> str:
    """The guest's first program: makes its hosts, starts the gate and `tool`, switches off."""
    return _INIT.format(
        here=GUEST_DIRECTORY,
        network=NETWORK,
        config=CONFIG,
        log=LOG,
        status=STATUS,
        gate=GATE,
        tool=tool,
        router=router,
    )
