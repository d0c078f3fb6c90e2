"""The compared quantities, and how far two back ends may differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from narrows.known import average, total
from narrows.late import pl
from narrows.metrics import growth, summarise
from narrows.spec.scenario import Scenario
from narrows.store import RunInfo

Tables = Mapping[str, pl.DataFrame]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity that every back end measures in the same way.

    A value times `scale` is in `unit`. `allowed` gives, for a mean of the reference, how far
    another mean may be from it; `rule` states that in words.
    """

    name: str
    title: str
    unit: str
    scale: float
    digits: int
    rule: str
    allowed: Callable[[float], float]

    def show(self, value: float, sign: str = "") -> str:
        """Returns the number in the unit, without the unit's name.

        `sign` "+" always shows the sign.
        """
        return f"{value * self.scale:{sign}.{self.digits}f}"


def _rate(reference: float) -> float:
    return max(0.2 * abs(reference), 0.002)


QUANTITIES: Mapping[str, Quantity] = {
    quantity.name: quantity
    for quantity in (
        Quantity("share", "share of all goodput", "%", 100.0, 1, "5 points", lambda _: 0.05),
        Quantity(
            "goodput", "goodput of a flow", "Mbit/s", 1.0, 3, "3 %", lambda ref: 0.03 * abs(ref)
        ),
        Quantity(
            "retransmission_rate",
            "packets retransmitted of all sent",
            "%",
            100.0,
            3,
            "20 % or 0.2 points",
            _rate,
        ),
        Quantity(
            "retransmissions",
            "packets retransmitted by a flow",
            "packets",
            1.0,
            1,
            "20 % or 5 packets",
            lambda ref: max(0.2 * ref, 5.0),
        ),
        Quantity("rtt", "mean smoothed RTT", "ms", 1.0, 2, "10 %", lambda ref: 0.1 * abs(ref)),
        *(
            Quantity(
                f"rtt_{name}",
                f"{words} of the smoothed RTT, sampled as the measurement was",
                "ms",
                1.0,
                2,
                "5 %",
                lambda ref: 0.05 * abs(ref),
            )
            for name, words in (("p95", "95th percentile"), ("max", "maximum"))
        ),
        Quantity(
            "completion_time", "completion time", "s", 1.0, 3, "10 %", lambda ref: 0.1 * abs(ref)
        ),
        *(
            Quantity(
                f"completion_{name}",
                f"{words} of the completion times",
                "s",
                1.0,
                3,
                "15 %",
                lambda ref: 0.15 * abs(ref),
            )
            for name, words in (("p50", "median"), ("p95", "95th percentile"))
        ),
        Quantity(
            "slowdown",
            "median slowdown of transfers",
            "",
            1.0,
            3,
            "15 %",
            lambda ref: 0.15 * abs(ref),
        ),
        Quantity(
            "drop_rate", "packets dropped at the queue", "%", 100.0, 3, "20 % or 0.2 points", _rate
        ),
        Quantity(
            "mark_rate", "packets marked at the queue", "%", 100.0, 3, "20 % or 0.2 points", _rate
        ),
        Quantity(
            "queue",
            "mean queue",
            "BDP",
            1.0,
            3,
            "10 % of the mean RTT, so 10 % of a BDP plus the queue",
            lambda ref: 0.1 * (1 + ref),
        ),
        Quantity("utilization", "utilisation", "%", 100.0, 2, "3 %", lambda ref: 0.03 * abs(ref)),
    )
}
"""The quantities by name, in the order of the tables."""


@dataclass(frozen=True, slots=True, order=True)
class ComparedQuantity:
    """A quantity of a class of flows, or of the bottleneck if the class is empty."""

    quantity: str
    flows: str = ""

    @property
    def of(self) -> Quantity:
        """The quantity itself."""
        return QUANTITIES[self.quantity]


Measured = dict[ComparedQuantity, float]


def measure(
    scenario: Scenario,
    tables: Tables,
    info: RunInfo,
    groups: Sequence[str],
    instants: Sequence[float] = (),
) -> Measured:
    """Measures every cell of one run; `groups` names the class of each flow by id.

    Endless flows are measured from the warm-up to the end, flows with a size over their whole
    lifetime. A class has a completion time (the mean of all its finished flows) or a goodput; a
    class with a workload whose transfers end has both, and further statistics of its completion
    times. Shares are given if no flow has a size, and for all classes but the last, whose share is
    the rest. The RTT is the mean of TCP's own smoothed RTT over the samples, which every back end
    knows; a kernel doesn't show its single RTT samples. The bottleneck's marks count if some flow
    uses ECN.

    The `instants` are the times in s at which the reference, an import, was sampled. They thin the
    samples of the RTT, so that percentile and maximum are the same quantities on both sides.
    """
    run = _Run(scenario, tables, info, groups, instants)
    found: Measured = {}
    for group in run.classes:
        found.update(run.of_class(group))
    bottleneck = run.summary["bottleneck"]
    values = {
        "drop_rate": bottleneck["loss_rate"],
        "mark_rate": run.mark_rate(),
        "queue": bottleneck["queue_bdp"]["mean"],
        "utilization": bottleneck["utilization"],
    }
    found.update(
        {ComparedQuantity(name): value for name, value in values.items() if value is not None}
    )
    order = list(QUANTITIES)
    return dict(sorted(found.items(), key=lambda item: order.index(item[0].quantity)))


class _Run:
    """A run, measured class by class."""

    def __init__(
        self,
        scenario: Scenario,
        tables: Tables,
        info: RunInfo,
        groups: Sequence[str],
        instants: Sequence[float],
    ) -> None:
        self.scenario, self.tables, self.end_s = scenario, tables, info.end_s
        self.instants = instants
        self.summary = summarise(scenario, tables, info, groups)
        self.warmup_s = scenario["run"]["warmup_ns"] / 1e9
        self.classes = list(dict.fromkeys(groups))
        self.groups = groups
        self.endless = all(flow["size_bytes"] is None for flow in scenario["flows"])

    def of_class(self, group: str) -> Measured:
        flows = [flow for flow, name in enumerate(self.groups) if name == group]
        names = {self.scenario["flows"][flow]["name"] for flow in flows}
        entries = [entry for entry in self.summary["flows"] if entry["name"] in names]
        sized = self.scenario["flows"][flows[0]]["size_bytes"] is not None
        start_s = -1.0 if sized else self.warmup_s
        again, rate = self._count_retransmissions(flows, start_s)
        values = {"retransmission_rate": rate, **self._rtt(flows, start_s)}
        if self.instants and again is not None:
            values["retransmissions"] = again / len(flows)
        if sized:
            values["completion_time"] = average(entry["fct_s"] for entry in entries)
        else:
            values |= self._completions(group)
            values["goodput"] = average(entry["goodput_mbps"] for entry in entries)
        if self.endless and group != self.classes[-1]:
            values["share"] = total(entry["share"] for entry in entries)
        return {
            ComparedQuantity(name, group): value
            for name, value in values.items()
            if value is not None
        }

    def _completions(self, group: str) -> dict[str, float | None]:
        """Returns the completion times of a workload whose transfers end."""
        parts = self.summary.get("completions", ())
        found = next((part for part in parts if part["class"] == group), None)
        if found is None:
            return {}
        times, slowdown = found["completion_s"], found["slowdown"]
        return {
            "completion_time": times["mean"],
            "completion_p50": times["p50"],
            "completion_p95": times["p95"],
            "slowdown": slowdown["p50"],
        }

    def mark_rate(self) -> float | None:
        """Returns the share of arriving packets that were marked; None if no flow can be marked."""
        if all(flow["ecn"] == "off" for flow in self.scenario["flows"]):
            return None
        samples = self.tables["queue_samples"].filter(pl.col("link") == 0)
        columns = ("arrived_packets", "marked_packets")
        grown = growth(samples, "link", columns, self.warmup_s, self.end_s)
        arrived, marked = (float(grown[name].sum()) for name in columns)
        return marked / arrived if arrived else None

    def _count_retransmissions(
        self, flows: Sequence[int], start_s: float
    ) -> tuple[float | None, float | None]:
        """Returns the number of retransmitted packets, and their share of all that were sent."""
        samples = self.tables["flow_samples"].filter(pl.col("flow").is_in(flows))
        grown = growth(samples, "flow", ("sent", "retransmitted"), start_s, self.end_s)
        sent, again = (float(grown[name].sum()) for name in ("sent", "retransmitted"))
        known = samples["retransmitted"].count()
        return again if known else None, again / sent if sent else None

    def _rtt(self, flows: Sequence[int], start_s: float) -> dict[str, float | None]:
        """Returns a mean over flows of means over time, and with `instants` of further statistics.

        A chain has no RTT between two of its flows.
        """
        samples = self.tables["flow_samples"].filter(
            pl.col("flow").is_in(flows)
            & (pl.col("time_s") >= start_s)
            & (pl.col("in_flight").is_null() | (pl.col("in_flight") > 0))
            & pl.col("srtt_ms").is_not_null()
        )
        rtt = pl.col("srtt_ms")
        statistics = {"rtt": rtt.mean()}
        if self.instants:
            samples = _at_instants(samples, self.instants)
            statistics |= {"rtt_p95": rtt.quantile(0.95, "nearest"), "rtt_max": rtt.max()}
        of_flows = samples.group_by("flow").agg(**statistics).sort("flow")
        return {name: average(of_flows[name].to_list()) for name in statistics}


def _at_instants(samples: pl.DataFrame, instants: Sequence[float]) -> pl.DataFrame:
    """Returns the latest sample of each flow at each time."""
    times = pl.DataFrame({"time_s": instants}, schema={"time_s": pl.Float64}).sort("time_s")
    parts = [
        times.join_asof(part.sort("time_s"), on="time_s").drop_nulls("flow")
        for part in samples.partition_by("flow")
    ]
    return pl.concat(parts) if parts else samples
