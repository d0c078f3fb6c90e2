"""Slide 'Lessons from deploying': a middlebox that clamps the receive window."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.figures.palette import name
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.ietf98 import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

KINDS = ("bbr", "cubic", "reno")
RATE, RTT_S = 50.0, 0.04
WINDOWS_KB = (15, 30, 60, 120, 180, 240, 300)
NEAR = 0.15
"""A window is advertised in steps and filled with whole packets."""


def cases(scope: Scope) -> Iterator[Case]:
    """One flow of each control with windows up to more than the BDP of 250 KB."""
    for kind in KINDS:
        for window in WINDOWS_KB:
            spec = testbed.spec(
                scope,
                {"rate": f"{RATE:g}mbit", "rtt": "40ms", "buffer": "2bdp"},
                [{"cca": kind}],
                hosts={"receive_window": f"{window}kb"},
                duration="15s",
                warmup="5s",
                sample_interval="100ms",
            )
            yield Case({"kind": kind, "window_kb": window}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Goodput, drops, and the bandwidth that BBR believes in."""
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
    lines = [Line("window / RTT", x, _expected(x), "neutral", dash="dash", width=2.5)]
    for kind in KINDS:
        rows = data["flow"].filter(pl.col("kind") == kind).sort("window_kb")
        at, y = frames.column(rows, "window_kb"), frames.column(rows, "goodput_mbps")
        lines.append(Line(name(kind), at, y, kind, marker="o", dash="dot"))
    panel = Panel("Receive window (KB)", "Goodput (Mbit/s)", tuple(lines), x_range=(0, 310))
    figure = Figure(
        "A clamped receive window throttles every control alike",
        f"1 flow, 50 Mbit/s, 40 ms, 2 BDP; {data.scope.profile}",
        (panel,),
        "Goodput of BBR, CUBIC and Reno against the receive window: all on the line window / RTT.",
        height=3.4,
    )
    return [Picture("", "Goodput by the size of the receive window", figure)]


def _expected(window_kb: np.ndarray) -> np.ndarray:
    """Window over RTT in Mbit/s, but no more than the link lets through."""
    return np.minimum(window_kb * 8e-3 / RTT_S, RATE * testbed.PAYLOAD)


def _clamped(data: Data) -> pl.DataFrame:
    """The runs in which the window is below the BDP."""
    return data["flow"].filter(pl.col("window_kb") * 8e-3 / RTT_S < RATE)


def judge(data: Data) -> list[Finding]:
    """The rate follows the window; nothing is lost; BBR isn't misled."""
    checks = [follows(data), lossless(data), believes(data)]
    return [Finding("ietf98/rwnd-throttle", checks)]


def follows(data: Data) -> Check:
    """Goodput over window / RTT."""
    rows = _clamped(data)
    ratio = frames.column(rows, "goodput_mbps") / _expected(frames.column(rows, "window_kb"))
    return Check(
        "The rate follows rwnd / RTT for every control.",
        f"Goodput over window / RTT for {rows.height} combinations of control and window below "
        f"the BDP. Passes if all are within {100 * NEAR:g} % of 1.",
        "1",
        f"{ratio.min():.2f} to {ratio.max():.2f}",
        bool((np.abs(ratio - 1) <= NEAR).all()),
    )


def lossless(data: Data) -> Check:
    """Drops and retransmissions while the window limits."""
    rows = _clamped(data)
    drops, again = (testbed.number(rows[name].sum()) for name in ("drops", "retransmits"))
    return Check(
        "Nothing is lost.",
        "Packets dropped and sent again, all of these runs together, from 5 s on. Passes if there "
        "are none.",
        "none",
        f"{drops:.0f} dropped, {again:.0f} sent again",
        drops == 0 and again == 0,
    )


def believes(data: Data) -> Check:
    """BBR's estimate of the bandwidth while the window limits."""
    rows = _clamped(data).filter(pl.col("kind") == "bbr")
    wire = frames.column(rows, "goodput_mbps") / testbed.PAYLOAD
    ratio = frames.column(rows, "estimate_mbps") / wire
    known = ratio[np.isfinite(ratio)]
    return Check(
        "BBR isn't misled about the bandwidth.",
        "BBR's estimate, median over time, over the rate of the flow on the wire, for every "
        "window below the BDP: what the path delivers to it, neither more than the link has nor "
        "less than it gets. Passes if all are from 0.9 to the link's rate.",
        "between what it gets and what the link has",
        f"{known.min():.2f} to {known.max():.2f} times what it gets" if len(known) else "nothing",
        bool((known >= 0.9).all() and (known * wire[np.isfinite(ratio)] <= 1.05 * RATE).all())
        if len(known)
        else None,
    )
