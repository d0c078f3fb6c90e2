"""Plans the changes and programs of a run on each host, from the scenario and the inventory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from narrows.backends.hosts.bottleneck import Shaping, shaping
from narrows.backends.hosts.changes import HostChange, offload_off, sysctl, take, tc
from narrows.backends.hosts.facts import IPERF3
from narrows.backends.hosts.inventory import HostEntry, Inventory
from narrows.backends.hosts.pairs import number_pairs
from narrows.backends.linux.cards import disciplines
from narrows.backends.linux.iperf3 import (
    check_duration,
    check_flows,
    client_configs,
    data_ports,
    may_send,
)
from narrows.backends.linux.qdiscs import ETHERNET
from narrows.backends.linux.traffic import (
    FIRST_PORT,
    buffer_sysctls,
    fine_interval,
    host_sysctls,
    scenario_for_programs,
)
from narrows.backends.linux.validity import LATENESS_LIMITS_NS
from narrows.errors import SpecError
from narrows.spec.scenario import Flow, Scenario
from narrows.store import NO_CAPTURES, CaptureOptions

TO_SENDERS, TO_RECEIVERS = "nrwa", "nrwb"
"""The TUN devices of narrows' router, which receive the packets from either side."""
_TABLES = (7701, 7702)
_PREFERENCES = (7701, 7702)
_OFFLOADS = (
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "large-receive-offload",
)
TRAFFIC, ROUTER = "narrows-traffic", "narrows-router"
_SESSION_S = 120
"""A session may last this much longer than the run."""


@dataclass
class HostPlan:
    """One host's part of a run: its changes in order, and the programs that it starts.

    `sends` has the receiver's address of each flow, `receives` the sender's address, and
    `disciplines` the queue disciplines that the kernel must have. `program` is "narrows-router" on
    a host that carries packets; `configuration` is that of the program, without time 0.
    """

    entry: HostEntry
    changes: list[HostChange] = field(default_factory=list)
    sends: dict[int, str] = field(default_factory=dict)
    receives: dict[int, str] = field(default_factory=dict)
    controls: set[str] = field(default_factory=set)
    disciplines: list[str] = field(default_factory=list)
    program: str = TRAFFIC
    configuration: dict[str, Any] | None = None


@dataclass(frozen=True)
class RunPlan:
    """The plans of all hosts in a run; `shaper` is that of the host with the bottleneck, if any.

    `may_stop` is true if the run ends early once each sender's flows of `stop_when` are done.
    """

    hosts: tuple[HostPlan, ...]
    shaper: HostPlan | None
    duration_s: float
    may_stop: bool

    @property
    def limit_s(self) -> int:
        """How long each host's session may last."""
        return _SESSION_S + round(self.duration_s)


def plan_run(
    scenario: Scenario,
    inventory: Inventory,
    out: Sequence[str] = (),
    *,
    bare: bool = False,
    captures: CaptureOptions = NO_CAPTURES,
) -> RunPlan:
    """Plans a run on the hosts of an inventory, except those in `out`.

    A `bare` run has neither bottleneck nor delay, and all its traffic is narrows' own. With
    `captures` each host captures its packets.

    Raises SpecError for a scenario that these hosts can't run.
    """
    senders = [host for host in inventory.senders if host.ssh not in out]
    receivers = [host for host in inventory.receivers if host.ssh not in out]
    plans = {host.ssh: HostPlan(host) for host in (*senders, *receivers)}
    flows = scenario["flows"]
    for number, (flow, pair) in enumerate(zip(flows, number_pairs(flows), strict=True)):
        sender, receiver = senders[pair % len(senders)], receivers[pair % len(receivers)]
        if flow["reverse"]:
            sender, receiver = receiver, sender
        plans[sender.ssh].sends[number] = receiver.address
        plans[receiver.ssh].receives[number] = sender.address
    used = [plan for plan in plans.values() if plan.sends or plan.receives]
    iperf3 = [None] * len(flows) if bare else iperf3_configs(scenario, inventory)
    for plan in used:
        _set_host(plan, scenario, iperf3)
    if inventory.router is not None:
        used.append(HostPlan(inventory.router, list(_forwarding(inventory.router))))
    shaper = None if bare else _find(used, inventory.shaper)
    if shaper is not None and inventory.method == "narrows":
        _carry(shaper, scenario, inventory)
        shaper.configuration = {**(shaper.configuration or {}), "data_ports": data_ports(iperf3)}
    elif shaper is not None:
        _shape(shaper, scenario, shaping(scenario, inventory))
    if captures.pcap:
        for plan in used:
            _capture(plan, scenario, captures)
    run = scenario["run"]
    return RunPlan(tuple(used), shaper, run["duration_ns"] / 1e9, run["stop_when"] is not None)


def iperf3_configs(scenario: Scenario, inventory: Inventory) -> list[dict[str, Any] | None]:
    """Returns the configuration of each flow that iperf3 sends; raises SpecError if it can't."""
    flows = scenario["flows"]
    wanted = inventory.traffic == IPERF3
    theirs = [number for number, flow in enumerate(flows) if wanted and may_send(flow)]
    instead = 'traffic.by = "narrows" in the inventory'
    check_flows(flows, theirs, instead)
    if theirs:
        check_duration(scenario, instead)
    return client_configs([IPERF3 if n in theirs else None for n in range(len(flows))])


def _capture(plan: HostPlan, scenario: Scenario, captures: CaptureOptions) -> None:
    """Makes a host's program write captures, unless it only samples a queue."""
    if plan.configuration is not None and (plan.sends or plan.receives or plan.program == ROUTER):
        comment = f"narrows on {plan.entry.ssh}: {scenario['name']}, seed {scenario['seed']}"
        plan.configuration["pcap"] = {"snaplen": captures.snaplen, "comment": comment}


def _find(plans: Sequence[HostPlan], entry: HostEntry) -> HostPlan:
    """Returns the plan of a host.

    It exists even for a receiver with the bottleneck, which is the only receiver and so has a flow.
    """
    return next(plan for plan in plans if plan.entry is entry)


def _set_host(plan: HostPlan, scenario: Scenario, iperf3: Sequence[dict[str, Any] | None]) -> None:
    """Plans the settings of a sender or receiver, and its traffic program."""
    device = plan.entry.interfaces[0]
    flows = [scenario["flows"][number] for number in (*plan.sends, *plan.receives)]
    plan.controls = {scenario["flows"][number]["cca"] for number in plan.sends}
    settings = _sysctls(plan, scenario, flows)
    if any(iperf3[number] for number in plan.sends):
        # iperf3 sets the control once it is connected. Until then it mustn't be one that paces,
        # since a socket stays paced.
        settings["net/ipv4/tcp_congestion_control"] = "reno"
    plan.changes += [sysctl(key, value) for key, value in settings.items()]
    if not scenario["host"]["gso"]:
        plan.changes += [offload_off(device, feature) for feature in _OFFLOADS]
    commands = _card(plan, scenario)
    if commands:
        plan.changes += [take(device), *map(tc, commands)]
    plan.configuration = {
        "scenario": scenario_for_programs(scenario),
        "sample_ns": fine_interval(scenario["run"]["sample_interval_ns"]),
        "first_port": FIRST_PORT,
        "part": {"sends": plan.sends, "receives": plan.receives},
        "iperf3": iperf3,
        "sender": plan.entry.address,
        "sender_device": device,
        "receiver_device": device,
        "sysctls": {},
        "watch_waits": True,
    }


def _sysctls(plan: HostPlan, scenario: Scenario, flows: Sequence[Flow]) -> dict[str, str]:
    """Returns the settings of a host's TCP by path; all flows of the host must have the same."""
    own = [flow.get("sysctls", {}) for flow in flows]
    if any(each != own[0] for each in own):
        found = f"different sysctls of flows on the host {plan.entry.ssh}"
        raise SpecError.at("flows.sysctls", found, "the same, or as many hosts as flows,")
    ecn = {flow["ecn"] for flow in flows}
    if len(ecn) > 1:
        found = f"different settings of ecn on the host {plan.entry.ssh}"
        raise SpecError.at("flows.ecn", found, "the same, or as many hosts as flows,")
    return {
        **host_sysctls(scenario["host"]),
        **buffer_sysctls(scenario["host"], scenario["host"]["profile"]),
        "net/ipv4/tcp_ecn": "1" if ecn == {"classic"} else "2",
        "net/ipv4/tcp_orphan_retries": "2",
        "net/ipv4/tcp_fin_timeout": "2",
        **{f"net/ipv4/{name}": str(value) for name, value in own[0].items()},
    }


def _card(plan: HostPlan, scenario: Scenario) -> list[str]:
    """Returns the commands for the queue discipline of a sending host's interface."""
    sent = [scenario["flows"][number] for number in plan.sends]
    cards = {(flow.get("line_rate_bps"), flow.get("fq")) for flow in sent}
    if not cards:
        return []
    if len(cards) > 1 or (len(sent) > 1 and "line_rate_bps" in sent[0]):
        found = f"cards of their own for flows on the host {plan.entry.ssh}"
        raise SpecError.at("flows", found, "as many senders as flows")
    ((rate_bps, fair),) = cards
    host = {**scenario["host"], "fq": scenario["host"]["fq"] if fair is None else fair}
    plan.disciplines += [*(["fq"] if host["fq"] else []), *(["tbf"] if rate_bps else [])]
    part: Any = {**scenario, "host": host}
    return disciplines(plan.entry.interfaces[0], part, rate_bps, ETHERNET)


def _forwarding(router: HostEntry) -> Iterator[HostChange]:
    for device in router.interfaces:
        yield sysctl(f"net/ipv4/conf/{device}/forwarding", "1")
        yield from (offload_off(device, feature) for feature in _OFFLOADS)


def _carry(plan: HostPlan, scenario: Scenario, inventory: Inventory) -> None:
    """Makes narrows-router carry the packets; the kernel routes them to our two TUN devices."""
    plan.program = ROUTER
    for device, tun, table, preference in zip(
        plan.entry.interfaces, (TO_SENDERS, TO_RECEIVERS), _TABLES, _PREFERENCES, strict=True
    ):
        plan.changes += [
            HostChange(("tun", tun)),
            # Packets arrive on one device, and their replies leave by another one.
            sysctl(f"net/ipv4/conf/{tun}/rp_filter", "2"),
            sysctl(f"net/ipv4/conf/{tun}/forwarding", "1"),
            HostChange(("route", str(table), tun)),
            HostChange(("rule", str(preference), device, str(table))),
        ]
    plan.configuration = {
        "scenario": _without_base_rtt(scenario_for_programs(scenario), inventory.base_rtt_ns),
        "first_port": FIRST_PORT,
        "sample_ns": fine_interval(scenario["run"]["sample_interval_ns"]),
        "sender_device": TO_SENDERS,
        "receiver_device": TO_RECEIVERS,
        "lateness_limits_ns": LATENESS_LIMITS_NS,
    }


def _without_base_rtt(scenario: Mapping[str, Any], base_ns: int) -> dict[str, Any]:
    """Returns the scenario with the delays that the router has to add."""

    def rest(rtt_ns: int | None) -> int | None:
        return None if rtt_ns is None else max(0, rtt_ns - base_ns)

    path = {**scenario["path"], "rtt_ns": rest(scenario["path"]["rtt_ns"])}
    flows = [{**flow, "rtt_ns": rest(flow["rtt_ns"])} for flow in scenario["flows"]]
    return {**scenario, "path": path, "flows": flows}


def _shape(plan: HostPlan, scenario: Scenario, made: Shaping) -> None:
    """Plans the bottleneck by tc, and the traffic program that samples its queue."""
    plan.changes += made.changes
    plan.disciplines += made.disciplines
    queue = {"bottleneck_device": made.device, "bottleneck_class": made.queue_class}
    plan.configuration = {
        "scenario": scenario_for_programs(scenario),
        "sample_ns": fine_interval(scenario["run"]["sample_interval_ns"]),
        "first_port": FIRST_PORT,
        "part": {"sends": {}, "receives": {}},
        "sender_device": made.device,
        "sysctls": {},
        **(plan.configuration or {}),
        **queue,
    }
