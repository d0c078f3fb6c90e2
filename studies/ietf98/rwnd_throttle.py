"""Slide 'Lessons from deploying': a middlebox that clamps the receive window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.figures.palette import name
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

KINDS = ("bbr", "cubic", "reno")
RATE, RTT_S = 50.0, 0.04
WINDOWS_KB = (15, 30, 60, 120, 180, 240, 300)
TRIALS = 3
CLAIM = "ietf98/rwnd-throttle"


def cases(scope: Scope) -> Iterator[Case]:
    """One flow of each control with windows from small ones to more than the BDP of 250 KB."""
    for kind in KINDS:
        for window in WINDOWS_KB:
            spec = testbed.spec(
                scope,
                {"rate": f"{RATE:g}mbit", "rtt": "40ms", "buffer": "2bdp"},
                [{"cca": kind}],
                hosts={"receive_window": f"{window}kb"},
                duration="15s",
                warmup="5s",
                trials=TRIALS,
                sample_interval="100ms",
            )
            yield Case({"kind": kind, "window_kb": window}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Goodput, drops, and BBR's estimate of the bandwidth."""
    drops = run_frames.summary(trial)["drops"]
    estimate = run_frames.internal(trial, "bw_mbps")["value"].median()
    row = testbed.per_flow(trial).select("goodput_mbps", "retransmits")
    return {
        "flow": row.with_columns(
            drops.alias("drops"), pl.lit(estimate, dtype=pl.Float64).alias("estimate_mbps")
        )
    }


def draw(data: Data) -> list[Picture]:
    """Goodput against the window, with the line of window over RTT."""
    x = np.array(WINDOWS_KB, dtype=np.float64)
    lines = [Line("window / RTT", x, _window_rate(x), "neutral", dash="dash", width=2.5)]
    for kind in KINDS:
        rows = data["flow"].filter((pl.col("kind") == kind) & (pl.col("trial") == 1))
        rows = rows.sort("window_kb")
        at, y = frames.column(rows, "window_kb"), frames.column(rows, "goodput_mbps")
        lines.append(Line(name(kind), at, y, kind, marker="o", dash="dot"))
    panel = Panel("Receive window (KB)", "Goodput (Mbit/s)", tuple(lines), x_range=(0, 310))
    figure = Figure(
        "Goodput by the receive window",
        f"1 flow, 50 Mbit/s, 40 ms, 2 BDP; {data.scope.profile}",
        (panel,),
        "Goodput of BBR, CUBIC and Reno over the receive window, beside the line window / RTT.",
        height=3.4,
    )
    return [Picture("", "Goodput by the size of the receive window", figure)]


def _window_rate(window_kb: np.ndarray) -> np.ndarray:
    """Window over RTT in Mbit/s, bounded by the link's capacity."""
    return np.minimum(window_kb * 8e-3 / RTT_S, RATE * testbed.PAYLOAD)


def _runs_below_bdp(data: Data) -> pl.DataFrame:
    """The runs in which the window is below the BDP."""
    return data["flow"].filter(pl.col("window_kb") * 8e-3 / RTT_S < RATE)


def judge(data: Data) -> list[Finding]:
    """The rate follows the window, nothing is lost, and BBR's estimate is right."""
    checks = [follows(data), lossless(data), sees(data), believes(data)]
    return [Finding(CLAIM, checks)]


def _by_condition(rows: pl.DataFrame, value: str) -> dict[str, list[float]]:
    """A column for every control and window, by trial."""
    cells = rows.drop_nulls(value).group_by("kind", "window_kb", maintain_order=True)
    return {f"{name(str(k))}, {kb} KB": cell[value].to_list() for (k, kb), cell in cells}


def follows(data: Data) -> Check:
    """Goodput over window / RTT."""
    rows = _runs_below_bdp(data)
    expected = pl.Series(_window_rate(frames.column(rows, "window_kb")))
    return judge_bounds(
        data,
        CLAIM,
        "follows",
        "The rate follows rwnd / RTT for every control.",
        "Goodput over window / RTT for every control and window below the BDP.",
        _by_condition(rows.with_columns(ratio=pl.col("goodput_mbps") / expected), "ratio"),
    )


def lossless(data: Data) -> Check:
    """Drops and retransmissions while the window limits."""
    rows = _runs_below_bdp(data).with_columns(lost=pl.col("drops") + pl.col("retransmits"))
    return judge_bounds(
        data,
        CLAIM,
        "lossless",
        "Nothing is lost.",
        "Packets dropped and sent again from 5 s on.",
        _by_condition(rows.with_columns(pl.col("lost").cast(pl.Float64)), "lost"),
    )


def _estimates(data: Data) -> pl.DataFrame:
    """BBR's estimate while the window limits, over its goodput and over the link's capacity."""
    rows = _runs_below_bdp(data).filter(pl.col("kind") == "bbr")
    return rows.with_columns(
        of_own=pl.col("estimate_mbps") / (pl.col("goodput_mbps") / testbed.PAYLOAD),
        of_link=pl.col("estimate_mbps") / RATE,
    )


def sees(data: Data) -> Check:
    """BBR's estimate of the bandwidth against its goodput."""
    return judge_bounds(
        data,
        CLAIM,
        "of-own",
        "BBR isn't misled about the bandwidth: it believes in no less than it gets.",
        "BBR's estimate, median over time, over the flow's rate on the wire, for every window.",
        _by_condition(_estimates(data), "of_own"),
    )


def believes(data: Data) -> Check:
    """BBR's estimate of the bandwidth against the link's capacity."""
    return judge_bounds(
        data,
        CLAIM,
        "of-link",
        "It believes in no more than the link has.",
        "The same estimate over the link's rate.",
        _by_condition(_estimates(data), "of_link"),
    )
