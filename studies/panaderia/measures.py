"""Measures that no metric gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.reproduce import run_frames
from narrows.reproduce.measure import stretches

if TYPE_CHECKING:
    from narrows.store import StoredTrial

PACKET_BITS = 1500 * 8
ACCURATE = 1.2
"""An RTprop of less than this multiple of the true one is accurate."""
LEAST_S = 2.0
"""Shorter stretches are the probes themselves."""


def sum_of_estimates(trial: StoredTrial) -> float | None:
    """The share of samples after the warm-up at which the flows' estimates exceed the rate."""
    estimates = run_frames.internal(trial, "bw_mbps")
    total = frames.column(estimates.group_by("time_s").agg(pl.col("value").sum()), "value")
    return float(np.mean(total > frames.rate_mbps(trial.scenario))) if len(total) else None


def shares_apart(trial: StoredTrial) -> float | None:
    """How far BBR's share of the queue is from its share of the throughput, in windows of 500 ms.

    What a class has in the queue is what it has in flight less its throughput times the RTprop.
    Windows with less than a quarter of a BDP in the queue are left out.
    """
    rtprop_s = trial.scenario["path"]["rtt_ns"] / 1e9
    window = (pl.col("time_s") / 0.5).floor().alias("window")
    held = (
        run_frames.samples(trial, ["in_flight"])
        .group_by("time_s", "cca")
        .agg(pl.col("in_flight").sum())
        .group_by(window, "cca")
        .agg(pl.col("in_flight").mean() * PACKET_BITS)
    )
    rates = run_frames.throughput(trial).select(
        (pl.col("start_s") / 0.5).round().alias("window"),
        pl.col("class").alias("cca"),
        "throughput_mbps",
    )
    rows = held.join(rates, on=["window", "cca"]).with_columns(
        queued=(pl.col("in_flight") - pl.col("throughput_mbps") * 1e6 * rtprop_s).clip(0)
    )
    mine, every = pl.col("cca") == "bbr", pl.all().exclude("window", "cca").sum()
    both = rows.filter(mine).group_by("window").agg(every).join(
        rows.group_by("window").agg(every), on="window", suffix="_of_all"
    )  # fmt: skip
    full = both.filter(pl.col("queued_of_all") > 0.25 * 8 * frames.bdp_bytes(trial.scenario))
    apart = full.select(
        (pl.col("queued") / pl.col("queued_of_all")
         - pl.col("throughput_mbps") / pl.col("throughput_mbps_of_all")).abs().mean()
    )  # fmt: skip
    return None if full.is_empty() else float(apart.item())


def growth_until_loss(trial: StoredTrial) -> float | None:
    """By how many BDP CUBIC grows from an accurate RTprop of all BBR flows to the next drop.

    It is the mean over the stretches in which these have an accurate RTprop and a drop comes.
    """
    rows = _cubic_and_rtprop(trial)
    accurate = (rows["value"] < ACCURATE * trial.scenario["path"]["rtt_ns"] / 1e6).to_list()
    grown = []
    for start, end in stretches(rows["time_s"].to_numpy(), accurate):
        held = rows.filter(pl.col("time_s").is_between(start, end))
        lossy = held.filter(pl.col("dropped") > pl.col("dropped").first())["in_flight"]
        if end - start > LEAST_S and len(lossy):
            grown.append(float(lossy[0]) - float(held["in_flight"][0]))
    bdp_packets = frames.bdp_bytes(trial.scenario) * 8 / PACKET_BITS
    return sum(grown) / len(grown) / bdp_packets if grown else None


def bbr_retransmissions(trial: StoredTrial) -> float | None:
    """The retransmitted part of what the flows named bbr sent after the warm-up, 0 to 1."""
    return _retransmissions(trial, "bbr")


def cubic_retransmissions(trial: StoredTrial) -> float | None:
    """The retransmitted part of what the flows named cubic sent after the warm-up, 0 to 1."""
    return _retransmissions(trial, "cubic")


def _retransmissions(trial: StoredTrial, name: str) -> float | None:
    rows = run_frames.samples(trial, ["sent", "retransmitted"]).sort("time_s")
    mine = rows.filter(pl.col("name").str.starts_with(name)).group_by("flow")
    columns = [pl.col(column).cast(pl.Int64) for column in ("sent", "retransmitted")]
    grown = mine.agg(column.last() - column.first() for column in columns)
    sent, again = (int(grown[column].sum()) for column in ("sent", "retransmitted"))
    return again / sent if sent else None


def _cubic_and_rtprop(trial: StoredTrial) -> pl.DataFrame:
    """By time: CUBIC's packets in flight, the highest RTprop of BBR (`value`), drops so far."""
    known = run_frames.internal(trial, "min_rtt_ms").group_by("time_s").agg(pl.col("value").max())
    drops = (
        trial.tables["queue_samples"]
        .filter(pl.col("link") == 0)
        .select("time_s", dropped="dropped_packets")
    )
    return (
        run_frames.samples(trial, ["in_flight"])
        .filter(pl.col("cca") == "cubic")
        .group_by("time_s")
        .agg(pl.col("in_flight").sum())
        .join(known, on="time_s")
        .join(drops, on="time_s")
        .sort("time_s")
    )
