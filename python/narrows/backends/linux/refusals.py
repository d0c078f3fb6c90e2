"""Refuses features that back ends with a Linux kernel lack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from narrows.backends.linux.groups import Group
from narrows.backends.protocol import refuse_own_controls
from narrows.errors import SpecError
from narrows.spec import registry
from narrows.spec.host import MODELLED
from narrows.spec.scenario import Scenario
from narrows.spec.suggest import one_of

SIMULATED_WORKLOADS = ("web", "udp", "ping", "media")
"""Workloads that crates/traffic can't send."""


def check_features(
    scenario: Scenario, hosts: str, most_flows: int, ecn: Sequence[str] = ("off", "classic")
) -> None:
    """Raises SpecError for features that a back end with a Linux kernel lacks.

    `hosts` says why the back end models no hosts; `ecn` has the kinds of ECN that its kernels can
    be asked for.
    """
    _refuse_simulated_workloads(scenario)
    _refuse_modelled_hosts(scenario, hosts)
    _refuse_stacks(scenario)
    _refuse_changes(scenario)
    _refuse_ecn(scenario, ecn)
    if len(scenario["flows"]) > most_flows:
        found, remedy = f"{len(scenario['flows'])}", f"at most {most_flows} on this back end"
        raise SpecError.at("flows", found, remedy)
    refuse_own_controls(scenario)


def _refuse_modelled_hosts(scenario: Scenario, reason: str) -> None:
    """Raises SpecError for keys that only simulated hosts have; `reason` says why."""
    host: Mapping[str, Any] = scenario["host"]
    for key in MODELLED:
        if value := host[f"{key}_ns"]:
            found = f'"{value / 1e3:.10g}us"'
            raise SpecError.at(f"host.{key}", found, f'"0s", since {reason},')


def _refuse_ecn(scenario: Scenario, known: Sequence[str]) -> None:
    """Raises SpecError for a flow with a kind of ECN that isn't `known`.

    DCTCP negotiates its own (`TCP_CONG_NEEDS_ECN`); for the others `tcp_ecn` at the time of
    connecting decides.
    """
    for i, flow in enumerate(scenario["flows"]):
        need = registry.ecn_need(flow["cca"])
        able = (need,) if need else known
        if flow["ecn"] not in able:
            remedy = f"{one_of(flow['ecn'], able)} for {flow['cca']} on this back end"
            raise SpecError.at(f"flows[{i}].ecn", f'"{flow["ecn"]}"', remedy)


def _refuse_simulated_workloads(scenario: Scenario) -> None:
    """Raises SpecError for workloads that only the simulator has."""
    for i, flow in enumerate(scenario["flows"]):
        work = flow["workload"]
        if work is not None and work["kind"] in SIMULATED_WORKLOADS:
            remedy = "another workload (this one runs on the simulator alone)"
            raise SpecError.at(f"flows[{i}].workload", f'"{work["kind"]}"', remedy)


def refuse_packets_of_reverse_flows(scenario: Scenario) -> None:
    """Raises SpecError for rows of packets if a flow goes in the reverse direction."""
    reverse = any(flow["reverse"] for flow in scenario["flows"])
    if reverse and scenario["run"]["record"] == "packets":
        remedy = (
            '"samples" with flows in the reverse direction, since packets are noted at one host,'
        )
        raise SpecError.at("run.record", '"packets"', remedy)


def refuse_waiting_for_others(scenario: Scenario, members: Sequence[Group]) -> None:
    """Raises SpecError for flows that depend on flows between other hosts."""
    if len(members) == 1:
        return
    if scenario["run"]["stop_when"] is not None:
        remedy = "none where flows have hosts of their own, since hosts don't hear of each other,"
        raise SpecError.at("run.stop_when", f'"{scenario["run"]["stop_when"]}"', remedy)
    names = [{scenario["flows"][number]["name"] for number in group.flows} for group in members]
    for group, known in zip(members, names, strict=True):
        for number in group.flows:
            other = scenario["flows"][number]["while"]
            if other is not None and other not in known:
                remedy = "a flow with the same hosts, since hosts don't hear of each other,"
                raise SpecError.at(f"flows[{number}].while", f'"{other}"', remedy)


def _refuse_stacks(scenario: Scenario) -> None:
    """Raises SpecError for transport stacks of other projects, which only the simulator drives."""
    for i, flow in enumerate(scenario["flows"]):
        if stack := flow.get("stack"):
            remedy = "the back end sim, since hosts with a kernel send by its TCP,"
            raise SpecError.at(f"flows[{i}].stack", f'"{stack}"', remedy)


def _refuse_changes(scenario: Scenario) -> None:
    """Raises SpecError for changes during the run."""
    if scenario.get("changes"):
        remedy = "the back end sim for it, or none,"
        raise SpecError.at("changes", "changes during the run", remedy)
