"""Checks for features that back ends with a Linux kernel lack."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narrows.errors import SpecError
from narrows.spec import registry
from narrows.spec.classes import OWN_HOST
from narrows.spec.host import MODELLED
from narrows.spec.scenario import Scenario
from narrows.spec.suggest import one_of


def refuse_modelled_hosts(scenario: Scenario, reason: str) -> None:
    """Raises SpecError for keys that only simulated hosts have; `reason` says why."""
    host: Mapping[str, Any] = scenario["host"]
    for key in MODELLED:
        if value := host[f"{key}_ns"]:
            raise SpecError.at(f"host.{key}", f"{value} ns", f'"0s", since {reason},')


def refuse_gso(scenario: Mapping[str, Any]) -> None:
    """Raises SpecError for super-packets."""
    if scenario["host"]["gso"]:
        remedy = "false, since devices get single packets on this back end,"
        raise SpecError.at("host.gso", "true", remedy)


def refuse_ecn(scenario: Scenario) -> None:
    """Raises SpecError for a flow whose ECN Linux's TCP doesn't have.

    DCTCP negotiates its own (`TCP_CONG_NEEDS_ECN`); for the others `tcp_ecn` at the time of
    connecting decides.
    """
    for i, flow in enumerate(scenario["flows"]):
        need = registry.ecn_need(flow["cca"])
        able = (need,) if need else ("off", "classic")
        if flow["ecn"] not in able:
            remedy = f"{one_of(flow['ecn'], able)} for {flow['cca']} on this back end"
            raise SpecError.at(f"flows[{i}].ecn", f'"{flow["ecn"]}"', remedy)


def refuse_own_hosts(scenario: Scenario) -> None:
    """Raises SpecError for a flow with hosts of its own."""
    for i, flow in enumerate(scenario["flows"]):
        for key, value in flow.items():
            if key in OWN_HOST:
                place = f"flows[{i}].{key.removesuffix('_bps')}"
                remedy = "the same hosts for all flows, as [host] says,"
                raise SpecError.at(place, f"{value}", remedy)


def refuse_reverse_flows(scenario: Scenario) -> None:
    """Raises SpecError for a flow in the reverse direction."""
    for i, flow in enumerate(scenario["flows"]):
        if flow["reverse"]:
            raise SpecError.at(f"flows[{i}].reverse", "true", _REMEDY)


_REMEDY = "the back end sim for it, or none,"
