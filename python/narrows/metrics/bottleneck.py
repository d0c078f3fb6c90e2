"""What the bottleneck saw: loss, utilisation, the standing queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from narrows.metrics.counters import growth
from narrows.metrics.distributions import distribution, statistics

QUEUE_STATISTICS = ("mean", "p5", "p50", "p95", "max")
_COUNTERS = ("arrived_packets", "dropped_packets", "forwarded_packets", "forwarded_bytes")


def queue_bdp(scenario: Mapping[str, Any], distributions: pl.DataFrame) -> dict[str, Any]:
    """The bottleneck's backlog over time in bandwidth-delay products of the path."""
    path = scenario["path"]
    bdp = path["rate_bps"] * path["rtt_ns"] / 8e9
    rows = distribution(distributions, "queue_bytes", 0)
    return statistics(rows, QUEUE_STATISTICS, 1 / bdp)


def bottleneck_summary(
    scenario: Mapping[str, Any], tables: Mapping[str, pl.DataFrame], end_s: float
) -> dict[str, Any]:
    """The bottleneck from the warm-up to the end of the run at `end_s` seconds.

    `loss_rate` is packets that the queue dropped, of those that arrived at it;
    `utilization` IP bits forwarded, of those that the rate allows; `drops` and
    `forwarded` count packets.
    """
    warmup_s = scenario["run"]["warmup_ns"] / 1e9
    samples = tables["queue_samples"].filter(pl.col("link") == 0)
    rows = growth(samples, "link", _COUNTERS, warmup_s, end_s).to_dicts()
    counted = rows[0] if rows else dict.fromkeys(_COUNTERS)
    capacity = scenario["path"]["rate_bps"] * (end_s - warmup_s) / 8
    return {
        "loss_rate": _ratio(counted["dropped_packets"], counted["arrived_packets"]),
        "utilization": _ratio(counted["forwarded_bytes"], max(capacity, 0.0)),
        "queue_bdp": queue_bdp(scenario, tables["distributions"]),
        "drops": counted["dropped_packets"],
        "forwarded": counted["forwarded_packets"],
    }


def _ratio(part: float | None, whole: float | None) -> float | None:
    return None if part is None or not whole else part / whole
