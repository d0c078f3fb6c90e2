"""Figure 6: BBR's loss over time in a buffer of half a BDP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

BUFFER = 0.5


def cases(scope: Scope) -> Iterator[Case]:
    """The cell of Table I that the figure shows."""
    yield testbed.cell(scope, "bbr", buffer_bdp=BUFFER)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Loss in windows of 500 ms, and overall after the warm-up."""
    return {"loss": run_frames.loss(trial), "total": testbed.loss_rate(trial)}


def draw(data: Data) -> list[Picture]:
    """A minute of the first trial."""
    rows = data["loss"].filter(pl.col("trial") == 1)
    start = float(frames.column(rows, "start_s")[0])
    x, y = frames.column(rows, "start_s") - start, 100 * frames.column(rows, "loss_rate")
    mean = data["total"]["percent"].mean()
    panel = Panel(
        "Time (s)",
        "Loss rate (%)",
        (Line("BBR", x, y, "bbr", kind="step"),),
        x_range=(0, 60),
        y_range=(0, 20),
        guides=(Guide(float(str(mean)), "mean"), Guide(10, "the paper: over 10")),
    )
    figure = Figure(
        "BBR's loss in a shallow buffer",
        f"4 BBR, 80 Mbit/s, 25 ms, 0.5 BDP; windows of 500 ms; {data.scope.profile}",
        (panel,),
        "Steps of the loss at the bottleneck over a minute, beside its mean.",
        height=3.2,
    )
    return [Picture("", "Loss at the bottleneck in windows of 500 ms", figure)]


def judge(data: Data) -> list[Finding]:
    """Mean loss is high and varies a lot."""
    return [Finding("panaderia/fig6", [average(data), varies(data)])]


def average(data: Data) -> Check:
    """The overall loss after the warm-up."""
    return judge_bounds(
        data,
        "panaderia/fig6",
        "average",
        "The loss averages over 10 %.",
        "Packets dropped of packets arrived, minutes 2 to 4.",
        data["total"]["percent"].to_list(),
    )


def varies(data: Data) -> Check:
    """The variation between the windows."""
    spread = (
        data["loss"]
        .group_by("trial", maintain_order=True)
        .agg(low=pl.col("loss_rate").quantile(0.05), high=pl.col("loss_rate").quantile(0.95))
    )
    percentiles = " to ".join(
        interval(data, [100 * v for v in spread[end].to_list()], 3) for end in ("low", "high")
    )
    return judge_bounds(
        data,
        "panaderia/fig6",
        "varies",
        "It varies a lot over time.",
        "95th over 5th percentile of the loss in windows of 500 ms.",
        [h / max(low, 1e-9) for low, h in zip(spread["low"], spread["high"], strict=True)],
        f" ({percentiles} %)",
    )
