"""The layout of Figures 2 to 4: a panel for each rate, pairs of controls, bars by buffer."""

from __future__ import annotations

from functools import partial
from statistics import median

import polars as pl

from narrows.figures.model import Bar, Figure, Panel
from narrows.metrics.intervals import student
from narrows.reproduce.exhibit import Data
from narrows.reproduce.judging import per_trial

from . import testbed

NAMES = tuple(testbed.pair_name(*pair) for pair in testbed.PAIRS)
WIDTH = 0.15


def figure(data: Data, value: str, title: str, y_label: str, *, top: float | None = None) -> Figure:
    """A column of the frame `outcome` for all pairs, rates and buffers."""
    rates = data["outcome"]["rate_mbps"].unique().sort().to_list()
    panels = tuple(_panel(data, value, rate, y_label, top) for rate in rates)
    return Figure(
        title,
        f"LARGE-medium; 45 ms; mean and 95 % interval of the repetitions; {data.scope.profile}",
        panels,
        f"{title}: for each rate, bars of five buffers for each of four pairs of controls.",
        columns=2,
        height=2.2,
    )


def _panel(data: Data, value: str, rate: int, y_label: str, top: float | None) -> Panel:
    rows = data["outcome"].filter(pl.col("rate_mbps") == rate)
    found = testbed.means(rows, value, "pair", "buffer_bdp")
    bars = [
        _bar(row, NAMES.index(row["pair"]), testbed.BUFFERS.index(row["buffer_bdp"]))
        for row in found.to_dicts()
        if row["mean"] is not None
    ]
    bars.sort(key=lambda bar: bar.colour)
    ticks = tuple((float(place), name) for place, name in enumerate(NAMES))
    return Panel("", y_label, tuple(bars), title=f"{rate} Mbit/s", ticks=ticks, y_range=(0, top))


def _bar(row: dict[str, float], pair: int, step: int) -> Bar:
    middle, count = row["mean"], int(row["n"])
    reach = student(count - 1.0) * row["sd"] / count**0.5 if count > 1 else 0.0
    return Bar(
        f"{row['buffer_bdp']:g} BDP",
        pair + (step - 2) * WIDTH,
        middle,
        f"step:{step}",
        (middle - reach, middle + reach),
        width=0.9 * WIDTH,
    )


def cell(data: Data, value: str, pair: str, rate: int, buffer: float) -> list[float]:
    """The values of one cell, by trial."""
    return data.values(value, pair=pair, rate_mbps=rate, buffer_bdp=buffer)


def mean(data: Data, value: str, pair: str, rate: int, buffer: float) -> float:
    """Its mean; NaN if there is none."""
    values = cell(data, value, pair, rate, buffer)
    return sum(values) / len(values) if values else float("nan")


def evenness(data: Data, value: str, pair: str) -> dict[str, list[float]]:
    """The value in each buffer over the mean of all five, median over the rates, by trial."""

    def of(one: Data, buffer: float) -> float:
        return median(_part(one, value, pair, rate, buffer) for rate in rates(one))

    return {f"{b:g} BDP": per_trial(data, partial(of, buffer=b)) for b in testbed.BUFFERS}


def evenness_by_rate(data: Data, value: str, pair: str) -> dict[str, list[float]]:
    """The value in each buffer over the mean of all five, at each rate, by trial."""
    return {
        f"{rate} Mbit/s, {buffer:g} BDP": per_trial(
            data, partial(_part, value=value, pair=pair, rate=rate, buffer=buffer)
        )
        for rate in rates(data)
        for buffer in testbed.BUFFERS
    }


def _part(one: Data, value: str, pair: str, rate: int, buffer: float) -> float:
    """The value in one buffer over the mean of all five."""
    means = {b: mean(one, value, pair, rate, b) for b in testbed.BUFFERS}
    return means[buffer] * len(means) / sum(means.values())


def rates(data: Data) -> list[int]:
    """The rates that were run."""
    found: list[int] = data["outcome"]["rate_mbps"].unique().sort().to_list()
    return found
