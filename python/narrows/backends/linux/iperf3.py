"""Flows that iperf3 sends in place of the traffic program."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from narrows.backends.linux.groups import Group
from narrows.errors import SpecError
from narrows.spec.scenario import Flow, Scenario

MAX_IPERF3_FLOWS = 100
"""More flows would take too many processes: each flow takes two."""
_LONGEST_NS = 86_400 * 10**9
"""The longest run of iperf3."""
_FIRST_DATA_PORT = 30_000
"""The first sender's port of iperf3's flows, below the ephemeral ports: flow i has this plus i."""


def may_send(flow: Flow) -> bool:
    """Returns True if iperf3 may send a flow, that is, if the flow has no end.

    It sets its control too late for a control that requests ECN.
    """
    endless = flow["size_bytes"] is None and flow["workload"] is None
    return endless and flow["ecn"] != "dctcp" and "server" not in flow


def check_flows(flows: Sequence[Flow], theirs: Sequence[int], instead: str) -> None:
    """Raises SpecError if iperf3 can't send `theirs` of the flows; `instead` is a remedy."""
    if len(theirs) > MAX_IPERF3_FLOWS:
        remedy = f"at most {MAX_IPERF3_FLOWS} of iperf3, or {instead},"
        raise SpecError.at("flows", f"{len(theirs)}", remedy)
    for i in theirs:
        for key in ("receive_window", "notsent_lowat"):
            if (limit := flows[i].get(f"{key}_bytes")) is not None:
                remedy = f"none for what iperf3 sends, or {instead},"
                raise SpecError.at(f"flows[{i}].{key}", f"{limit} bytes", remedy)


def check_duration(scenario: Scenario, instead: str) -> None:
    """Raises SpecError for a run that is longer than iperf3 can send."""
    duration_ns = scenario["run"]["duration_ns"]
    if duration_ns > _LONGEST_NS:
        remedy = f"at most a day for iperf3, or {instead},"
        raise SpecError.at("run.duration", f"{duration_ns / 1e9:g} s", remedy)


def client_configs(programs: Sequence[str | None]) -> list[dict[str, Any] | None]:
    """Returns for each flow that iperf3 sends the program and the sender's port of its data."""
    return [
        {"program": program, "data_port": _FIRST_DATA_PORT + i} if program else None
        for i, program in enumerate(programs)
    ]


def data_ports(configs: Sequence[dict[str, Any] | None]) -> list[int | None]:
    """Returns the sender's port of each flow's data.

    A router tells the data from iperf3's control connection by it.
    """
    return [each["data_port"] if each else None for each in configs]


def iperf3_reports(places: Sequence[Path], members: Sequence[Group]) -> dict[str, bytes]:
    """Returns iperf3's reports from the directories of all groups, by flow number."""
    found: dict[str, bytes] = {}
    for place, group in zip(places, members, strict=True):
        for own, number in enumerate(group.flows):
            file = place / f"iperf3-{own}.json"
            if file.exists():
                found[f"iperf3-{number}.json"] = file.read_bytes()
    return found


def name_version(said: str) -> str:
    """Returns the version from `iperf3 --version`, such as "iperf 3.12 (cJSON 1.7.15)"."""
    words = said.split()[:2]
    return f"iperf3 {words[1]}" if len(words) == 2 else "iperf3"
