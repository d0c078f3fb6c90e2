"""Metrics of the applications of flows: completion times, and the playback of videos."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from narrows.metrics.completions import STATISTICS, statistics


def workload_summary(
    workload: Mapping[str, Any], lives: pl.DataFrame, internals: pl.DataFrame, warmup_s: float
) -> dict[str, Any]:
    """A flow with a workload, from the warm-up on.

    `lives` are its rows of `completions` with `fct_s`; those that began after the warm-up count.
    `internals` are its rows of that table. Times are in seconds. For a video, `stalls` and
    `stalled_s` are the interruptions after it began to play, and `startup_s` is the time until it
    began (None if it never did).
    """
    counted = lives.filter(pl.col("start_s") >= warmup_s)
    summary = {
        "kind": workload["kind"],
        "completed": counted.height,
        "completion_s": statistics(counted["fct_s"], STATISTICS),
        "mean_bytes": counted["size_bytes"].mean(),
    }
    if summary["kind"] == "video":
        summary |= {name: _growth(internals, name, warmup_s) for name in ("stalls", "stalled_s")}
        summary["startup_s"] = _last(internals, "startup_s")
    return summary


def _last(internals: pl.DataFrame, name: str) -> float | None:
    rows = internals.filter(pl.col("name") == name).sort("time_s")
    return None if rows.is_empty() else float(rows["value"][-1])


def _growth(internals: pl.DataFrame, name: str, since_s: float) -> float | None:
    """The growth of a total since its first sample at or after `since_s`."""
    rows = internals.filter((pl.col("name") == name) & (pl.col("time_s") >= since_s))
    rows = rows.sort("time_s")
    return None if rows.is_empty() else float(rows["value"][-1] - rows["value"][0])
