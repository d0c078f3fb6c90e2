"""Metrics of the applications of flows: completion times, and the playback of videos."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from narrows.columns import Columns, mean
from narrows.metrics.completions import STATISTICS, statistics

VIDEOS = ("video", "adaptive_video")
"""Workloads with a player."""
BUFFER = "playout_buffer_s"
MEDIA = "media"
"""The workload of a video call."""
GROWING = ("freezes", "frozen_s", "lost_frames", "rate_changes")
"""Totals of a video call."""

LEAST_STILL_S = 0.15
"""A picture that doesn't change for this long counts as standing still, as for a freeze."""


def workload_summary(
    workload: Mapping[str, Any], lives: Columns, internals: Columns, warmup_s: float
) -> dict[str, Any]:
    """Summarises a flow with a workload, from the warm-up on.

    `lives` are its rows of `completions`, by start; those that began after the warm-up count.
    `internals` are its rows of that table. Times are in seconds. For a video, `stalls` and
    `stalled_s` are the interruptions after it began to play, `startup_s` is the time until it began
    (None if it never did), and `between_stalls_s` the time played per interruption. For a call,
    completions are frames that were shown, so their times are the delays of frames; `media_mbps` is
    the output of its encoder, and `still_s` the time for which the picture stood still at the end.
    """
    counted = lives.where(lives["start_s"] >= warmup_s)
    summary = {
        "kind": workload["kind"],
        "completed": len(counted),
        "completion_s": statistics(counted["end_s"] - counted["start_s"], STATISTICS),
        "mean_bytes": mean(counted["size_bytes"]),
    }
    if summary["kind"] in VIDEOS:
        summary |= {name: _growth(internals, name, warmup_s) for name in ("stalls", "stalled_s")}
        summary["startup_s"] = _last_value(internals, "startup_s")
        chunk_s = workload["chunk_ns"] / 1e9
        played_s = _played_s(lives, internals, chunk_s, warmup_s)
        stalls = summary["stalls"]
        summary["between_stalls_s"] = played_s / stalls if stalls and played_s else None
        summary |= _quality(counted, chunk_s)
    if summary["kind"] == MEDIA:
        summary |= {name: _growth(internals, name, warmup_s) for name in GROWING}
        summary["media_mbps"] = _rate_mbps(internals, "encoded_bytes", warmup_s)
        summary["still_s"] = _still_s(lives, internals, warmup_s)
    return summary


def _still_s(lives: Columns, internals: Columns, since_s: float) -> float | None:
    """Returns the time from the last frame shown to the last one encoded, both since `since_s`."""
    rows = _internal_since(internals, "encoded_bytes", since_s)
    encoded_s = rows["time_s"][1:][np.diff(rows["value"]) > 0]
    if not len(encoded_s):
        return None
    shown_s = lives["end_s"].max() if len(lives) else since_s
    still_s = float(encoded_s[-1] - max(shown_s, since_s))
    return still_s if still_s >= LEAST_STILL_S else 0.0


def _rate_mbps(internals: Columns, name: str, since_s: float) -> float | None:
    """Returns a total in bytes as a rate, from its first sample since `since_s` to the last."""
    rows = _internal_since(internals, name, since_s)
    if len(rows) < 2:
        return None
    size, span_s = (rows[of][-1] - rows[of][0] for of in ("value", "time_s"))
    return float(size * 8e-6 / span_s)


def _played_s(lives: Columns, internals: Columns, chunk_s: float, since_s: float) -> float | None:
    """Returns the time played: of chunks fetched since `since_s`, without the buffer's growth."""
    rows = _internal_since(internals, BUFFER, since_s)
    if not len(rows):
        return None

    def fetched_s(at: int) -> float:
        return chunk_s * int((lives["end_s"] <= rows["time_s"][at]).sum())

    return float(fetched_s(-1) - fetched_s(0) - rows["value"][-1] + rows["value"][0])


def _quality(chunks: Columns, chunk_s: float) -> dict[str, Any]:
    """Returns the bitrates of chunks in the order of their requests."""
    sizes = chunks.sort_by("start_s")["size_bytes"]
    size = mean(sizes)
    return {
        "mean_bitrate_mbps": None if size is None else size * 8e-6 / chunk_s,
        "switches": int((sizes[1:] != sizes[:-1]).sum()),
    }


def _last_value(internals: Columns, name: str) -> float | None:
    rows = _internal_since(internals, name)
    return float(rows["value"][-1]) if len(rows) else None


def _growth(internals: Columns, name: str, since_s: float) -> float | None:
    """Returns the growth of a total since its last sample up to `since_s`, or since 0."""
    rows = _internal_since(internals, name)
    if not len(rows):
        return None
    earlier = rows["value"][rows["time_s"] <= since_s]
    return float(rows["value"][-1] - (earlier[-1] if len(earlier) else 0.0))


def _internal_since(internals: Columns, name: str, since_s: float = -np.inf) -> Columns:
    """Returns the samples of an internal from `since_s` on, in the order of time."""
    wanted = (internals["name"] == name) & (internals["time_s"] >= since_s)
    return internals.where(wanted).sort_by("time_s")
