"""Pure functions that turn a run into frames for figures; times in s, rates in 10^6 bit/s."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from narrows.figures import frames
from narrows.late import pl
from narrows.metrics import windows
from narrows.store import StoredTrial

LATEST_RTT = pl.coalesce("rtt_ms", "srtt_ms").alias("rtt_ms")
"""The latest round-trip time in ms; the smoothed one if the kernel reports only that."""


def classes(trial: StoredTrial) -> dict[int, str]:
    """Returns the control of every flow by id; the controls are the classes of most figures."""
    return {flow: str(entry["cca"]) for flow, entry in enumerate(trial.scenario["flows"])}


def warmup_s(trial: StoredTrial) -> float:
    """Returns the end of the warm-up."""
    return float(trial.scenario["run"]["warmup_ns"]) / 1e9


def throughput(
    trial: StoredTrial,
    window_s: float = 0.5,
    *,
    kinds: Mapping[int, str] | None = None,
    whole: bool = False,
) -> pl.DataFrame:
    """Returns throughput by class and window from the warm-up on, or of the `whole` run.

    Columns `start_s`, `end_s`, `class`, `throughput_mbps` and `percent` of the bottleneck's rate.
    """
    rates = windows.throughput(
        trial.tables["flow_samples"], kinds if kinds is not None else classes(trial), window_s
    ).frame()
    rate = frames.rate_mbps(trial.scenario)
    rates = rates.with_columns((pl.col("throughput_mbps") * 100 / rate).alias("percent"))
    return rates if whole else rates.filter(pl.col("start_s") >= warmup_s(trial) - 1e-9)


def by_flow(trial: StoredTrial, window_s: float = 0.5) -> pl.DataFrame:
    """Like `throughput`, for the whole run, with each flow's name as its class."""
    names = {flow: str(entry["name"]) for flow, entry in enumerate(trial.scenario["flows"])}
    return throughput(trial, window_s, kinds=names, whole=True)


def loss(trial: StoredTrial, window_s: float = 0.5, *, whole: bool = False) -> pl.DataFrame:
    """Returns arrivals and drops at the bottleneck by window: `arrived`, `dropped`, `loss_rate`."""
    found = windows.queue_loss(trial.tables["queue_samples"], window_s).frame()
    return found if whole else found.filter(pl.col("start_s") >= warmup_s(trial) - 1e-9)


def queue(trial: StoredTrial, *, whole: bool = False) -> pl.DataFrame:
    """Returns the bottleneck's queue at every sample: `time_s`, `queue_bdp`."""
    bdp = frames.bdp_bytes(trial.scenario)
    rows = trial.tables["queue_samples"].filter(pl.col("link") == 0).sort("time_s")
    rows = rows.select("time_s", (pl.col("backlog_bytes") / bdp).alias("queue_bdp"))
    return rows if whole else rows.filter(pl.col("time_s") >= warmup_s(trial) - 1e-9)


def samples(trial: StoredTrial, columns: Sequence[str], *, whole: bool = False) -> pl.DataFrame:
    """Returns columns of `flow_samples` with `time_s`, `flow`, `name` and `cca`."""
    flows = trial.scenario["flows"]
    names = pl.DataFrame(
        {
            "flow": pl.Series(range(len(flows)), dtype=pl.UInt32),
            "name": [str(entry["name"]) for entry in flows],
            "cca": [str(entry["cca"]) for entry in flows],
        }
    )
    rows = trial.tables["flow_samples"].select("time_s", pl.col("flow").cast(pl.UInt32), *columns)
    rows = rows if whole else rows.filter(pl.col("time_s") >= warmup_s(trial) - 1e-9)
    return rows.join(names, on="flow", maintain_order="left")


def internal(trial: StoredTrial, title: str, *, whole: bool = False) -> pl.DataFrame:
    """Returns one named internal of the controls: `time_s`, `flow`, `value`."""
    rows = frames.internal(trial.tables, title).frame().select("time_s", "flow", "value")
    return rows if whole else rows.filter(pl.col("time_s") >= warmup_s(trial) - 1e-9)


def completions(trial: StoredTrial) -> pl.DataFrame:
    """Every finished sized flow: `name`, `cca`, `instance`, `start_s`, `fct_s`, `retransmitted`."""
    flows = trial.scenario["flows"]
    rows = trial.tables["completions"].sort("flow", "start_s")
    pick: dict[str, Any] = {key: [str(entry[key]) for entry in flows] for key in ("name", "cca")}
    labels = pl.DataFrame({"flow": pl.Series(range(len(flows)), dtype=pl.UInt32), **pick})
    return (
        rows.with_columns(pl.col("flow").cast(pl.UInt32))
        .join(labels, on="flow", maintain_order="left")
        .select(
            "name", "cca", "instance", "start_s", "size_bytes", "retransmitted",
            (pl.col("end_s") - pl.col("start_s")).alias("fct_s"),
        )
    )  # fmt: skip


def summary(trial: StoredTrial) -> pl.DataFrame:
    """Returns the run's one row of the table `summary`: the bottleneck, and each class together."""
    return trial.tables["summary"]
