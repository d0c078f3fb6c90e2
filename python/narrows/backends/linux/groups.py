"""Groups flows that share their hosts, where a scenario gives some flows their own hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrows.backends.linux.tables import (
    completion_rows,
    packets,
    read_applications,
    read_csv,
    read_flows,
)
from narrows.late import pl
from narrows.spec.classes import OWN_HOST
from narrows.spec.scenario import Host, Scenario

_ALONE = {"line_rate_bps", "server"}
"""Keys of flows that share their hosts with no other flow."""


@dataclass(frozen=True)
class Group:
    """The numbers of flows between one sending and one receiving host.

    `own` has the properties in which these hosts differ from the others.
    """

    flows: tuple[int, ...]
    own: Mapping[str, Any]


def groups(scenario: Scenario) -> list[Group]:
    """Returns the groups of a scenario's flows, in the order of their first flows.

    A flow whose card has a rate is alone, since others would share the card with it. So is a flow
    of programs, since all packets between its hosts count as the flow's.
    """
    found: list[tuple[dict[str, Any], list[int]]] = []
    for number, flow in enumerate(scenario["flows"]):
        own = {key: value for key, value in flow.items() if key in OWN_HOST}
        alike = (members for others, members in found if others == own)
        members = None if own.keys() & _ALONE else next(alike, None)
        if members is None:
            found.append((own, members := []))
        members.append(number)
    return [Group(tuple(members), own) for own, members in found]


def part(scenario: Scenario, group: Group) -> Scenario:
    """Returns the scenario with only a group's flows, and with their hosts as its hosts."""
    host: Host = {**scenario["host"]}
    host["profile"] = group.own.get("profile", host["profile"])
    host["fq"] = group.own.get("fq", host["fq"])
    flows = [scenario["flows"][number] for number in group.flows]
    return {**scenario, "host": host, "flows": flows}


def flow_rows(directories: Sequence[Path], members: Sequence[Group]) -> pl.DataFrame:
    """Returns the samples of all groups' flows, each by its number in the scenario."""
    return _join(directories, members, read_flows).sort("time_ns", "flow", maintain_order=True)


def applications(directories: Sequence[Path], members: Sequence[Group]) -> pl.DataFrame:
    """Returns the internals of all groups' applications."""
    return _join(directories, members, read_applications)


def completions(directories: Sequence[Path], members: Sequence[Group]) -> pl.DataFrame:
    """Returns the table `completions` of all groups' flows, in the order of their ends."""
    rows = _join(directories, members, lambda at: completion_rows(read_csv(at / "completions.csv")))
    return rows.sort("end_s", maintain_order=True)


def packet_rows(directories: Sequence[Path], members: Sequence[Group]) -> pl.DataFrame:
    """Returns the table `packets` of all groups' flows."""
    rows = _join(directories, members, lambda at: packets(read_csv(at / "packets.csv")))
    return rows.sort("time_s", maintain_order=True)


def _join(
    directories: Sequence[Path], members: Sequence[Group], read: Callable[[Path], pl.DataFrame]
) -> pl.DataFrame:
    """Returns the rows that `read` finds in the directories of all groups."""
    pairs = zip(directories, members, strict=True)
    return pl.concat(_number_flows(read(directory), group) for directory, group in pairs)


def _number_flows(rows: pl.DataFrame, group: Group) -> pl.DataFrame:
    numbers = dict(enumerate(group.flows))
    kind = rows.schema["flow"]
    return rows.with_columns(pl.col("flow").replace_strict(numbers, return_dtype=kind))
