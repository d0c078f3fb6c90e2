"""The declaration of a metric, which the tables, the figures and the reference share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from narrows.known import average
from narrows.spec.scenario import Scenario

Entry: TypeAlias = Mapping[str, Any]
Row: TypeAlias = Mapping[str, Any]
Better: TypeAlias = Literal["more", "less"]
Reader: TypeAlias = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of a run, of a flow or of a class of flows.

    `read` computes it from a `RunFacts`, a `FlowFacts` or the rows of a class; None stands for a
    value that can't be known. `better` says which direction is good, if any. The axis of a `part`
    shows 0 to 1; the colours of a metric with a `centre` diverge from it. `measure` computes it
    from the tables of the run if the summary lacks it. `aliases` are other headings of it.
    """

    name: str
    title: str
    unit: str
    meaning: str
    read: Reader
    better: Better | None = None
    whole: bool = False
    part: bool = False
    centre: float | None = None
    measure: Callable[[Scenario, Mapping[str, Any], float], Any] | None = None
    aliases: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The title with the unit, for an axis."""
        return f"{self.title} ({self.unit})" if self.unit else self.title

    def of_class(self, read: Callable[[Sequence[Row]], Any], how: str) -> Metric:
        """Returns the same metric for a class.

        `how` describes how the rows of its flows give it.
        """
        return replace(self, read=read, meaning=f"{self.meaning}; {how}")


@dataclass(frozen=True)
class RunFacts:
    """The inputs of a metric of a run: its summary and the rows of its flows."""

    entry: Entry
    rows: Sequence[Row]

    @property
    def path(self) -> Entry:
        """The path of the scenario."""
        found: Entry = self.entry["scenario"]["path"]
        return found

    @property
    def bdp_bytes(self) -> float:
        """The path's bandwidth-delay product in bytes."""
        return float(self.path["rate_bps"] * self.path["rtt_ns"] / 8e9)

    def goodputs(self) -> dict[str, float]:
        """The goodput of every flow by name; the mean for a chain, zero for an unknown flow."""
        return {name: value or 0.0 for name, value in by_name(self.rows, "goodput_mbps").items()}


@dataclass(frozen=True)
class FlowFacts:
    """The inputs of a metric of a flow: its entry in the summary, its description, the path."""

    entry: Entry
    described: Entry
    path: Entry

    @property
    def two_way_ms(self) -> float:
        """The flow's two-way delay without queueing."""
        return two_way_ms(self.path, self.described)

    @property
    def rate_bps(self) -> float:
        """The lowest rate of the links that the flow's data cross."""
        if self.described.get("reverse"):
            return float(self.path["reverse"]["rate_bps"])
        rates = {"bottleneck": self.path["rate_bps"]}
        rates |= {link["name"]: link["rate_bps"] for link in self.path.get("links", ())}
        crossed = self.described.get("links") or rates
        return float(min(rates[name] for name in crossed))


def two_way_ms(path: Entry, flow: Entry) -> float:
    """Returns the two-way delay of a described flow without queueing: its own, or the path's."""
    own = flow["rtt_ns"]
    return float(path["rtt_ns"] if own is None else own) / 1e6


def by_their_names(scenario: Entry) -> dict[str, Entry]:
    """Returns the flows of a scenario by name."""
    return {flow["name"]: flow for flow in scenario["flows"]}


def by_name(rows: Iterable[Row], key: str) -> dict[str, float | None]:
    """Returns a value of every flow by name; the mean for a chain."""
    values: dict[str, list[float | None]] = {}
    for row in rows:
        values.setdefault(row["name"], []).append(row[key])
    return {name: average(known) for name, known in values.items()}
