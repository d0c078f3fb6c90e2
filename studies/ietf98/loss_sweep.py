"""Backup slide 'fully use bandwidth, despite high packet loss'."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures.model import Figure, Line, Panel
from narrows.figures.palette import name
from narrows.reproduce import spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

RATE = 100.0
KINDS = ("bbr", "cubic")
LOSSES = (1e-5, 1e-4, 1e-3, 1e-2, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.5)
QUICK_LOSSES = (1e-5, 1e-4, 1e-2, 0.15, 0.3)
TRIALS = {0.15: 8, 0.2: 5, 0.25: 5, 0.3: 5, 0.5: 5}
"""More trials where losses of the first round trips matter; three elsewhere."""
CLAIM = "ietf98/loss-sweep"
HIGH = 0.15
"""BBR uses the link up to this loss."""
GONE = 0.3
"""From this loss on it has collapsed."""


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
                trials=testbed.trials(scope, TRIALS.get(loss, 3)),
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
    panel = Panel("Random loss (%)", "Goodput (Mbit/s)", tuple(lines), x_scale="log",
                  y_range=(0, 100), ticks=ticks)  # fmt: skip
    figure = Figure(
        "Throughput by random loss",
        f"1 BBR or 1 CUBIC, 100 Mbit/s, 100 ms, 1 minute; {data.scope.profile}",
        (panel,),
        "Lines of the goodput of BBR and of CUBIC over random loss, beside what gets through.",
        height=3.6,
    )
    return [Picture("", "Goodput against random loss, median and range of the trials", figure)]


def by_loss(data: Data, kind: str) -> pl.DataFrame:
    """Median, least and greatest goodput over the trials by loss."""
    goodput = pl.col("goodput_mbps")
    rows = data["goodput"].filter(pl.col("kind") == kind).group_by("loss")
    return rows.agg(median=goodput.median(), low=goodput.min(), high=goodput.max()).sort("loss")


def judge(data: Data) -> list[Finding]:
    """BBR's goodput up to 15 % and beyond, CUBIC's from 0.01 % on."""
    return [Finding(CLAIM, [uses(data), collapses(data), cubic(data)])]


def _of(data: Data, kind: str, low: float, high: float = 1.0) -> dict[str, list[float]]:
    """The goodput at the losses of a range, by trial, and the link's capacity there."""
    rows = data["goodput"].filter((pl.col("kind") == kind) & pl.col("loss").is_between(low, high))
    cells = rows.sort("loss").group_by("loss", maintain_order=True)
    return {
        f"{100 * float(str(loss)):g} %": cell["goodput_mbps"].to_list() for (loss,), cell in cells
    }


def uses(data: Data) -> Check:
    """The part of the link that BBR uses up to 15 %."""
    rows = data["goodput"].with_columns(
        goodput_mbps=100 * pl.col("goodput_mbps") / (available(0.0) * (1 - pl.col("loss")))
    )
    return judge_bounds(
        data,
        CLAIM,
        "uses",
        "BBR is near the full rate up to 15 % loss.",
        "BBR's goodput as a part of what the link lets through, at every loss up to 15 %.",
        _of(replace(data, frames={"goodput": rows}), "bbr", 0.0, HIGH),
    )


def collapses(data: Data) -> Check:
    """BBR beyond 15 %."""
    return judge_bounds(
        data,
        CLAIM,
        "collapses",
        "Then it collapses.",
        "BBR's goodput at every loss of 30 % and more.",
        _of(data, "bbr", GONE),
    )


def cubic(data: Data) -> Check:
    """CUBIC from 0.01 % on."""
    return judge_bounds(
        data,
        CLAIM,
        "cubic",
        "CUBIC collapses from 0.01 % on.",
        "CUBIC's goodput at every loss of 0.01 % and more.",
        _of(data, "cubic", 1e-4),
    )
