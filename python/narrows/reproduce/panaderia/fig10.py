"""Figure 10: shares of BBR and CUBIC by the size of the buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Panel
from narrows.figures.palette import name
from narrows.report import Check
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import between, crossing, interval
from narrows.reproduce.panaderia import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

SMALL = 1.5
FAIR_BDP = 5.0


def cases(scope: Scope) -> Iterator[Case]:
    """2 + 2 flows at 80 Mbit/s over all buffers."""
    for room in testbed.buffers(scope):
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
        "Throughput (percent of rate)",
        tuple(lines),
        x_range=(0, 8.2),
        y_range=(0, 102),
        guides=(Guide(50, "fair"),),
    )
    return Figure(
        "Shares by the size of the buffer",
        f"{flows}, 80 Mbit/s, 25 ms, minutes 2 to 4; {data.scope.profile}",
        (panel,),
        "The share of the first class falls with the buffer, that of CUBIC grows.",
        height=3.8,
    )


def judge(data: Data) -> list[Finding]:
    """All for BBR, then the cycle's spread, then the fair point."""
    return [
        Finding("panaderia/fig10-small", [takes_all(data), steady(data)]),
        Finding("panaderia/fig10-spread", [spreads(data)]),
        Finding("panaderia/fig10-fair-point", [fair_point(data, "bbr", FAIR_BDP), beyond(data)]),
    ]


def takes_all(data: Data) -> Check:
    """BBR's share below 1.5 BDP."""
    rows = by_buffer(data, "bbr").filter(pl.col("buffer_bdp") < SMALL)
    return between(
        "Below 1.5 BDP BBR takes nearly all.",
        "BBR's lowest mean throughput over the buffers below 1.5 BDP, mean over trials.",
        "nearly all of the rate",
        [float(str(rows["mean"].min()))],
        (75.0, 100.0),
        " %",
    )


def _spread(data: Data) -> pl.DataFrame:
    return by_buffer(data, "bbr").with_columns(spread=pl.col("high") - pl.col("low"))


def steady(data: Data) -> Check:
    """The quartiles below 1.5 BDP."""
    rows = _spread(data).filter(pl.col("buffer_bdp") < SMALL)
    return between(
        "There it spreads little.",
        "Mean distance of the quartiles of BBR's throughput over the buffers below 1.5 BDP.",
        "little",
        [float(str(rows["spread"].mean()))],
        (0.0, 15.0),
        " points",
    )


def spreads(data: Data) -> Check:
    """The quartiles above 1.5 BDP against those below."""
    rows = _spread(data)
    small = rows.filter(pl.col("buffer_bdp") < SMALL)["spread"].mean()
    medium = rows.filter((pl.col("buffer_bdp") > SMALL) & (pl.col("buffer_bdp") <= 4))["spread"]
    before, after = float(str(small)), float(str(medium.max()))
    return Check(
        "Above 1.5 BDP the spread grows sharply.",
        "Greatest distance of the quartiles of BBR's throughput from above 1.5 to 4 BDP, against "
        "the mean one below 1.5. Passes if it is at least twice as large.",
        "a sharp growth",
        f"{before:.1f} points below, {after:.1f} above",
        after >= 2 * before,
    )


def fair_points(data: Data, kind: str) -> list[float]:
    """Where the class and CUBIC have the same in each trial; NaN where they never do."""
    found = []
    for _, rows in data["throughput"].group_by("trial", maintain_order=True):
        wide = rows.pivot(on="class", index="buffer_bdp", values="mean").sort("buffer_bdp")
        x, first, second = (frames.column(wide, c).tolist() for c in ("buffer_bdp", kind, "cubic"))
        at = crossing(x, first, second)
        found.append(float("nan") if at is None else at)
    return found


def fair_point(data: Data, kind: str, expected: float) -> Check:
    """The buffer at which both classes have the same."""
    points = fair_points(data, kind)
    met = [p for p in points if np.isfinite(p)]
    middle = float(np.mean(met)) if met else float("nan")
    return Check(
        f"Both classes have the same near {expected:g} BDP.",
        "Where the lines of mean throughput cross, straight between the buffers of Table I (which "
        "has none between 4 and 8 BDP), mean over trials. Passes within 1.5 BDP.",
        f"near {expected:g} BDP",
        f"{interval(met, 3, ' BDP')}" if met else "they don't cross",
        bool(met) and abs(middle - expected) <= 1.5,
    )


def beyond(data: Data) -> Check:
    """CUBIC's share at 8 BDP."""
    rows = by_buffer(data, "cubic").filter(pl.col("buffer_bdp") == 8.0)
    return between(
        "Beyond it CUBIC gets more and more.",
        "CUBIC's mean throughput at 8 BDP.",
        "more than BBR",
        rows["mean"].to_list(),
        (50.0, 100.0),
        " %",
    )
