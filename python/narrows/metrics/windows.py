"""Turns counters into rates, window by window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORTEST_REST = 0.25
"""A last window shorter than this part of a full one is joined to the previous one."""


def edges(end_s: float, window_s: float) -> NDArray[np.float64]:
    """The borders of windows of `window_s` seconds that cover 0 to `end_s`.

    The last window ends at `end_s` and may be shorter, or a little longer, than
    the others. Raises ValueError if either argument isn't above zero.
    """
    if not (end_s > 0 and window_s > 0):
        raise ValueError(f"windows of {window_s} s up to {end_s} s: both must be above zero")
    whole = max(int(end_s / window_s + 1e-9), 1)
    borders = np.arange(whole + 1, dtype=np.float64) * window_s
    rest = end_s - borders[-1]
    if rest > SHORTEST_REST * window_s:
        return np.append(borders, end_s)
    borders[-1] = end_s
    return borders


def increments(
    time_s: NDArray[np.float64], counter: NDArray[np.float64], borders: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How much a cumulative counter grew in each window.

    Between two samples the counter is assumed to grow evenly. If the borders fall on samples, as
    with the usual intervals, nothing is estimated.
    """
    return np.diff(np.interp(borders, time_s, counter))


def throughput(
    flow_samples: pl.DataFrame, classes: Mapping[int, str], window_s: float = 0.5
) -> pl.DataFrame:
    """Throughput of every class of flows in each window.

    Counts IP bytes that left the bottleneck (`wire_bytes`). `classes` maps the
    id of a flow to the name of its class; other flows are left out. Gives
    `start_s`, `end_s`, `class`, `throughput_mbps`, by class in the order of
    `classes` and then by time. A class whose back end doesn't count wire bytes
    gets nulls.
    """
    end_s = _end(flow_samples)
    borders = edges(end_s, window_s)
    totals: dict[str, NDArray[np.float64]] = {}
    for (flow,), rows in flow_samples.sort("time_s").group_by(["flow"], maintain_order=True):
        label = classes.get(int(str(flow)))
        if label is not None:
            grown = increments(_column(rows, "time_s"), _column(rows, "wire_bytes"), borders)
            totals[label] = totals.get(label, np.zeros(len(grown))) + grown
    ordered = [label for label in dict.fromkeys(classes.values()) if label in totals]
    frames = [
        _windows(borders).with_columns(
            pl.lit(label).alias("class"),
            pl.Series("throughput_mbps", totals[label] * 8e-6 / np.diff(borders)).fill_nan(None),
        )
        for label in ordered
    ]
    return pl.concat(frames) if frames else _no_throughput()


def queue_loss(queue_samples: pl.DataFrame, window_s: float = 0.5, link: int = 0) -> pl.DataFrame:
    """Loss at a link's queue in each window: packets dropped of packets arrived.

    Gives `start_s`, `end_s`, `arrived`, `dropped`, `loss_rate` (0 to 1; null
    where nothing arrived).
    """
    rows = queue_samples.filter(pl.col("link") == link).sort("time_s")
    borders = edges(_end(queue_samples), window_s)
    time_s = _column(rows, "time_s")
    return (
        _windows(borders)
        .with_columns(
            pl.Series("arrived", increments(time_s, _column(rows, "arrived_packets"), borders)),
            pl.Series("dropped", increments(time_s, _column(rows, "dropped_packets"), borders)),
        )
        .with_columns(
            pl.when(pl.col("arrived") > 0)
            .then(pl.col("dropped") / pl.col("arrived"))
            .otherwise(None)
            .alias("loss_rate")
        )
    )


def _windows(borders: NDArray[np.float64]) -> pl.DataFrame:
    return pl.DataFrame({"start_s": borders[:-1], "end_s": borders[1:]})


def _column(rows: pl.DataFrame, name: str) -> NDArray[np.float64]:
    """A column as floats; values that the back end couldn't know become NaN."""
    return rows.get_column(name).cast(pl.Float64).to_numpy()


def _end(samples: pl.DataFrame) -> float:
    last = samples.get_column("time_s").cast(pl.Float64).max()
    if not isinstance(last, float):
        raise ValueError('no samples: record = "samples" or more is needed for windows')
    return last


def _no_throughput() -> pl.DataFrame:
    return pl.DataFrame(
        schema={
            "start_s": pl.Float64,
            "end_s": pl.Float64,
            "class": pl.String,
            "throughput_mbps": pl.Float64,
        }
    )
