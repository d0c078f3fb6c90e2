"""Conditions and measurements that the slides' experiments have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from narrows.metrics.equivalence import LEAST_TRIALS
from narrows.metrics.flows import flow_summaries
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Scope

if TYPE_CHECKING:
    from narrows.store import StoredTrial

JITTER = "20us"
PAYLOAD = 1448 / 1500
"""Size of an IP packet of a bulk flow with timestamps."""
SLOW = {"rate": "10mbit", "rtt": "40ms"}
"""The path of most slides."""
OFFSETS = (("0s", "0s"), ("0s", "1s"), ("0s", "3s"), ("1s", "0s"), ("3s", "0s"))
"""When the flows of the first class and those of the second start: the slides don't say."""


def host(**more: Any) -> dict[str, Any]:  # noqa: ANN401 (keys of the table `host`)
    """Google's hosts: `fq` paces every flow; a little noise keeps trials apart."""
    return {"fq": True, "jitter": JITTER, **more}


def spec(
    scope: Scope,
    path: Mapping[str, Any],
    flows: Sequence[Mapping[str, Any]],
    *,
    hosts: Mapping[str, Any] | None = None,
    **run: Any,  # noqa: ANN401 (keys of the table `run`)
) -> dict[str, Any]:
    """A specification of this document."""
    settings = host(**(hosts or {}))
    return dumbbell("ietf98", path, flows, profile=scope.profile, host=settings, **run)


def trials(scope: Scope, wanted: int) -> int:
    """The number of trials per condition; fewer than three decide nothing."""
    return min(wanted, LEAST_TRIALS) if scope.quick else wanted


def per_flow(trial: StoredTrial) -> pl.DataFrame:
    """Each flow's results since the warm-up.

    Columns `name`, `cca`, `goodput_mbps`, `retransmits`, `rtt_mean_ms`,
    `rtt_p50_ms`, `rtt_p95_ms`.
    """
    rows = [
        {
            **{key: flow[key] for key in ("name", "cca", "goodput_mbps", "retransmits")},
            **{f"rtt_{key}_ms": flow["rtt_ms"][key] for key in ("mean", "p50", "p95")},
        }
        for flow in flow_summaries(trial.scenario, trial.tables, trial.info.end_s)
    ]
    floats = ("goodput_mbps", "rtt_mean_ms", "rtt_p50_ms", "rtt_p95_ms")
    schema = {"name": pl.String, "cca": pl.String, "goodput_mbps": pl.Float64,
              "retransmits": pl.Int64, **dict.fromkeys(floats, pl.Float64)}  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def number(value: object) -> float:
    """A statistic of polars as a float; NaN if there is none."""
    return float(value) if isinstance(value, int | float) else float("nan")
