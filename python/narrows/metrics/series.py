"""Time series of a run by name: of a class or a flow ("bbr.cwnd"), or of a link.

A series is a column of `flow_samples` or `queue_samples`, a series derived from their counters, or
an internal of a congestion control. The derived series are declared here, for `[[check]]` and
docs/reference/metrics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narrows import _native
from narrows._native import OfferedCapacity
from narrows.columns import Columns, Floats, Table, Tables, columns
from narrows.metrics.offered import bytes_until, drain_ms, offers
from narrows.spec.scenario import Scenario

BOTTLENECK = "bottleneck"
COMPLETION = "completion_s"
SHARE = "share"
_KEYS = ("time_s", "flow", "link")


@dataclass(frozen=True)
class Samples:
    """The series of a flow or link: numbers (NaN if unknown) or texts, by the time in s."""

    time_s: Floats
    values: NDArray[Any]

    @property
    def has_values(self) -> bool:
        """Returns True if any value is known."""
        if self.values.dtype.kind != "f":
            return len(self.values) > 0
        return bool(np.isfinite(self.values).any())

    @property
    def has_content(self) -> bool:
        """Returns True if any value is known and isn't an empty text."""
        return self.has_values and (self.values.dtype.kind == "f" or any(self.values))


@dataclass(frozen=True)
class RunSeries:
    """The inputs of a run's series: its scenario, its classes by flow, its tables."""

    scenario: Scenario
    groups: Sequence[str]
    tables: Tables

    def read(self, owner: str, name: str) -> list[Samples]:
        """Returns the series of every flow of a class, or of a flow or link.

        Empty if there is none.

        For `completion_s` the times are those at which the transfers began.
        """
        flows = flows_of(self.scenario, self.groups, owner)
        if not flows:
            return [_of_link(self, links(self.scenario).index(owner), name)]
        if name == COMPLETION:
            return [_completions(self.tables.get("completions"), flows)]
        if name == SHARE:
            return [self._share(flows)]
        return [found for flow in flows if (found := self._of_flow(flow, name)) is not None]

    def internals(self, owner: str) -> list[str]:
        """Returns the names of the internals that the control of a class reports."""
        table = self.tables.get("internals")
        if table is None:
            return []
        rows = columns(table).having("flow", flows_of(self.scenario, self.groups, owner))
        return sorted(set(rows["name"].tolist()))

    def _share(self, flows: Sequence[int]) -> Samples:
        """Returns the share of each flow in the bytes of all, at the first flow's sample times."""
        table = columns(self.tables["flow_samples"])
        every = [_rows(table, "flow", flow) for flow in range(len(self.scenario["flows"]))]
        times = every[flows[0]].floats("time_s")
        grown = [
            np.diff(
                np.interp(times, rows.floats("time_s"), rows.floats("wire_bytes")),
                prepend=np.nan,
            )
            for rows in every
        ]
        mine: Floats = np.sum([grown[flow] for flow in flows], axis=0)
        return Samples(times, _ratio(mine, np.sum(grown, axis=0)))

    def _of_flow(self, flow: int, name: str) -> Samples | None:
        rows = _rows(columns(self.tables["flow_samples"]), "flow", flow)
        times = rows.floats("time_s")
        if name in OF_FLOW:
            return Samples(times, OF_FLOW[name].read(rows, self.scenario))
        if name in rows:
            return Samples(times, _values(rows, name))
        return _internal(self.tables.get("internals"), flow, name, times)


@dataclass(frozen=True)
class DerivedSeries:
    """A series that is computed from the rows of a flow or link, over each sample interval."""

    name: str
    unit: str
    meaning: str
    read: Callable[[Columns, Scenario], Floats]


def flows_of(scenario: Scenario, groups: Sequence[str], owner: str) -> list[int]:
    """Returns the numbers of the flows of a class, or of a flow; empty for an unknown name."""
    members = [number for number, group in enumerate(groups) if group == owner]
    names = [flow["name"] for flow in scenario["flows"]]
    return members or [number for number, name in enumerate(names) if name == owner]


def links(scenario: Scenario) -> list[str]:
    """Returns the names of the links by their numbers."""
    path = scenario["path"]
    more = [*path.get("links", ()), *([path["reverse"]] if path.get("reverse") else ())]
    return [BOTTLENECK, *(link["name"] for link in more)]


def owners(scenario: Scenario, groups: Sequence[str]) -> list[str]:
    """Returns everything that has series: classes, flows and links."""
    names = (flow["name"] for flow in scenario["flows"])
    return list(dict.fromkeys([*groups, *names, *links(scenario)]))


def series_columns(table: str) -> list[str]:
    """Returns the columns of a table that are series."""
    found = {entry["name"]: entry["columns"] for entry in _native.tables()}
    return [column["name"] for column in found[table] if column["name"] not in _KEYS]


def _rows(table: Columns, key: str, number: int) -> Columns:
    return table.having(key, [number]).sort_by("time_s")


def _values(rows: Columns, name: str) -> NDArray[Any]:
    if rows[name].dtype.kind == "O":
        return np.array(rows.texts(name), dtype=object)
    return rows.floats(name)


def _internal(table: Table | None, flow: int, name: str, times: Floats) -> Samples | None:
    """Returns an internal at the instants of the flow's samples.

    NaN where the control reports none.
    """
    if table is None:
        return None
    rows = _rows(columns(table).having("name", [name]), "flow", flow)
    if not len(rows):
        return None
    told, found = rows.floats("time_s"), np.full(len(times), np.nan)
    at = np.clip(np.searchsorted(told, times - 1e-9), 0, len(told) - 1)
    same = np.abs(told[at] - times) < 1e-6
    found[same] = rows.floats("value")[at[same]]
    return Samples(times, found)


def _of_link(run: RunSeries, number: int, name: str) -> Samples:
    rows = _rows(columns(run.tables["queue_samples"]), "link", number)
    times = rows.floats("time_s")
    if name in OF_LINK:
        return Samples(times, OF_LINK[name].read(rows, run.scenario))
    return Samples(times, rows.floats(name))


def _completions(table: Table | None, flows: Sequence[int]) -> Samples:
    if table is None:
        return Samples(np.empty(0), np.empty(0))
    every = columns(table)
    rows = every.where(np.isin(every["flow"], list(flows))).sort_by("start_s")
    begin = rows.floats("start_s")
    return Samples(begin, rows.floats("end_s") - begin)


def _increments(rows: Columns, name: str) -> Floats:
    """Returns how much a counter grew since the previous sample; NaN at the first."""
    grown: Floats = np.diff(rows.floats(name), prepend=np.nan)
    return grown


def _mbps(name: str) -> Callable[[Columns, Scenario], Floats]:
    return lambda rows, _: _ratio(_increments(rows, name) * 8e-6, _increments(rows, "time_s"))


def _per_second(name: str) -> Callable[[Columns, Scenario], Floats]:
    return lambda rows, _: _ratio(_increments(rows, name), _increments(rows, "time_s"))


def _part(part: str, whole: str) -> Callable[[Columns, Scenario], Floats]:
    return lambda rows, _: _ratio(_increments(rows, part), _increments(rows, whole))


def _ratio(part: Floats, whole: Floats) -> Floats:
    """Returns the quotient; NaN where the divisor is zero."""
    found: Floats = np.full(len(part), np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def _utilization(rows: Columns, scenario: Scenario) -> Floats:
    offered = bytes_until(_offer_of(rows, scenario), rows.floats("time_s") * 1e9)
    return _ratio(_increments(rows, "forwarded_bytes"), np.diff(offered, prepend=np.nan))


def _queue_ms(rows: Columns, scenario: Scenario) -> Floats:
    offer = _offer_of(rows, scenario)
    return drain_ms(offer, rows.floats("time_s"), rows.floats("backlog_bytes"))


def _offer_of(rows: Columns, scenario: Scenario) -> OfferedCapacity:
    """Returns the capacity of the link of these rows."""
    return offers(scenario)[int(rows["link"][0]) if len(rows) else 0]


OF_FLOW: Mapping[str, DerivedSeries] = {
    one.name: one
    for one in (
        DerivedSeries("goodput_mbps", "Mbit/s", "payload that reached the receiver, each byte once",
                      _mbps("received_bytes")),
        DerivedSeries("throughput_mbps", "Mbit/s", "IP bits of its data that left the bottleneck",
                      _mbps("wire_bytes")),
        DerivedSeries("sending_pps", "packets/s", "packets sent, retransmissions included",
                      _per_second("sent")),
        DerivedSeries("loss_rate", "", "part of its packets that were marked lost",
                      _part("lost", "sent")),
        DerivedSeries("retransmission_rate", "", "part of its packets that were retransmissions",
                      _part("retransmitted", "sent")),
    )
}  # fmt: skip
"""Derived series of flows."""
OF_LINK: Mapping[str, DerivedSeries] = {
    one.name: one
    for one in (
        DerivedSeries("queue_ms", "ms", "how long the link takes to send the backlog", _queue_ms),
        DerivedSeries("loss_rate", "", "part of the arriving packets that the queue dropped",
                      _part("dropped_packets", "arrived_packets")),
        DerivedSeries("mark_rate", "", "part of the arriving packets that the queue marked",
                      _part("marked_packets", "arrived_packets")),
        DerivedSeries("utilization", "", "IP bits forwarded over those that the link offered",
                      _utilization),
    )
}  # fmt: skip
"""Derived series of links."""
