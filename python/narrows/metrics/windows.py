"""Turns counters into rates, window by window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from narrows.columns import Columns, Table, columns

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


def throughput(flow_samples: Table, classes: Mapping[int, str], window_s: float = 0.5) -> Columns:
    """Throughput of every class of flows in each window.

    Counts IP bytes that left the bottleneck (`wire_bytes`). `classes` maps the
    id of a flow to the name of its class; other flows are left out. Gives
    `start_s`, `end_s`, `class`, `throughput_mbps`, by class in the order of
    `classes` and then by time. A class whose back end doesn't count wire bytes
    gets NaN.
    """
    samples = columns(flow_samples)
    borders = edges(_end(samples), window_s)
    samples = samples.sorted("time_s")
    totals: dict[str, NDArray[np.float64]] = {}
    for flow in dict.fromkeys(samples["flow"].tolist()):
        label = classes.get(flow)
        if label is not None:
            rows = samples.where(samples["flow"] == flow)
            grown = increments(rows.floats("time_s"), rows.floats("wire_bytes"), borders)
            totals[label] = totals.get(label, np.zeros(len(grown))) + grown
    ordered = [label for label in dict.fromkeys(classes.values()) if label in totals]
    rates = [totals[label] * 8e-6 / np.diff(borders) for label in ordered]
    return Columns.of(
        {
            "start_s": np.tile(borders[:-1], len(ordered)),
            "end_s": np.tile(borders[1:], len(ordered)),
            "class": np.repeat(np.array(ordered, dtype=object), len(borders) - 1),
            "throughput_mbps": np.concatenate(rates) if rates else np.empty(0),
        }
    )


def queue_loss(queue_samples: Table, window_s: float = 0.5, link: int = 0) -> Columns:
    """Loss at a link's queue in each window: packets dropped of packets arrived.

    Gives `start_s`, `end_s`, `arrived`, `dropped`, `loss_rate` (0 to 1; NaN
    where nothing arrived).
    """
    samples = columns(queue_samples)
    borders = edges(_end(samples), window_s)
    rows = samples.where(samples["link"] == link).sorted("time_s")
    time_s = rows.floats("time_s")
    arrived = increments(time_s, rows.floats("arrived_packets"), borders)
    dropped = increments(time_s, rows.floats("dropped_packets"), borders)
    rate = np.full(len(arrived), np.nan)
    np.divide(dropped, arrived, out=rate, where=arrived > 0)
    return Columns.of(
        {
            "start_s": borders[:-1],
            "end_s": borders[1:],
            "arrived": arrived,
            "dropped": dropped,
            "loss_rate": rate,
        }
    )


def _end(samples: Columns) -> float:
    if not len(samples):
        raise ValueError('no samples: record = "samples" or more is needed for windows')
    return float(samples.floats("time_s").max())
