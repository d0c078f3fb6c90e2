"""Figure 1: the optimal operating point, with a fixed window instead of a control."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.metrics.flows import flow_summaries
from narrows.reproduce import run_frames
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds, per_trial, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

CLAIM = "panaderia/fig1"
RATE, BDP_BYTES = 80, 250_000
WINDOWS = (0.25, 0.5, 0.75, 0.875, 1.0, 1.125, 1.25, 1.5, 2.0, 3.0)
"""In BDP."""
BUFFER = 4.0
BEYOND = (4.0, 4.75, 5.5, 6.5)
"""Windows near the end of the buffer and beyond it, in BDP, of a sender that ignores loss."""
CONTROLS = ("cubic", "bbr", "vegas")
"""Whose operating points are shown."""
HEADERS = 52
"""Header bytes of a segment of 1448 bytes, which the link carries outside the window."""
JITTER = "20us"


def cases(scope: Scope) -> Iterator[Case]:
    """One flow, limited only by its receiver's window; fixed windows that ignore loss; controls."""
    for window in WINDOWS:
        room = round(window * BDP_BYTES * (1500 - HEADERS) / 1500)
        yield _case(scope, "window", window, {"cca": "reno"}, receive_window=f"{room}b")
    for window in BEYOND:
        packets = round(window * BDP_BYTES / 1500)
        yield _case(scope, "beyond", window, {"cca": "fixed", "options": {"window": packets}})
    for control in CONTROLS:
        yield _case(scope, control, 0.0, {"cca": control})


def _case(scope: Scope, kind: str, window: float, flow: dict[str, Any], **host: str) -> Case:
    spec = dumbbell(
        "panaderia",
        testbed.path(RATE, BUFFER),
        [flow],
        profile=scope.profile,
        host={**testbed.host(scope), **host, "jitter": JITTER},
        duration="60s" if kind in CONTROLS else "12s",
        warmup="20s" if kind in CONTROLS else "4s",
        trials=testbed.TRIALS,
        sample_interval="20ms",
    )
    return Case({"kind": kind, "window_bdp": window}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Data in flight in BDP, the rate on the wire in percent, the mean RTT in ms, the power."""
    (flow,) = flow_summaries(trial.scenario, trial.tables, trial.info.end_s)
    wire_mbps = flow["goodput_mbps"] * 1500 / (1500 - HEADERS)
    percent, rtt = 100 * wire_mbps / frames.rate_mbps(trial.scenario), flow["rtt_ms"]["mean"]
    row = run_frames.samples(trial, ["in_flight"]).select(
        flight_bdp=pl.col("in_flight").mean() * 1500 / BDP_BYTES,
        percent=pl.lit(percent),
        rtt_ms=pl.lit(rtt),
        power=pl.lit(percent / rtt),
    )
    return {"point": row}


def draw(data: Data) -> list[Picture]:
    """RTT, rate and power against data in flight."""
    means = data["point"].group_by("kind", "window_bdp").mean().sort("window_bdp")
    panels = tuple(
        Panel("In flight (BDP)", label, tuple(_marks(means, value)), y_range=(0, None),
              guides=(Guide(1.0, "BDP", upright=True),
                      Guide(1.0 + BUFFER, "BDP + buffer", upright=True), *limit))
        for value, label, limit in (
            ("rtt_ms", "RTT (ms)", (Guide(1000 * testbed.RTT_S, "RTprop"),)),
            ("percent", "Rate (%)", (Guide(100, "BtlBw"),)),
            ("power", "Rate / RTT (% per ms)", ()),
        )
    )  # fmt: skip
    figure = Figure(
        "The optimal operating point",
        f"1 flow with a fixed window or a control, 80 Mbit/s, 25 ms, 4 BDP; {data.scope.profile}",
        panels,
        "RTT, delivery rate and power against what is in flight, with the means of three controls.",
        height=2.6,
    )
    return [Picture("", "Fixed windows, and where controls are on the mean", figure)]


def _marks(means: pl.DataFrame, value: str) -> Iterator[Line]:
    """The curve of fixed windows, points of those that overflow the buffer and of controls."""
    over = pl.col("window_bdp") > 1 + BUFFER
    fixed = means.filter(~pl.col("kind").is_in(CONTROLS))
    curve, lossy = fixed.filter(~over), fixed.filter(over)
    yield Line("fixed window", frames.column(curve, "flight_bdp"), frames.column(curve, value),
               "fixed", marker="o")  # fmt: skip
    yield Line("a window beyond BDP + buffer", frames.column(lossy, "flight_bdp"),
               frames.column(lossy, value), "loss", kind="points", marker="o")  # fmt: skip
    for control in CONTROLS:
        point = means.filter(pl.col("kind") == control)
        yield Line(name(control), frames.column(point, "flight_bdp"), frames.column(point, value),
                   control, kind="points", marker="s")  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """Rate and RTT below a BDP and beyond it, and the best point."""
    return [Finding(CLAIM, [rate(data), full(data), rtt(data), power(data)])]


def _at(data: Data, window: float, value: str) -> list[float]:
    return data.values(value, "point", window_bdp=window)


def rate(data: Data) -> Check:
    """The rate with less than a BDP."""
    return judge_bounds(
        data,
        CLAIM,
        "rate",
        "With less than a BDP in flight the link is underused.",
        "The rate in parts of the link's over what is in flight in BDP, by the window.",
        {
            f"{w:g} BDP": ratios(
                [v / 100 for v in _at(data, w, "percent")], _at(data, w, "flight_bdp")
            )
            for w in WINDOWS
            if w < 0.8
        },
    )


def full(data: Data) -> Check:
    """The rate with more."""
    return judge_bounds(
        data,
        CLAIM,
        "full",
        "With more the rate stays the link's.",
        "The rate in parts of the link's.",
        {f"{w:g} BDP": [v / 100 for v in _at(data, w, "percent")] for w in WINDOWS if w > 1.2},
    )


def rtt(data: Data) -> Check:
    """The RTT in both."""
    return judge_bounds(
        data,
        CLAIM,
        "rtt",
        "The RTT is the lowest up to a BDP and then grows with what is in flight.",
        "The mean RTT over the path's 25 ms, and over the number of BDP in flight beyond one.",
        {
            f"{w:g} BDP": [v / (1000 * testbed.RTT_S * max(w, 1.0)) for v in _at(data, w, "rtt_ms")]
            for w in WINDOWS
            if w < 0.8 or w > 1.2
        },
    )


def _best(data: Data) -> float:
    return max(WINDOWS, key=lambda window: _at(data, window, "power")[0])


def power(data: Data) -> Check:
    """The point at which rate over RTT is greatest."""
    return judge_bounds(
        data,
        CLAIM,
        "power",
        "One BDP is optimal: the rate over the RTT is greatest there.",
        "What is in flight where the power is greatest, in each trial.",
        per_trial(data, _best),
    )
