"""The measurements of a run: one row with a column for every value that a problem may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.reproduce import measure, run_frames
from narrows.reproduce.proposals import TESTED

if TYPE_CHECKING:
    from narrows.store import StoredTrial

WINDOW_S = 0.5
SMOOTHING = 5
DIP_WINDOW_S = 0.2


def outcome(trial: StoredTrial) -> pl.DataFrame:
    """Loss, utilisation and shares in percent, the queue in BDP, completion times in s.

    `swing` is the range of the tested flows' share, in points; `dip` is how much the worst
    hundredth of the windows lacks of the rate, in percent.
    """
    row = run_frames.summary(trial).select(
        loss=100 * pl.col("loss_rate"),
        utilization=100 * pl.col("utilization"),
        queue=pl.col("queue_p50_bdp"),
        share=100 * pl.col(f"{TESTED}.share"),
    )
    return row.with_columns(
        others_share=100 - pl.col("share"),
        swing=pl.lit(_swing(trial)),
        dip=pl.lit(_dip(trial)),
        completion=pl.lit(_completion(trial), dtype=pl.Float64),
    )


def _kinds(trial: StoredTrial) -> dict[int, str]:
    """Which flows are tested."""
    names = [str(flow["name"]) for flow in trial.scenario["flows"]]
    return {i: TESTED if name.startswith(TESTED) else "other" for i, name in enumerate(names)}


def _swing(trial: StoredTrial) -> float:
    rates = run_frames.throughput(trial, WINDOW_S, kinds=_kinds(trial))
    wide = rates.pivot(on="class", index="start_s", values="throughput_mbps").sort("start_s")
    if "other" not in wide.columns:
        return 0.0
    tested, other = (frames.column(wide, name) for name in (TESTED, "other"))
    share = measure.smooth(tested / np.maximum(tested + other, 1e-9), SMOOTHING)
    low, high = np.quantile(share, [0.05, 0.95])
    return 100 * float(high - low)


def _dip(trial: StoredTrial) -> float:
    rates = run_frames.throughput(trial, DIP_WINDOW_S, kinds=_kinds(trial))
    total = rates.group_by("start_s").agg(pl.col("percent").sum())
    return 100 - float(np.quantile(frames.column(total, "percent"), 0.01))


def _completion(trial: StoredTrial) -> float | None:
    """The mean completion time of the flows with a size from the warm-up on; None without any."""
    rows = run_frames.completions(trial)
    rows = rows.filter(pl.col("start_s") >= run_frames.warmup_s(trial))
    mean = rows["fct_s"].mean()
    return float(mean) if isinstance(mean, float) else None
