"""Measures that no metric gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.reproduce import run_frames

if TYPE_CHECKING:
    from narrows.store import StoredTrial


def steady_state(trial: StoredTrial) -> float | None:
    """The part of the lives of the flows in `small` in which BBR is in PROBE_BW or PROBE_RTT."""
    rows = run_frames.samples(trial, ["cca_state"]).filter(pl.col("name").str.starts_with("small"))
    states = rows.filter(pl.col("cca_state") != "")["cca_state"]
    return float(np.mean(states.str.starts_with("probe").to_numpy())) if len(states) else None
