"""A host's kernel, tools, rights and interfaces, as its helper reports them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from narrows.backends.hosts.inventory import HostEntry, Inventory
from narrows.backends.hosts.session import Session
from narrows.backends.linux.iperf3 import name_version

NEEDED = {
    "tc": "iproute2",
    "ip": "iproute2",
    "ethtool": "ethtool",
    "sysctl": "procps",
    "timeout": "coreutils",
    "setsid": "util-linux",
    "flock": "util-linux",
    "diff": "diffutils",
}
"""The programs that the helper calls, with the Debian package of each."""
IPERF3 = "iperf3"
ROOT = ("tc", "ip", "ethtool", "sysctl", "modprobe")
"""The programs that the helper calls as root, by sudo unless it is root itself."""


@dataclass(frozen=True)
class Interface:
    """An interface: its IPv4 address, speed in Mbit/s, root discipline, offloads and drops."""

    address: str = ""
    speed: str = ""
    qdisc: str = ""
    offloads: tuple[str, ...] = ()
    drops: int = 0


@dataclass(frozen=True)
class Facts:
    """The facts about a host.

    `modules` are the controls that can be loaded, `allowed` those that users other than root may
    choose, `sudo` the programs that the user may call as root.
    """

    kernel: str
    machine: str
    root: bool
    processors: int
    load: str
    controls: tuple[str, ...]
    modules: frozenset[str]
    allowed: tuple[str, ...]
    tools: frozenset[str]
    sudo: frozenset[str]
    tun: bool
    busy: bool
    iperf3: str
    default_route: tuple[str, ...]
    ssh: tuple[str, ...]
    interfaces: Mapping[str, Interface] = field(default_factory=dict)

    def missing_tools(self, inventory: Inventory, entry: HostEntry) -> list[str]:
        """Returns the Debian packages of programs that are missing."""
        needed = dict(NEEDED)
        if inventory.traffic == IPERF3 and entry is not inventory.router:
            needed[IPERF3] = IPERF3
        return sorted({package for name, package in needed.items() if name not in self.tools})

    def missing_rights(self) -> list[str]:
        """Returns the programs that sudo should allow and doesn't."""
        return [] if self.root else [name for name in ROOT if name not in self.sudo]

    def usable_controls(self) -> frozenset[str]:
        """Returns the controls that are loaded or can be."""
        may_load = self.root or "modprobe" in self.sudo
        return self.modules.union(self.controls) if may_load else frozenset(self.controls)

    def find_exposed(self, entry: HostEntry) -> list[str]:
        """Returns test interfaces that carry the default route or ssh, unless allowed."""
        if entry.shared:
            return []
        return [each for each in entry.interfaces if each in (*self.default_route, *self.ssh)]


def read_facts(session: Session, entry: HostEntry) -> Facts:
    """Asks a host for its facts, which needs no special rights."""
    lines = session.ask("facts", *entry.interfaces)
    single, several = _sort_lines(lines)

    def number(key: str) -> int:
        return int(single.get(key, "0") or 0)

    return Facts(
        kernel=single.get("kernel", "?"),
        machine=single.get("machine", "?"),
        root=single.get("user") == "0",
        processors=number("processors"),
        load=single.get("load", "?"),
        controls=tuple(single.get("controls", "").split()),
        modules=frozenset(several.get("module", ())),
        allowed=tuple(single.get("allowed", "").split()),
        tools=frozenset(several.get("tool", ())),
        sudo=frozenset(several.get("sudo", ())),
        tun="tun" in single,
        iperf3=name_version(single["iperf3"]) if "iperf3" in single else "",
        busy=single.get("busy") == "yes",
        default_route=tuple(single.get("default-route", "").split()),
        ssh=tuple(single.get("ssh", "").split()),
        interfaces={name: _interface(name, lines) for name in entry.interfaces},
    )


def drops(session: Session, entry: HostEntry) -> int:
    """Counts the packets that the test interfaces have dropped or received damaged so far."""
    lines = [line for name in entry.interfaces for line in session.ask("counters", name)]
    return sum(int(line.split()[2]) for line in lines)


def _sort_lines(lines: Iterable[str]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Sorts lines into facts with one value, and facts with a line for each of several values."""
    single: dict[str, str] = {}
    several: dict[str, list[str]] = {}
    for line in lines:
        key, _, value = line.partition(" ")
        single[key] = value
        several.setdefault(key, []).append(value)
    return single, several


def _interface(name: str, lines: Iterable[str]) -> Interface:
    found = {}
    for line in lines:
        key, _, rest = line.partition(" ")
        device, _, value = rest.partition(" ")
        if device == name:
            found[key] = value.strip()
    return Interface(
        address=found.get("address", ""),
        speed=found.get("speed", ""),
        qdisc=found.get("qdisc", ""),
        offloads=tuple(found.get("offloads", "").split()),
        drops=int(found.get("drops", "0")),
    )
