"""Loss, utilisation and standing queue of the links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from narrows.metrics.counters import Counters
from narrows.metrics.distributions import distributions as by_kind
from narrows.metrics.distributions import summarised
from narrows.spec.scenario import Scenario

if TYPE_CHECKING:
    from narrows.columns import Table, Tables

QUEUE_STATISTICS = ("mean", "p5", "p50", "p95", "max")
_COUNTERS = ("arrived_packets", "dropped_packets", "forwarded_packets", "forwarded_bytes")


def queue_bdp(scenario: Scenario, distributions: Table, number: int = 0) -> dict[str, Any]:
    """A link's backlog over time in bandwidth-delay products of its rate and the path."""
    bdp = _links(scenario)[number][1] * scenario["path"]["rtt_ns"] / 8e9
    found = by_kind(distributions)
    return summarised(found, ("queue_bytes", number), QUEUE_STATISTICS, 1 / bdp)


def bottleneck_summary(scenario: Scenario, tables: Tables, end_s: float) -> dict[str, Any]:
    """The bottleneck from the warm-up to the end of the run at `end_s` seconds.

    `loss_rate` is the part of arriving packets that the queue dropped; `utilization` the IP bits
    forwarded as a part of those that the rate allows; `drops` and `forwarded` count packets.
    """
    return _link_summary(scenario, tables, end_s, 0)


def link_summaries(scenario: Scenario, tables: Tables, end_s: float) -> list[dict[str, Any]]:
    """A summary like the bottleneck's for every link, with its `name`, in the order of numbers.

    Queues are in bandwidth-delay products of the link's own rate. Empty if the
    bottleneck is the only one.
    """
    names = [name for name, _ in _links(scenario)]
    if len(names) == 1:
        return []
    return [
        {"name": name, **_link_summary(scenario, tables, end_s, number)}
        for number, name in enumerate(names)
    ]


def _links(scenario: Scenario) -> list[tuple[str, int]]:
    """Names and rates in bit/s, by the links' numbers in the tables."""
    path = scenario["path"]
    more = [*path.get("links", ()), *([path["reverse"]] if path.get("reverse") else ())]
    return [("bottleneck", path["rate_bps"]), *((link["name"], link["rate_bps"]) for link in more)]


def _link_summary(scenario: Scenario, tables: Tables, end_s: float, number: int) -> dict[str, Any]:
    warmup_s = scenario["run"]["warmup_ns"] / 1e9
    rate_bps = _links(scenario)[number][1]
    grown = Counters(tables["queue_samples"], "link").growth(_COUNTERS, warmup_s, end_s)
    counted = grown.get(number, dict.fromkeys(_COUNTERS))
    capacity = rate_bps * (end_s - warmup_s) / 8
    return {
        "loss_rate": _ratio(counted["dropped_packets"], counted["arrived_packets"]),
        "utilization": _ratio(counted["forwarded_bytes"], max(capacity, 0.0)),
        "queue_bdp": queue_bdp(scenario, tables["distributions"], number),
        "drops": counted["dropped_packets"],
        "forwarded": counted["forwarded_packets"],
    }


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole
