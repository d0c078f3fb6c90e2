"""Turns counters into rates, window by window."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from narrows.columns import Columns, Floats, Table, columns

SHORTEST_REST = 0.25
"""A last window shorter than this fraction of a full one is joined to the previous one."""


def edges(end_s: float, window_s: float) -> Floats:
    """Returns the borders of windows of `window_s` seconds that cover 0 to `end_s`.

    The last window ends at `end_s` and may be shorter, or a little longer, than the others. A run
    that ended at once has a whole window. Raises ValueError for a negative end, and for windows
    that aren't above zero.
    """
    if not (end_s >= 0 and window_s > 0):
        raise ValueError(f"windows of {window_s} s up to {end_s} s: found no time to cover")
    if end_s == 0:
        return np.array([0.0, window_s])
    whole = max(int(end_s / window_s + 1e-9), 1)
    borders = np.arange(whole + 1, dtype=np.float64) * window_s
    rest = end_s - borders[-1]
    if rest > SHORTEST_REST * window_s:
        return np.append(borders, end_s)
    borders[-1] = end_s
    return borders


def increments(time_s: Floats, counter: Floats, borders: Floats) -> Floats:
    """Returns how much a cumulative counter grew in each window.

    Between two samples the counter is assumed to grow evenly. If the borders fall on samples, as
    with the usual intervals, nothing is estimated.
    """
    return np.diff(np.interp(borders, time_s, counter))


def increments_by_key(table: Table, key: str, name: str, borders: Floats) -> dict[int, Floats]:
    """Returns the increments of a counter of each flow or link, by its number.

    The order is that of their first samples. A table in a file is read some rows at a time; the
    rows of each number must ascend in time, as every run records them.
    """
    found: dict[int, _AtBorders] = {}
    for part in columns(table).parts():
        times, values, rows = part.floats("time_s"), part.floats(name), part.by(key)
        firsts = sorted((times[own[0]], own[0], number) for number, own in rows.items())
        for *_, number in firsts:
            at = found.setdefault(number, _AtBorders(borders))
            at.add(times[rows[number]], values[rows[number]])
    return {number: np.diff(at.finish()) for number, at in found.items()}


class _AtBorders:
    """A counter at the borders of windows, from samples that come in parts."""

    def __init__(self, borders: Floats) -> None:
        self._borders, self._values, self._done = borders, np.empty(len(borders)), 0
        self._last: tuple[Floats, Floats] = (np.empty(0), np.empty(0))

    def add(self, time_s: Floats, counter: Floats) -> None:
        """Adds further samples, which settle the borders before the last of them."""
        time_s = np.concatenate([self._last[0], time_s])
        counter = np.concatenate([self._last[1], counter])
        until = int(np.searchsorted(self._borders, time_s[-1]))
        if until > self._done:
            between = slice(self._done, until)
            self._values[between] = np.interp(self._borders[between], time_s, counter)
            self._done = until
        self._last = (time_s[-1:], counter[-1:])

    def finish(self) -> Floats:
        """Returns the values, if no samples follow."""
        self._values[self._done :] = self._last[1][0]
        return self._values


def throughput(flow_samples: Table, classes: Mapping[int, str], window_s: float = 0.5) -> Columns:
    """Returns the throughput of every class of flows in each window.

    Counts IP bytes that left the bottleneck (`wire_bytes`). `classes` maps the id of a flow to the
    name of its class; other flows are left out. The columns are `start_s`, `end_s`, `class` and
    `throughput_mbps`, by class in the order of `classes` and then by time. A class whose back end
    doesn't count wire bytes gets NaN.
    """
    samples = columns(flow_samples)
    borders = edges(_end(samples), window_s)
    totals: dict[str, Floats] = {}
    for flow, more in increments_by_key(samples, "flow", "wire_bytes", borders).items():
        label = classes.get(flow)
        if label is not None:
            totals[label] = totals.get(label, np.zeros(len(more))) + more
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
    """Returns the loss at a link's queue in each window: packets dropped of packets arrived.

    The columns are `start_s`, `end_s`, `arrived`, `dropped` and `loss_rate` (0 to 1; NaN where
    nothing arrived).
    """
    samples = columns(queue_samples)
    borders = edges(_end(samples), window_s)
    rows = samples.having("link", [link])
    nothing = np.zeros(len(borders) - 1)
    arrived = increments_by_key(rows, "link", "arrived_packets", borders).get(link, nothing)
    dropped = increments_by_key(rows, "link", "dropped_packets", borders).get(link, nothing)
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
    return max(float(part.floats("time_s").max()) for part in samples.parts())
