"""Figure 1: the optimal operating point, with a fixed window instead of a control."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.metrics.flows import flow_summaries
from narrows.reproduce import run_frames
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import held, per_trial, ratios
from narrows.reproduce.panaderia import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

CLAIM = "panaderia/fig1"
RATE, BDP_BYTES = 80, 250_000
WINDOWS = (0.25, 0.5, 0.75, 0.875, 1.0, 1.125, 1.25, 1.5, 2.0, 3.0)
"""In BDP."""
HEADERS = 52
"""Header bytes of a segment of 1448 bytes, which the link carries outside the window."""
JITTER = "20us"


def cases(scope: Scope) -> Iterator[Case]:
    """One flow, limited only by its receiver's window."""
    for window in WINDOWS:
        room = round(window * BDP_BYTES * (1500 - HEADERS) / 1500)
        spec = dumbbell(
            "panaderia",
            testbed.path(RATE, 4.0),
            [{"cca": "reno"}],
            profile=scope.profile,
            host={"receive_window": f"{room}b", "jitter": JITTER},
            duration="12s",
            warmup="4s",
            trials=testbed.TRIALS,
            sample_interval="20ms",
        )
        yield Case({"window_bdp": window}, spec)


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
    means = data["point"].group_by("window_bdp").mean().sort("window_bdp")
    x = frames.column(means, "flight_bdp")
    panels = tuple(
        Panel("In flight (BDP)", label, (Line(words, x, frames.column(means, value), tint,
              marker="o"),), guides=(Guide(1.0, "", upright=True),), y_range=(0, None))
        for value, label, words, tint in (
            ("rtt_ms", "RTT (ms)", "RTT", "cubic"),
            ("percent", "Rate (percent)", "delivery rate", "bbr"),
            ("power", "Rate / RTT (percent per ms)", "power", "queue"),
        )
    )  # fmt: skip
    figure = Figure(
        "The optimal operating point",
        f"1 flow with a fixed window, 80 Mbit/s, 25 ms, 4 BDP; {data.scope.profile}",
        panels,
        "RTT, delivery rate and power against what is in flight: a knee in each at one BDP.",
        height=2.2,
    )
    return [Picture("", "A fixed window in place of a congestion control; dashed: one BDP", figure)]


def judge(data: Data) -> list[Finding]:
    """Rate and RTT below a BDP and beyond it, and the best point."""
    return [Finding(CLAIM, [rate(data), full(data), rtt(data), power(data)])]


def _at(data: Data, window: float, value: str) -> list[float]:
    return data.values(value, "point", window_bdp=window)


def rate(data: Data) -> Check:
    """The rate with less than a BDP."""
    return held(
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
    return held(
        CLAIM,
        "full",
        "With more the rate stays the link's.",
        "The rate in parts of the link's.",
        {f"{w:g} BDP": [v / 100 for v in _at(data, w, "percent")] for w in WINDOWS if w > 1.2},
    )


def rtt(data: Data) -> Check:
    """The RTT in both."""
    return held(
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
    return held(
        CLAIM,
        "power",
        "One BDP is optimal: the rate over the RTT is greatest there.",
        "What is in flight where the power is greatest, in each trial.",
        per_trial(data, _best),
    )
