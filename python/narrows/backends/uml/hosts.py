"""The hosts of a guest whose packets cross the router's path: namespaces snd and rcv.

Behind each is a device of the guest's first namespace, where the gate takes and releases packets
(crates/router/src/gate.rs).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from narrows.backends.linux.cards import disciplines
from narrows.backends.linux.groups import Group
from narrows.backends.linux.programs import host_settings
from narrows.backends.linux.qdiscs import ETHERNET
from narrows.backends.linux.traffic import (
    FIRST_PORT,
    ecn_sysctls,
    host_sysctls,
    scenario_for_programs,
)
from narrows.backends.uml.machine import GUEST_DIRECTORY, LOG, STATUS, ZERO_NS
from narrows.backends.uml.network import CONFIG, NETWORK, guest_script, load_script
from narrows.spec.scenario import Scenario

GATE = "gate.json"
_MACS = ("02:00:00:00:01:01", "02:00:00:00:02:01")
_DEVICES = ("g0", "g1")
_NETWORK = """\
ip -batch - <<EOF
netns add snd
netns add rcv
link add s0 netns snd address {macs[0]} type veth peer name g0
link add v0 netns rcv address {macs[1]} type veth peer name g1
link set g0 up
link set g1 up
EOF
tc -batch - <<EOF
qdisc replace dev g0 root {release}
qdisc replace dev g1 root {release}
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
_RELEASE = "fq limit 1000000 flow_limit 1000000 timer_slack 0"
"""Releases each packet at the time that the gate gave it."""
_INIT = """\
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
{{
sh -e {here}/{network} && {load}{{
{{ {router} gate {here}/{gate}; : > /run/gate-ended; }} &
{tool} {here}/{config} && [ ! -e /run/gate-ended ]
}}
}} > {here}/{log} 2>&1
echo $? > {here}/{status}
exec {tool} power-off
"""


def addresses(number: int) -> tuple[str, str]:
    """Returns the addresses of a guest's sending and receiving host."""
    return f"10.77.{number}.1", f"10.77.{number}.2"


def network_script(part: Scenario, group: Group, number: int, release: str) -> str:
    """Returns the shell commands that make both hosts, to be run with `sh -e`."""
    sender, receiver = addresses(number)
    return guest_script(part["host"], release) + _NETWORK.format(
        macs=_MACS,
        release=_RELEASE,
        sender=sender,
        receiver=receiver,
        qdiscs="\n".join(disciplines("s0", part, group.own.get("line_rate_bps"), ETHERNET)),
    )


def gate_config(part: Scenario, window_ns: int) -> dict[str, Any]:
    """Returns the gate's configuration."""
    return {
        "offloads": part["host"]["gso"],
        "zero_ns": ZERO_NS,
        "window_ns": window_ns,
        "devices": _DEVICES,
        "addresses": [[int(byte, 16) for byte in mac.split(":")] for mac in _MACS],
        "directory": GUEST_DIRECTORY,
    }


def tool_config(
    part: Scenario, group: Group, number: int, interval_ns: int, names: Mapping[str, str]
) -> dict[str, Any]:
    """Returns the configuration of the traffic tool, which samples every `interval_ns`.

    `names` maps the user's own controls to the kernel's names.
    """
    own = {f"net/ipv4/{name}": value for name, value in group.own.get("sysctls", {}).items()}
    return {
        "scenario": scenario_for_programs(part, names),
        "sample_ns": interval_ns,
        "first_port": FIRST_PORT,
        "zero_ns": ZERO_NS,
        "namespaces": {"sender": "/run/netns/snd", "receiver": "/run/netns/rcv"},
        "sender": addresses(number)[0],
        "receiver": addresses(number)[1],
        "sender_device": "s0",
        "receiver_device": "v0",
        # Devices with offloads leave them to the gate.
        "checksums": not part["host"]["gso"],
        "sysctls": {
            **host_sysctls(part["host"]),
            **ecn_sysctls(part),
            **host_settings(part["flows"][0]),
            **own,
        },
        "out": GUEST_DIRECTORY,
    }


def init_script(tool: str, router: str, modules: Sequence[Path] = ()) -> str:
    """Returns the guest's first program.

    It makes the guest's hosts, starts the gate and `tool`, and powers off.
    """
    return _INIT.format(
        here=GUEST_DIRECTORY,
        network=NETWORK,
        load=load_script(modules),
        config=CONFIG,
        log=LOG,
        status=STATUS,
        gate=GATE,
        tool=tool,
        router=router,
    )
