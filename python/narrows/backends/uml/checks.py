"""Refuses scenarios that can't run in virtual time.

One guest holds the whole path if Linux has all of its elements. Otherwise packets between guests
cross the router's path, which is the simulator's.
"""

from __future__ import annotations

from collections.abc import Sequence

from narrows.backends.linux.groups import Group
from narrows.backends.linux.programs import check_programs
from narrows.backends.linux.qdiscs import can_make
from narrows.backends.linux.refusals import (
    check_features,
    refuse_packets_of_reverse_flows,
    refuse_waiting_for_others,
)
from narrows.backends.uml.coupled import window_ns
from narrows.backends.uml.kernels import BuiltKernel
from narrows.backends.uml.network import MAX_FLOWS
from narrows.errors import SpecError
from narrows.spec.classes import OWN_HOST
from narrows.spec.kernel_program import refuse_programs
from narrows.spec.scenario import Scenario

MAX_GUESTS = 32
"""The largest number of guests; each takes some 50 MB and a process."""
_LEAST_WINDOW_NS = 10_000
"""The shortest window; a shorter one would leave guests no time between two windows."""


def crosses_router(scenario: Scenario) -> bool:
    """Returns True if Linux alone can't make the path, or flows have their own hosts."""
    path = scenario["path"]
    elements = path["links"] or path["reverse"] or path["impairments"]
    other = not can_make(path)
    own = any(key in flow for flow in scenario["flows"] for key in OWN_HOST)
    return bool(elements or other or own or scenario["host"]["gso"])


def check(scenario: Scenario, default: BuiltKernel | None) -> None:
    """Raises SpecError for scenarios that no kernel can run.

    `default` is the back end's kernel, if the user chose none; it must have the scenario's profile.
    """
    host = scenario["host"]
    if default is not None and host["profile"] != default.profile:
        remedy = f'"{default.profile}", or --backend uml:{default.name},'
        raise SpecError.at("host.profile", f'"{host["profile"]}"', remedy)
    # The scenario's profile has accurate ECN if it is asked for, and so has the kernel.
    kinds = ("off", "classic", "accurate")
    check_features(scenario, "hosts in virtual time take no time", MAX_FLOWS, kinds)
    check_programs(scenario)
    refuse_packets_of_reverse_flows(scenario)
    refuse_programs(scenario, "for which User-Mode Linux has no compiler (JIT)")


def check_groups(scenario: Scenario, members: Sequence[Group]) -> None:
    """Raises SpecError for scenarios that coupled guests can't run."""
    if not crosses_router(scenario):
        return
    if window_ns(scenario) < _LEAST_WINDOW_NS:
        least = f"{2 * _LEAST_WINDOW_NS / 1e3:g}us"
        found = f'"{scenario["path"]["rtt_ns"] / 1e3:g}us"'
        raise SpecError.at("path.rtt", found, f'"{least}" or more where guests are coupled')
    if len(members) > MAX_GUESTS:
        found = f"{len(members)} kinds of hosts"
        raise SpecError.at("flows", found, f"at most {MAX_GUESTS} on this back end")
    refuse_waiting_for_others(scenario, members)
