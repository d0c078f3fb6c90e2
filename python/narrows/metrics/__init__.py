"""Pure functions from the tables of a run, on any back end, to numbers."""

from __future__ import annotations

from narrows.metrics.convergence import convergence_s
from narrows.metrics.counters import growth
from narrows.metrics.distributions import (
    distribution,
    statistics,
    weighted_mean,
    weighted_quantile,
)
from narrows.metrics.fairness import jain, rtt_bias, shares
from narrows.metrics.flows import completion_times, flow_summaries, mbps, slowdown
from narrows.metrics.harm import harm, harms
from narrows.metrics.run import bottleneck_summary, queue_bdp
from narrows.metrics.summary import summarise

__all__ = [
    "bottleneck_summary",
    "completion_times",
    "convergence_s",
    "distribution",
    "flow_summaries",
    "growth",
    "harm",
    "harms",
    "jain",
    "mbps",
    "queue_bdp",
    "rtt_bias",
    "shares",
    "slowdown",
    "statistics",
    "summarise",
    "weighted_mean",
    "weighted_quantile",
]
