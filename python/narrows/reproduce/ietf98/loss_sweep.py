"""Backup slide 'fully use bandwidth, despite high packet loss'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures.model import Figure, Line, Panel
from narrows.figures.palette import name
from narrows.reproduce import spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.ietf98 import testbed
from narrows.reproduce.judging import between

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

RATE = 100.0
KINDS = ("bbr", "cubic")
LOSSES = (1e-5, 1e-4, 1e-3, 1e-2, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5)
QUICK_LOSSES = (1e-5, 1e-4, 1e-2, 0.15, 0.3)
TRIALS = {0.01: 3, 0.02: 3, 0.05: 3, 0.1: 3, 0.15: 5, 0.2: 5, 0.25: 5, 0.3: 5, 0.5: 5}
"""One elsewhere: what the first round trips lose matters only where much is lost."""
HIGH = 0.15
"""Up to here BBR uses the link."""
GONE = 0.3
"""From here on it has collapsed."""


def cases(scope: Scope) -> Iterator[Case]:
    """One flow for a minute at each loss."""
    for loss in QUICK_LOSSES if scope.quick else LOSSES:
        for kind in KINDS:
            path = {"rate": "100mbit", "rtt": "100ms", "buffer": "1bdp", "loss": loss}
            spec = testbed.spec(
                scope,
                path,
                [{"cca": kind}],
                duration="60s",
                trials=testbed.trials(scope, TRIALS.get(loss, 1)),
                sample_interval="1s",
            )
            yield Case({"loss": loss, "kind": kind}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The flow's goodput."""
    return {"goodput": testbed.per_flow(trial).select("goodput_mbps")}


def available(loss: float) -> float:
    """The goodput in Mbit/s of a link that is always busy."""
    return RATE * testbed.PAYLOAD * (1 - loss)


def draw(data: Data) -> list[Picture]:
    """Goodput against loss on a logarithmic axis."""
    least, most = (testbed.number(data["goodput"]["loss"].unique().sort()[i]) for i in (0, -1))
    x = np.logspace(np.log10(least), np.log10(most), 80)
    lines = [Line("all that gets through", 100 * x, available(0.0) * (1 - x), "neutral",
                  dash="dash")]  # fmt: skip
    for kind in KINDS:
        found = by_loss(data, kind)
        lines.append(spread.line(found, "loss", name(kind), kind, middle="median", scale=100))
    ticks = tuple((v, f"{v:g}") for v in (0.001, 0.01, 0.1, 1, 2, 5, 15, 50))
    panel = Panel("Random loss (percent)", "Goodput (Mbit/s)", tuple(lines), x_scale="log",
                  y_range=(0, 100), ticks=ticks)  # fmt: skip
    figure = Figure(
        "Throughput in spite of random loss",
        f"1 BBR or 1 CUBIC, 100 Mbit/s, 100 ms, 1 minute; {data.scope.profile}",
        (panel,),
        "BBR stays near what gets through up to 15 % loss, then collapses; CUBIC collapses from "
        "0.01 % on.",
        height=3.6,
    )
    return [Picture("", "Goodput against random loss, median and range of the trials", figure)]


def by_loss(data: Data, kind: str) -> pl.DataFrame:
    """Median, least and greatest goodput over the trials by loss."""
    goodput = pl.col("goodput_mbps")
    rows = data["goodput"].filter(pl.col("kind") == kind).group_by("loss")
    return rows.agg(median=goodput.median(), low=goodput.min(), high=goodput.max()).sort("loss")


def judge(data: Data) -> list[Finding]:
    """BBR up to 15 % and beyond, CUBIC from 0.01 % on."""
    return [Finding("ietf98/loss-sweep", [uses(data), collapses(data), cubic(data)])]


def uses(data: Data) -> Check:
    """The least part of the link that BBR uses up to 15 %."""
    rows = by_loss(data, "bbr").filter(pl.col("loss") <= HIGH)
    parts = [
        100 * got / available(loss) for loss, got in zip(rows["loss"], rows["median"], strict=True)
    ]
    return between(
        "BBR is near the full rate up to 15 % loss.",
        "BBR's goodput as a part of what the link lets through at that loss, median over the "
        "trials, the least over all "
        "losses up to 15 %.",
        "near the full rate",
        [min(parts)],
        (80.0, 101.0),
        " %",
    )


def collapses(data: Data) -> Check:
    """BBR beyond 15 %."""
    rows = by_loss(data, "bbr").filter(pl.col("loss") >= GONE)
    return between(
        "Then it collapses.",
        "BBR's greatest goodput at 30 % and more, medians over the trials.",
        "next to nothing",
        [testbed.number(rows["median"].max())],
        (0.0, 10.0),
        " Mbit/s",
    )


def cubic(data: Data) -> Check:
    """CUBIC from 0.01 % on."""
    rows = by_loss(data, "cubic").filter(pl.col("loss") >= 1e-4)
    return between(
        "CUBIC collapses from 0.01 % on.",
        "CUBIC's greatest goodput at 0.01 % and more, medians over the trials.",
        "a fraction of the rate",
        [testbed.number(rows["median"].max())],
        (0.0, 50.0),
        " Mbit/s",
    )
