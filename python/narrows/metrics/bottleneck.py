"""Loss, utilization and standing queue of the links."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from narrows.columns import columns
from narrows.metrics.completions import statistics
from narrows.metrics.counters import Counters
from narrows.metrics.distributions import distributions as by_kind
from narrows.metrics.distributions import exact_statistics
from narrows.metrics.offered import drain_ms, offers, two_way_ns
from narrows.spec.ending import planned_end_ns
from narrows.spec.measured import capacity_known
from narrows.spec.scenario import Scenario

if TYPE_CHECKING:
    from narrows.columns import Table, Tables

QUEUE_STATISTICS = ("mean", "p5", "p50", "p95", "max")
_FEWEST = 10
"""The fewest samples for statistics of a queue's delay."""
_LARGEST = 65_536
"""The IP bytes of the largest packet."""
_COUNTERS = ("arrived_packets", "dropped_packets", "forwarded_packets", "forwarded_bytes")


def queue_bdp(scenario: Scenario, distributions: Table, number: int = 0) -> dict[str, Any]:
    """Returns a link's backlog over time, in bandwidth-delay products of its rate and the path.

    Where the rate or the path's delay changes, their means from the warm-up to the planned end of
    the run count.
    """
    start_ns, end_ns = float(scenario["run"]["warmup_ns"]), float(planned_end_ns(scenario))
    offer, delay = offers(scenario)[number], two_way_ns(scenario, {"rtt_ns": None})
    span_ns = max(end_ns - start_ns, 1.0)
    per_ns = float(offer.bytes_until(end_ns) - offer.bytes_until(start_ns)) / span_ns
    rtt_ns = float(delay.integral(end_ns) - delay.integral(start_ns)) / span_ns
    if end_ns <= start_ns or per_ns <= 0:
        return dict.fromkeys(QUEUE_STATISTICS)
    found = by_kind(distributions)
    return exact_statistics(found, ("queue_bytes", number), QUEUE_STATISTICS, 1 / (per_ns * rtt_ns))


def queue_ms(scenario: Scenario, tables: Tables, end_s: float, number: int = 0) -> dict[str, Any]:
    """Returns how long a link takes to send its backlog, over time.

    At a constant rate that is the backlog over the rate. Where the rate varies, it is computed at
    each sample, and unknown without samples.
    """
    offer = offers(scenario)[number]
    if not offer.varies:
        per_ms = _links(scenario)[number][1] / 8e3
        found = by_kind(tables["distributions"])
        return exact_statistics(found, ("queue_bytes", number), QUEUE_STATISTICS, 1 / per_ms)
    rows = columns(tables["queue_samples"]).having("link", [number])
    times, backlog = rows.floats("time_s"), rows.floats("backlog_bytes")
    counted = (times >= scenario["run"]["warmup_ns"] / 1e9) & (times <= end_s)
    if scenario["run"]["record"] == "summary" or counted.sum() < _FEWEST:
        return dict.fromkeys(QUEUE_STATISTICS)
    values = drain_ms(offer, times[counted], backlog[counted])
    return statistics(values, QUEUE_STATISTICS)


def bottleneck_summary(scenario: Scenario, tables: Tables, end_s: float) -> dict[str, Any]:
    """Summarises the bottleneck from the warm-up to the end of the run at `end_s` seconds.

    `loss_rate` is the share of arriving packets that the queue dropped, and `utilization` the share
    of the link's capacity that was used, in IP bits; `drops` and `forwarded` count packets.
    """
    return _link_summary(scenario, tables, end_s, 0)


def link_summaries(scenario: Scenario, tables: Tables, end_s: float) -> list[dict[str, Any]]:
    """Returns a summary like the bottleneck's for every link, with its `name`, in numerical order.

    Queues are in bandwidth-delay products of the link's own rate. Empty if the bottleneck is the
    only link.
    """
    names = [name for name, _ in _links(scenario)]
    if len(names) == 1:
        return []
    return [
        {"name": name, **_link_summary(scenario, tables, end_s, number)}
        for number, name in enumerate(names)
    ]


def _links(scenario: Scenario) -> list[tuple[str, int]]:
    """Returns the links' names and rates in bit/s, by their numbers in the tables."""
    path = scenario["path"]
    more = [*path.get("links", ()), *([path["reverse"]] if path.get("reverse") else ())]
    return [("bottleneck", path["rate_bps"]), *((link["name"], link["rate_bps"]) for link in more)]


def _link_summary(scenario: Scenario, tables: Tables, end_s: float, number: int) -> dict[str, Any]:
    warmup_s = scenario["run"]["warmup_ns"] / 1e9
    offer = offers(scenario)[number]
    grown = Counters(tables["queue_samples"], "link").growth(_COUNTERS, warmup_s, end_s)
    counted = grown.get(number, dict.fromkeys(_COUNTERS))
    capacity: float | None = None
    ahead = 0.0
    if capacity_known(scenario):
        capacity = max(
            float(offer.bytes_until(end_s * 1e9) - offer.bytes_until(warmup_s * 1e9)), 0.0
        )
        ahead = _LARGEST + offer.burst_bytes + capacity * offer.margin
    return {
        "loss_rate": _loss_rate(counted["dropped_packets"], counted["arrived_packets"]),
        "utilization": _used_share(counted["forwarded_bytes"], capacity, ahead),
        "queue_bdp": queue_bdp(scenario, tables["distributions"], number),
        "queue_ms": queue_ms(scenario, tables, end_s, number),
        "drops": counted["dropped_packets"],
        "forwarded": counted["forwarded_packets"],
    }


def _loss_rate(dropped: float | None, arrived: float | None) -> float | None:
    """Returns the share of arriving packets that were dropped.

    Packets that arrived before the warm-up's end may be dropped after it, so the share is limited
    to 1.
    """
    part = _ratio(dropped, arrived)
    return None if part is None else min(part, 1.0)


def _used_share(forwarded: float | None, capacity: float | None, ahead: float) -> float | None:
    """Returns the share of a capacity that was used.

    A packet counts when it has left, so the packet on the wire at the warm-up's end may push the
    count above the capacity, and so may a burst. `ahead` is the largest such excess.
    """
    if forwarded is None or capacity is None:
        return None
    if capacity < forwarded <= capacity + ahead:
        return 1.0
    return _ratio(forwarded, capacity)


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole
