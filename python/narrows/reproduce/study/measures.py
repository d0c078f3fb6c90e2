"""Measures of a run: numbers as `[[expect]]` takes them, and a few that it can't take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.metrics.expect import Measured
from narrows.metrics.series import RunSeries
from narrows.reproduce import run_frames
from narrows.reproduce.measure import stretches
from narrows.reproduce.study import own_measures
from narrows.spec import Expect, Written, load

if TYPE_CHECKING:
    from narrows.store import StoredTrial

SHOWN = ("label", "unit", "times", "python")
"""The keys of a measure that aren't those of `[[expect]]`."""

PACKET_BITS = 1500 * 8
ACCURATE = 1.2
"""An RTprop of less than this multiple of the true one is accurate."""
LEAST_S = 2.0
"""Shorter stretches are the probes themselves."""


def value(measure: Mapping[str, Any], trial: StoredTrial) -> float | None:
    """The value of a measure in a run; None if the run has none."""
    found = _call(measure["python"], trial) if "python" in measure else _take(measure, trial)
    return None if found is None else found * measure.get("times", 1)


def _call(name: str, trial: StoredTrial) -> float | None:
    """The value of a function: one of ours, or of the paper's own measures."""
    return FUNCTIONS[name](trial) if name in FUNCTIONS else own_measures.call(name, trial)


def _take(measure: Mapping[str, Any], trial: StoredTrial) -> float | None:
    """Takes a number as `[[expect]]` does; None for a metric or an owner that the run lacks."""
    asked = expectation(measure)
    row = run_frames.summary(trial).row(0, named=True)
    series = RunSeries(trial.scenario, _classes(trial), trial.columns)
    if asked.taken is not None and asked.taken.condition.owner not in _owners(trial):
        return None
    return Measured(row, lambda: series).value(asked).value


def expectation(measure: Mapping[str, Any]) -> Expect:
    """A measure as `[[expect]]` reads it; raises InputError if it can't."""
    entry = {key: part for key, part in measure.items() if key not in SHOWN}
    bounded = {
        "name": "measure",
        "path": {"rate": "1mbit", "rtt": "1ms", "buffer": "10pkt"},
        "flows": [{"cca": "reno"}],
        "expect": [{**entry, "at_least": 0}],
    }
    return load(Written.document(bounded)).spec.expect[0]


def _classes(trial: StoredTrial) -> list[str]:
    """The class of each flow."""
    rows = trial.tables["flows"].select("name", "class").unique().iter_rows()
    by_name = {str(name): str(kind) for name, kind in rows}
    return [by_name.get(str(flow["name"]), str(flow["name"])) for flow in trial.scenario["flows"]]


def _owners(trial: StoredTrial) -> set[str]:
    names = {str(flow["name"]) for flow in trial.scenario["flows"]}
    return names | set(_classes(trial)) | {"bottleneck"}


def sum_of_estimates(trial: StoredTrial) -> float | None:
    """The share of samples after the warm-up at which the flows' estimates exceed the rate."""
    estimates = run_frames.internal(trial, "bw_mbps")
    total = frames.column(estimates.group_by("time_s").agg(pl.col("value").sum()), "value")
    return float(np.mean(total > frames.rate_mbps(trial.scenario))) if len(total) else None


def steady_state(trial: StoredTrial) -> float | None:
    """The part of the lives of the flows in `small` in which BBR is in PROBE_BW or PROBE_RTT."""
    rows = run_frames.samples(trial, ["cca_state"]).filter(pl.col("name").str.starts_with("small"))
    states = rows.filter(pl.col("cca_state") != "")["cca_state"]
    return float(np.mean(states.str.starts_with("probe").to_numpy())) if len(states) else None


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


FUNCTIONS: dict[str, Callable[[StoredTrial], float | None]] = {
    "growth_until_loss": growth_until_loss,
    "shares_apart": shares_apart,
    "steady_state": steady_state,
    "sum_of_estimates": sum_of_estimates,
}
"""Measures that `[[expect]]` can't take, by name."""
