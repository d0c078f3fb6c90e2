"""Metrics of the applications of flows: completion times, and the playback of videos."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from narrows.metrics.completions import STATISTICS, statistics

VIDEOS = ("video", "adaptive_video")
"""Workloads with a player."""
BUFFER = "playout_buffer_s"


def workload_summary(
    workload: Mapping[str, Any], lives: pl.DataFrame, internals: pl.DataFrame, warmup_s: float
) -> dict[str, Any]:
    """A flow with a workload, from the warm-up on.

    `lives` are its rows of `completions` with `fct_s`; those that began after the warm-up count.
    `internals` are its rows of that table. Times are in seconds. For a video, `stalls` and
    `stalled_s` are the interruptions after it began to play, `startup_s` is the time until it
    began (None if it never did), and `between_stalls_s` what it played for each interruption.
    """
    counted = lives.filter(pl.col("start_s") >= warmup_s)
    summary = {
        "kind": workload["kind"],
        "completed": counted.height,
        "completion_s": statistics(counted["fct_s"], STATISTICS),
        "mean_bytes": counted["size_bytes"].mean(),
    }
    if summary["kind"] in VIDEOS:
        summary |= {name: _growth(internals, name, warmup_s) for name in ("stalls", "stalled_s")}
        summary["startup_s"] = _last(internals, "startup_s")
        chunk_s = workload["chunk_ns"] / 1e9
        played_s = _played(lives, internals, chunk_s, warmup_s)
        stalls = summary["stalls"]
        summary["between_stalls_s"] = played_s / stalls if stalls and played_s else None
        summary |= _quality(counted, chunk_s)
    return summary


def _played(
    lives: pl.DataFrame, internals: pl.DataFrame, chunk_s: float, since_s: float
) -> float | None:
    """What was fetched since then and isn't in the buffer any more."""
    rows = internals.filter((pl.col("name") == BUFFER) & (pl.col("time_s") >= since_s))
    rows = rows.sort("time_s")
    if rows.is_empty():
        return None

    def fetched_s(at: int) -> float:
        return chunk_s * lives.filter(pl.col("end_s") <= rows["time_s"][at]).height

    return float(fetched_s(-1) - fetched_s(0) - rows["value"][-1] + rows["value"][0])


def _quality(chunks: pl.DataFrame, chunk_s: float) -> dict[str, Any]:
    """The bitrates of chunks in the order of their requests."""
    sizes = chunks.sort("start_s")["size_bytes"]
    mean = sizes.mean()
    return {
        "mean_bitrate_mbps": None if mean is None else float(mean) * 8e-6 / chunk_s,  # type: ignore[arg-type]
        "switches": int((sizes.diff().fill_null(0) != 0).sum()),
    }


def _last(internals: pl.DataFrame, name: str) -> float | None:
    rows = internals.filter(pl.col("name") == name).sort("time_s")
    return None if rows.is_empty() else float(rows["value"][-1])


def _growth(internals: pl.DataFrame, name: str, since_s: float) -> float | None:
    """The growth of a total since its first sample at or after `since_s`."""
    rows = internals.filter((pl.col("name") == name) & (pl.col("time_s") >= since_s))
    rows = rows.sort("time_s")
    return None if rows.is_empty() else float(rows["value"][-1] - rows["value"][0])
