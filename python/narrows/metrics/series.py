"""Time series of a run by name: of a class or a flow ("bbr.cwnd"), or of a link.

A series is a column of `flow_samples` or `queue_samples`, one that is derived from their counters,
or an internal of a congestion control. What is derived is declared here, for `[[expect]]` and
docs/reference/metrics.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from narrows import _native
from narrows.spec.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

BOTTLENECK = "bottleneck"
COMPLETION = "completion_s"
SHARE = "share"
_KEYS = ("time_s", "flow", "link")


@dataclass(frozen=True)
class Samples:
    """A series of one flow or link: numbers (NaN if unknown) or texts, by the time in s."""

    time_s: Numbers
    values: NDArray[Any]

    @property
    def known(self) -> bool:
        """Whether any value is."""
        if self.values.dtype.kind != "f":
            return len(self.values) > 0
        return bool(np.isfinite(self.values).any())


@dataclass(frozen=True)
class RunSeries:
    """What the series of a run are read from: its scenario, its classes by flow, its tables."""

    scenario: Scenario
    groups: Sequence[str]
    tables: Mapping[str, pl.DataFrame]

    def read(self, owner: str, name: str) -> list[Samples]:
        """The series of every flow of a class, or that of a flow or link; empty if there is none.

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
        """The names of the internals that the control of a class tells."""
        table = self.tables.get("internals")
        if table is None:
            return []
        wanted = flows_of(self.scenario, self.groups, owner)
        return sorted(table.filter(table["flow"].is_in(wanted))["name"].unique().to_list())

    def _share(self, flows: Sequence[int]) -> Samples:
        """What flows have of the bytes of all, at the times of the first one."""
        table = self.tables["flow_samples"]
        every = [_rows(table, "flow", flow) for flow in range(len(self.scenario["flows"]))]
        times = _floats(every[flows[0]], "time_s")
        grown = [
            np.diff(
                np.interp(times, _floats(rows, "time_s"), _floats(rows, "wire_bytes")),
                prepend=np.nan,
            )
            for rows in every
        ]
        mine: Numbers = np.sum([grown[flow] for flow in flows], axis=0)
        return Samples(times, _ratio(mine, np.sum(grown, axis=0)))

    def _of_flow(self, flow: int, name: str) -> Samples | None:
        rows = _rows(self.tables["flow_samples"], "flow", flow)
        times = _floats(rows, "time_s")
        if name in OF_FLOW:
            return Samples(times, OF_FLOW[name].read(rows, self.scenario))
        if name in rows.columns:
            return Samples(times, _values(rows, name))
        return _internal(self.tables.get("internals"), flow, name, times)


@dataclass(frozen=True)
class Derived:
    """A series that is computed from the rows of a flow or link, over each sample interval."""

    name: str
    unit: str
    meaning: str
    read: Callable[[pl.DataFrame, Scenario], Numbers]


def flows_of(scenario: Scenario, groups: Sequence[str], owner: str) -> list[int]:
    """The numbers of the flows of a class, or of a flow; none if there is no such name."""
    members = [number for number, group in enumerate(groups) if group == owner]
    names = [flow["name"] for flow in scenario["flows"]]
    return members or [number for number, name in enumerate(names) if name == owner]


def links(scenario: Scenario) -> list[str]:
    """The names of the links by their numbers."""
    path = scenario["path"]
    more = [*path.get("links", ()), *([path["reverse"]] if path.get("reverse") else ())]
    return [BOTTLENECK, *(link["name"] for link in more)]


def _rates(scenario: Scenario) -> list[int]:
    """The rates of the links in bit/s by their numbers."""
    path = scenario["path"]
    reverse = path.get("reverse")
    more = [*path.get("links", ()), *([reverse] if reverse else ())]
    return [path["rate_bps"], *(link["rate_bps"] for link in more)]


def owners(scenario: Scenario, groups: Sequence[str]) -> list[str]:
    """Everything that has series: classes, flows and links."""
    names = (flow["name"] for flow in scenario["flows"])
    return list(dict.fromkeys([*groups, *names, *links(scenario)]))


def columns(table: str) -> list[str]:
    """The columns of a table that are series."""
    declared = {entry["name"]: entry["columns"] for entry in _native.tables()}
    return [column["name"] for column in declared[table] if column["name"] not in _KEYS]


def _rows(table: pl.DataFrame, key: str, number: int) -> pl.DataFrame:
    return table.filter(table[key] == number).sort("time_s")


def _floats(rows: pl.DataFrame, name: str) -> Numbers:
    import polars as pl

    return rows[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _values(rows: pl.DataFrame, name: str) -> NDArray[Any]:
    import polars as pl

    if rows.schema[name] == pl.String():
        return np.array(rows[name].fill_null("").to_list(), dtype=object)
    return _floats(rows, name)


def _internal(table: pl.DataFrame | None, flow: int, name: str, times: Numbers) -> Samples | None:
    """An internal at the instants of the flow's samples; NaN where the control doesn't tell it."""
    if table is None:
        return None
    rows = _rows(table.filter(table["name"] == name), "flow", flow)
    if rows.is_empty():
        return None
    told, found = _floats(rows, "time_s"), np.full(len(times), np.nan)
    at = np.clip(np.searchsorted(told, times - 1e-9), 0, len(told) - 1)
    same = np.abs(told[at] - times) < 1e-6
    found[same] = _floats(rows, "value")[at[same]]
    return Samples(times, found)


def _of_link(run: RunSeries, number: int, name: str) -> Samples:
    rows = _rows(run.tables["queue_samples"], "link", number)
    times = _floats(rows, "time_s")
    if name in OF_LINK:
        path = run.scenario["path"]
        own: Any = {**run.scenario, "path": {**path, "rate_bps": _rates(run.scenario)[number]}}
        return Samples(times, OF_LINK[name].read(rows, own))
    return Samples(times, _floats(rows, name))


def _completions(table: pl.DataFrame | None, flows: Sequence[int]) -> Samples:
    if table is None:
        return Samples(np.empty(0), np.empty(0))
    rows = table.filter(table["flow"].is_in(list(flows))).sort("start_s")
    begin = _floats(rows, "start_s")
    return Samples(begin, _floats(rows, "end_s") - begin)


def _grown(rows: pl.DataFrame, name: str) -> Numbers:
    """How much a counter grew since the sample before; NaN at the first."""
    grown: Numbers = np.diff(_floats(rows, name), prepend=np.nan)
    return grown


def _mbps(name: str) -> Callable[[pl.DataFrame, Scenario], Numbers]:
    return lambda rows, _: _ratio(_grown(rows, name) * 8e-6, _grown(rows, "time_s"))


def _per_second(name: str) -> Callable[[pl.DataFrame, Scenario], Numbers]:
    return lambda rows, _: _ratio(_grown(rows, name), _grown(rows, "time_s"))


def _part(part: str, whole: str) -> Callable[[pl.DataFrame, Scenario], Numbers]:
    return lambda rows, _: _ratio(_grown(rows, part), _grown(rows, whole))


def _ratio(part: Numbers, whole: Numbers) -> Numbers:
    """The quotient; NaN where the divisor is zero."""
    found: Numbers = np.full(len(part), np.nan)
    np.divide(part, whole, out=found, where=whole > 0)
    return found


def _utilization(rows: pl.DataFrame, scenario: Scenario) -> Numbers:
    bits = _grown(rows, "forwarded_bytes") * 8
    return _ratio(bits, _grown(rows, "time_s") * scenario["path"]["rate_bps"])


def _queue_ms(rows: pl.DataFrame, scenario: Scenario) -> Numbers:
    return _floats(rows, "backlog_bytes") * 8e3 / scenario["path"]["rate_bps"]


OF_FLOW: Mapping[str, Derived] = {
    one.name: one
    for one in (
        Derived("goodput_mbps", "Mbit/s", "payload that reached the receiver, each byte once",
                _mbps("received_bytes")),
        Derived("throughput_mbps", "Mbit/s", "IP bits of its data that left the bottleneck",
                _mbps("wire_bytes")),
        Derived("sending_pps", "packets/s", "packets sent, retransmissions included",
                _per_second("sent")),
        Derived("loss_rate", "", "part of its packets sent that were marked lost",
                _part("lost", "sent")),
        Derived("retransmission_rate", "", "part of its packets sent that were retransmissions",
                _part("retransmitted", "sent")),
    )
}  # fmt: skip
"""Derived series of flows."""
OF_LINK: Mapping[str, Derived] = {
    one.name: one
    for one in (
        Derived("queue_ms", "ms", "the backlog as time at the rate of the link", _queue_ms),
        Derived("loss_rate", "", "part of the arriving packets that the queue dropped",
                _part("dropped_packets", "arrived_packets")),
        Derived("mark_rate", "", "part of the arriving packets that the queue marked",
                _part("marked_packets", "arrived_packets")),
        Derived("utilization", "", "IP bits forwarded over those that the rate allows",
                _utilization),
    )
}  # fmt: skip
"""Derived series of links."""
