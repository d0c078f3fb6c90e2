"""Figure 10: shares of BBR and CUBIC by the size of the buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures.model import Figure, Guide, Panel
from narrows.figures.palette import name
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import (
    crossing,
    differences,
    judge_bounds,
    per_trial,
    ratios,
    rows_where,
)

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

SMALL = 1.5
QUICK_BUFFERS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Those of the other figures, but 2 instead of 1.75 BDP: the fair point lies between 2 and 4."""


def cases(scope: Scope) -> Iterator[Case]:
    """2 + 2 flows at 80 Mbit/s over all buffers."""
    for room in QUICK_BUFFERS if scope.quick else testbed.BUFFERS:
        yield testbed.cell(scope, "mix", buffer_bdp=room)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Mean and quartiles of the throughput of each class in windows of 500 ms."""
    rows = run_frames.throughput(trial).group_by("class", maintain_order=True)
    percent = pl.col("percent")
    return {
        "throughput": rows.agg(
            mean=percent.mean(), low=percent.quantile(0.25), high=percent.quantile(0.75)
        )
    }


def by_buffer(data: Data, kind: str) -> pl.DataFrame:
    """Means over the trials: `buffer_bdp`, `mean`, `low`, `high`."""
    rows = data["throughput"].filter(pl.col("class") == kind)
    return rows.group_by("buffer_bdp").agg(pl.col("mean", "low", "high").mean()).sort("buffer_bdp")


def draw(data: Data) -> list[Picture]:
    """Mean throughput and its quartiles against the buffer."""
    return [Picture("", CAPTION, figure(data, ("bbr", "cubic"), "2 BBR + 2 CUBIC"))]


CAPTION = "Mean throughput of each class; bars: 25th and 75th percentile of windows of 500 ms"


def figure(data: Data, kinds: tuple[str, ...], flows: str) -> Figure:
    """Throughput of each class against the buffer."""
    lines = [spread.line(by_buffer(data, kind), "buffer_bdp", name(kind), kind) for kind in kinds]
    panel = Panel(
        "Router queue (multiples of BDP)",
        "Throughput (% of rate)",
        tuple(lines),
        x_range=(0, 8.2),
        y_range=(0, 102),
        guides=(Guide(50, "fair"), Guide(5, "the paper: equal at 5", upright=True)),
    )
    return Figure(
        "Shares by the size of the buffer",
        f"{flows}, 80 Mbit/s, 25 ms, {testbed.span(data.scope)}; {data.scope.profile}",
        (panel,),
        "Lines of the share of the first class and of CUBIC over the buffer.",
        height=3.8,
    )


def judge(data: Data) -> list[Finding]:
    """BBR's dominance in small buffers, the cycle's spread, and the fair point."""
    return [
        Finding("panaderia/fig10-small", [takes_all(data), steady(data)]),
        Finding("panaderia/fig10-spread", [spreads(data)]),
        Finding("panaderia/fig10-fair-point", [fair_point(data), beyond(data)]),
    ]


def _of(data: Data, kind: str, value: str = "mean") -> dict[float, list[float]]:
    """A column of `measure` for a class in every buffer, by trial."""
    rows = data["throughput"].filter(pl.col("class") == kind)
    rows = rows.with_columns(spread=pl.col("high") - pl.col("low")).sort("buffer_bdp", "trial")
    cells = rows.group_by("buffer_bdp", maintain_order=True)
    return {float(str(room)): cell[value].to_list() for (room,), cell in cells}


def takes_all(data: Data) -> Check:
    """BBR's share below 1.5 BDP."""
    means = _of(data, "bbr")
    return judge_bounds(
        data,
        "panaderia/fig10-small",
        "takes-all",
        "Below 1.5 BDP BBR takes nearly all.",
        "BBR's mean throughput in every buffer below 1.5 BDP.",
        {f"{room:g} BDP": values for room, values in means.items() if room < SMALL},
    )


def steady(data: Data) -> Check:
    """The quartiles below 1.5 BDP."""
    return judge_bounds(
        data,
        "panaderia/fig10-small",
        "steady",
        "There it spreads little.",
        "Mean distance of the quartiles of BBR's throughput over the buffers below 1.5 BDP.",
        per_trial(data, small_spread),
    )


def small_spread(data: Data) -> float:
    """The mean distance of the quartiles below 1.5 BDP."""
    spreads = _of(data, "bbr", "spread")
    return float(np.mean([values for room, values in spreads.items() if room < SMALL]))


def medium_spread(data: Data) -> float:
    """The largest distance of the quartiles above 1.5 and up to 4 BDP."""
    spreads = _of(data, "bbr", "spread")
    return max(max(values) for room, values in spreads.items() if SMALL < room <= 4)


def spreads(data: Data) -> Check:
    """The quartiles above 1.5 BDP compared with those below."""
    before, after = per_trial(data, small_spread), per_trial(data, medium_spread)
    return judge_bounds(
        data,
        "panaderia/fig10-spread",
        "grows",
        "Above 1.5 BDP the spread grows sharply.",
        "Greatest distance of the quartiles of BBR's throughput from above 1.5 to 4 BDP, over the "
        "mean one below 1.5.",
        ratios(after, before),
        f" ({np.mean(before):.1f} points below, {np.mean(after):.1f} above)",
    )


def fair_points(data: Data, kind: str) -> list[float]:
    """The buffer in which the class and CUBIC are equal, by trial; infinite if none."""
    found = []
    for number in sorted(data["throughput"]["trial"].unique().to_list()):
        one = rows_where(data, "trial", number)
        first, second = ({r: v[0] for r, v in _of(one, k).items()} for k in (kind, "cubic"))
        at = crossing(list(first), list(first.values()), list(second.values()))
        found.append(float("inf") if at is None else at)
    return found


def fair_point(data: Data) -> Check:
    """The buffer at which both classes have equal throughput."""
    return judge_bounds(
        data,
        "panaderia/fig10-fair-point",
        "at",
        "Both classes have the same near 5 BDP.",
        "Where the lines of mean throughput cross, straight between the buffers of Table I (which "
        "has none between 4 and 8 BDP).",
        fair_points(data, "bbr"),
        grid=sorted(set(data["throughput"]["buffer_bdp"])),
    )


def beyond(data: Data) -> Check:
    """CUBIC's throughput at 8 BDP."""
    bbr, cubic = _of(data, "bbr"), _of(data, "cubic")
    return judge_bounds(
        data,
        "panaderia/fig10-fair-point",
        "beyond",
        "Beyond it CUBIC gets more and more.",
        "CUBIC's mean throughput at 8 BDP, less BBR's there and its own at 4 BDP.",
        {
            "more than BBR at 8 BDP": differences(cubic[8.0], bbr[8.0]),
            "more at 8 than at 4 BDP": differences(cubic[8.0], cubic[4.0]),
        },
    )
