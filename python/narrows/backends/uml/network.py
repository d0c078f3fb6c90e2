"""Turns a scenario into the guest's network and the traffic tool's configuration.

The path is snd - rtr - dly - rcv, each a namespace. The bottleneck is in `linux.qdiscs`; netem in
the next namespace adds the transmission time of a packet, and half the two-way delay.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path as HostPath
from typing import Any

from narrows.backends.linux.qdiscs import bottleneck, bottleneck_class, device_rate, with_headers
from narrows.backends.linux.traffic import (
    FIRST_PORT,
    buffer_sysctls,
    ecn_sysctls,
    host_sysctls,
    scenario_for_programs,
)
from narrows.backends.uml.machine import GUEST_DIRECTORY, LOG, STATUS, ZERO_NS
from narrows.errors import SpecError
from narrows.spec.scenario import Host, Path, Scenario

NETWORK, CONFIG = "network", "config.json"
"""Files in the guest's directory: `network_script`, `tool_config`."""
MAX_FLOWS = 10_000
_MAX_BANDS = 16
"""The most classes that a `prio` queue discipline can have."""
_NETEM_PACKETS = 10_000_000
"""A limit above the packets in flight of any scenario."""
_SMALL = 256
"""Random loss spares IP packets shorter than this, which carry no data."""

_GUEST = """\
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs run /run
echo 196608 262144 393216 > /proc/sys/net/ipv4/tcp_mem
"""

_HOSTS = """\
echo 1 > /proc/sys/net/ipv4/ip_forward
ip -batch - <<EOF
netns add snd
netns add rtr
netns add dly
netns add rcv
link add s0 netns snd address 02:00:00:00:01:01 type veth peer name r0 netns rtr address 02:00:00:00:01:02
link add r1 netns rtr address 02:00:00:00:02:01 type veth peer name d0 netns dly address 02:00:00:00:02:02
link add d1 netns dly address 02:00:00:00:03:01 type veth peer name v0 netns rcv address 02:00:00:00:03:02
EOF
ip -n snd -batch - <<EOF
addr add 10.0.1.1/24 dev s0
link set s0 up
neigh add 10.0.1.2 lladdr 02:00:00:00:01:02 dev s0
route add default via 10.0.1.2
EOF
ip -n rtr -batch - <<EOF
addr add 10.0.1.2/24 dev r0
addr add 10.0.2.1/24 dev r1
link set r0 up
link set r1 up
neigh add 10.0.1.1 lladdr 02:00:00:00:01:01 dev r0
neigh add 10.0.2.2 lladdr 02:00:00:00:02:02 dev r1
route add default via 10.0.2.2
EOF
ip -n dly -batch - <<EOF
addr add 10.0.2.2/24 dev d0
addr add 10.0.3.1/24 dev d1
link set d0 up
link set d1 up
neigh add 10.0.2.1 lladdr 02:00:00:00:02:01 dev d0
neigh add 10.0.3.2 lladdr 02:00:00:00:03:02 dev d1
route add 10.0.1.0/24 via 10.0.2.1
EOF
ip -n rcv -batch - <<EOF
addr add 10.0.3.2/24 dev v0
link set v0 up
neigh add 10.0.3.1 lladdr 02:00:00:00:03:01 dev v0
route add default via 10.0.3.1
EOF
"""  # noqa: E501 (a line each for ip)


def guest_script(host: Host, release: str) -> str:
    """Returns the first commands of every guest: its file systems, and its sockets' buffers."""
    sizes = buffer_sysctls(host, release).items()
    return _GUEST + "".join(f"echo {size} > /proc/sys/{name}\n" for name, size in sizes)


def network_script(scenario: Scenario, release: str) -> str:
    """Returns the shell commands that build the path in a guest, to be run with `sh -e`.

    Raises SpecError if the guest can't build such a path.
    """
    fair = f"qdisc add dev s0 root fq flow_limit {_NETEM_PACKETS} limit {_NETEM_PACKETS}"
    commands = [
        *_batch("snd", [fair] if scenario["host"]["fq"] else []),
        *_batch("rtr", bottleneck(scenario["path"], "r1")),
        *_batch("dly", [*_cable(scenario, "d1", data=True), *_cable(scenario, "d0", data=False)]),
    ]
    return guest_script(scenario["host"], release) + _HOSTS + "\n".join(commands) + "\n"


def load_script(modules: Sequence[HostPath]) -> str:
    """Returns the shell commands that load modules, each to be followed by `&&`."""
    return "".join(f"insmod {shlex.quote(str(module))} && " for module in modules)


def init_script(tool: str, modules: Sequence[HostPath] = ()) -> str:
    """Returns the guest's first program, which builds the path, runs `tool` and powers off."""
    path, config = f"{GUEST_DIRECTORY}/{NETWORK}", f"{GUEST_DIRECTORY}/{CONFIG}"
    steps = f"sh -e {path} && {load_script(modules)}{tool} {config}"
    return (
        "export PATH=/usr/sbin:/usr/bin:/sbin:/bin\n"
        f"{{ {steps}; }} > {GUEST_DIRECTORY}/{LOG} 2>&1\n"
        f"echo $? > {GUEST_DIRECTORY}/{STATUS}\n"
        f"exec {tool} power-off\n"
    )


def tool_config(
    scenario: Scenario,
    interval_ns: int,
    pcap: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Returns the traffic tool's configuration, with samples every `interval_ns`.

    `pcap` asks for captures, `names` maps the user's own controls to the kernel's names.
    """
    return {
        "scenario": scenario_for_programs(scenario, names),
        "sample_ns": interval_ns,
        "first_port": FIRST_PORT,
        "zero_ns": ZERO_NS,
        "namespaces": {
            "sender": "/run/netns/snd",
            "router": "/run/netns/rtr",
            "receiver": "/run/netns/rcv",
        },
        "receiver": "10.0.3.2",
        "bottleneck_device": "r1",
        "bottleneck_class": bottleneck_class(scenario["path"]),
        "sender_device": "s0",
        "receiver_device": "v0",
        "pcap": pcap,
        "sysctls": {**host_sysctls(scenario["host"]), **ecn_sysctls(scenario)},
        "out": GUEST_DIRECTORY,
    }


def _batch(namespace: str, commands: Sequence[str]) -> list[str]:
    return [f"tc -n {namespace} -batch - <<EOF", *commands, "EOF"]


def _cable(scenario: Scenario, device: str, *, data: bool) -> list[str]:
    """Returns the commands for the delay of one direction, with a class for each two-way delay.

    If data may be lost, there is a second class for packets without data.
    """
    path = scenario["path"]
    rtts = [path["rtt_ns"] if f["rtt_ns"] is None else f["rtt_ns"] for f in scenario["flows"]]
    classes = sorted(set(rtts))
    loss = path["loss"] if data else 0.0
    bands = len(classes) * (2 if loss else 1)
    if bands > _MAX_BANDS:
        limit = _MAX_BANDS // (2 if loss else 1)
        remedy = f"at most {limit} different ones on this back end"
        raise SpecError.at("flows", f"{len(classes)} different delays", remedy)
    netems = [_netem(path, rtt, loss, data=data) for rtt in classes]
    if bands == 1:
        return [f"qdisc add dev {device} root {netems[0]}"]
    netems += [_netem(path, rtt, 0.0, data=data) for rtt in classes] if loss else []
    zeros = " ".join(["0"] * 16)
    commands = [f"qdisc add dev {device} root handle 1: prio bands {max(bands, 2)} priomap {zeros}"]
    for band, netem in enumerate(netems, 1):
        commands.append(f"qdisc add dev {device} parent 1:{band:x} {netem}")
    port = "dport" if data else "sport"
    for flow, rtt in enumerate(rtts):
        band = classes.index(rtt) + 1
        match = f"match ip {port} {FIRST_PORT + flow} 0xffff"
        rule = f"filter add dev {device} parent 1: protocol ip"
        if loss:
            small = f"match u16 0 {0x10000 - _SMALL:#06x} at 2"
            commands.append(f"{rule} prio 1 u32 {match} {small} flowid 1:{len(classes) + band:x}")
        commands.append(f"{rule} prio 2 u32 {match} flowid 1:{band:x}")
    return commands


def _netem(path: Path, rtt_ns: int, loss: float, *, data: bool) -> str:
    one_way = rtt_ns // 2 if data else rtt_ns - rtt_ns // 2
    parts = [f"netem limit {_NETEM_PACKETS} delay {one_way / 1000:.3f}us"]
    if loss:
        parts.append(f"loss {loss * 100:.10g}%")
    if data:
        parts.append(f"rate {with_headers(device_rate(path))}bit")
    return " ".join(parts)
