"""Checks of a scenario and of the hosts, before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from narrows.backends.hosts.facts import Facts
from narrows.backends.hosts.inventory import Inventory
from narrows.backends.hosts.plan import HostPlan, RunPlan
from narrows.backends.linux.refusals import check_features, refuse_packets_of_reverse_flows
from narrows.errors import InputError, SpecError
from narrows.spec.kernel_program import refuse_modules, refuse_programs
from narrows.spec.scenario import Scenario
from narrows.spec.suggest import one_of

MAX_FLOWS = 1000
_OTHERS = ("kernel", "profile", "syscall_time_ns", "date", "server")


def check_scenario(scenario: Scenario) -> None:
    """Raises SpecError for features that no hosts can run."""
    check_features(scenario, "a real host has its own", MAX_FLOWS)
    refuse_programs(scenario, "which isn't to be loaded into the kernels of hosts")
    refuse_modules(scenario, "which isn't to be loaded into the kernels of hosts")
    refuse_packets_of_reverse_flows(scenario)
    for i, flow in enumerate(scenario["flows"]):
        for key in _OTHERS:
            if key in flow:
                place = f"flows[{i}].{key.removesuffix('_ns')}"
                raise SpecError.at(place, f"{flow[key]}", "none on this back end")  # type: ignore[literal-required]
        if flow["options"]:
            remedy = "none on this back end: they are the whole host's module parameters,"
            raise SpecError.at(f"flows[{i}].options", f"{dict(flow['options'])}", remedy)


def refuse_controls(host: HostPlan, known: Facts) -> None:
    """Raises SpecError for a control that a sending host lacks and can't load."""
    usable = known.usable_controls()
    for lacking in sorted(host.controls - usable):
        found = f'"{lacking}", which the host {host.entry.ssh} lacks'
        raise SpecError.at("flows.cca", found, one_of(lacking, sorted(usable)))


def refuse_packets(scenario: Scenario, plan: RunPlan, facts: Mapping[str, Facts]) -> None:
    """Raises SpecError if packets are to be recorded on hosts where narrows isn't root."""
    if scenario["run"]["record"] != "packets":
        return
    for host in plan.hosts:
        if host.sends and not facts[host.entry.ssh].root:
            remedy = f'"samples", or root\'s login on {host.entry.ssh},'
            raise SpecError.at("run.record", '"packets"', remedy)


def refuse_disciplines(
    wanted: Mapping[str, Sequence[str]], have: Mapping[str, Mapping[str, bool]]
) -> None:
    """Raises SpecError for a queue discipline that a host's kernel lacks."""
    for name, kinds in wanted.items():
        for kind in kinds:
            if not have[name][kind]:
                found = f"hosts with {kind}, which the kernel of {name} lacks"
                place = "host.fq" if kind == "fq" else "bottleneck.by"
                remedy = "false" if kind == "fq" else '"narrows" in the inventory'
                raise SpecError.at(place, found, remedy)


def refuse_captures(plan: RunPlan, facts: Mapping[str, Facts]) -> None:
    """Raises InputError for captures on hosts where narrows isn't root."""
    for host in plan.hosts:
        if not facts[host.entry.ssh].root:
            found = f"captures on {host.entry.ssh}, where narrows isn't root"
            raise InputError.at("--pcap", found, "root's login there, or none,")


def refuse_facts(inventory: Inventory, facts: Mapping[str, Facts], out: Mapping[str, str]) -> None:
    """Raises InputError for hosts that rule out a run, each with the remedy."""
    for what, hosts in (("senders", inventory.senders), ("receivers", inventory.receivers)):
        if all(host.ssh in out for host in hosts):
            reasons = "; ".join(f"{host.ssh}: {out[host.ssh]}" for host in hosts)
            raise InputError.at(what, f"none that answers ({reasons})", "one at least")
    if inventory.router is not None and inventory.router.ssh in out:
        name = inventory.router.ssh
        raise InputError.at("router", f"{name}: {out[name]}", "a router that answers")
    for host in inventory.hosts:
        known = facts.get(host.ssh)
        if known is None:
            continue
        if lacking := known.missing_tools(inventory, host):
            found = f"the host {host.ssh} without {', '.join(lacking)}"
            raise InputError.at("inventory", found, f"`apt install {' '.join(lacking)}` there")
        if known.find_exposed(host):
            which = ", ".join(known.find_exposed(host))
            found = f"{which} of {host.ssh}, which carries the default route or ssh"
            raise InputError.at("inventory", found, "another interface, or shared = true,")
    if inventory.method == "narrows" and not facts[inventory.shaper.ssh].tun:
        found = f"no /dev/net/tun that is open to the user on {inventory.shaper.ssh}"
        raise InputError.at("router", found, "`modprobe tun` and mode 0666, or root,")
