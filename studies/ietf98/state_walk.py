"""Backup slides 26 to 30: BBR's walk through its states towards the optimal point."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.packets import PACKET_BITS
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds, per_trial, rows_where

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

T = TypeVar("T")
CLAIM, SIDES = "ietf98/state-walk", "ietf98/both-sides"
RATE_MBPS = 10.0
PACKET_MS = PACKET_BITS / RATE_MBPS / 1e3
LOWEST_RTT_MS = 40.0 + PACKET_MS
"""The delay of the path, and a packet's own time on the link."""
NEAR = 0.05
"""An RTT or a rate within this part of the lowest or highest counts as such."""
WIRE = 1500 / 1448
"""The link's bytes for one of payload."""
BDP_PACKETS = 10e6 * 0.04 / 8 / 1500
LOWEST_RTT_PACKETS = LOWEST_RTT_MS / PACKET_MS
"""Data in flight when the link is busy and the queue empty."""
STAY_S, EVERY_S = 0.2, 10.0
"""The slide's length of a stay in PROBE_RTT, and the time from one to the next."""
END_S = 35
TRIALS = 3
STATES = {"startup": "flow:1", "drain": "loss", "probe_bw": "bbr", "probe_rtt": "flow:2"}


def cases(scope: Scope) -> Iterator[Case]:
    """One flow, with samples fine enough for a stay of 200 ms."""
    path = {**testbed.SLOW, "buffer": "5bdp"}
    spec = testbed.spec(
        scope, path, [{"cca": "bbr"}], duration=f"{END_S}s", trials=TRIALS, sample_interval="5ms"
    )
    yield Case({"path": "slow"}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Data in flight, the RTT, the delivery rate in Mbit/s and the state at every sample."""
    columns = ["in_flight", "srtt_ms", "rtt_ms", "delivery_mbps", "cca_state"]
    rows = run_frames.samples(trial, columns, whole=True)
    rate = (WIRE * pl.col("delivery_mbps")).alias("rate_mbps")
    return {"samples": rows.select("time_s", "in_flight", run_frames.LATEST_RTT, rate, "cca_state")}


def draw(data: Data) -> list[Picture]:
    """The walk in the plane of the first slide, and over time."""
    rows = data["samples"].filter(pl.col("trial") == 1).drop_nulls("rtt_ms")
    known = _samples_with_flight(rows_where(data, "trial", 1))
    plane, rates, early, late = [], [], [], []
    for state, colour in STATES.items():
        label, state_is = state.upper(), pl.col("cca_state") == state
        mine, sent = rows.filter(state_is), known.filter(state_is)
        x = frames.column(sent, "in_flight") / BDP_PACKETS
        plane.append(Line(label, x, frames.column(sent, "rtt_ms"), colour, kind="points"))
        rates.append(Line(label, x, frames.column(sent, "rate_mbps"), colour, kind="points"))
        time, x = frames.column(mine, "time_s"), frames.column(mine, "in_flight") / BDP_PACKETS
        early.append(Line(label, time, x, colour, kind="points"))
        late.append(Line(label, time, x, colour, kind="points"))
    one = (Guide(1.0, "1 BDP"),)
    panels = (
        Panel(
            "In flight when sent (BDP)",
            "RTT (ms)",
            tuple(plane),
            guides=(Guide(1.0, "1 BDP", upright=True),),
        ),
        Panel(
            "In flight when sent (BDP)",
            "Delivery rate (Mbit/s)",
            tuple(rates),
            y_range=(0, None),
            guides=(Guide(1.0, "1 BDP", upright=True),),
        ),
        Panel("Time (s)", "In flight (BDP)", tuple(early), x_range=(0, 2), guides=one),
        Panel("Time (s)", "In flight (BDP)", tuple(late), x_range=(9, 23), guides=one),
        *_timing(data),
    )
    figure = Figure(
        "BBR's walk through its states",
        f"1 BBR, 10 Mbit/s, 40 ms, 5 BDP, first trial; {data.scope.profile}",
        panels,
        "RTT and rate against what is in flight, by state, what is in flight over time, and "
        "PROBE_RTT's lengths and distances beside the slide's 0.2 and 10 s.",
        height=2.4,
    )
    words = "Every sample of 5 ms, by BBR's state; lengths and distances of stays in PROBE_RTT"
    return [Picture("", words, figure)]


def _timing(data: Data) -> tuple[Panel, ...]:
    """How long stays in PROBE_RTT were and how far apart, in all trials; the slide's numbers."""
    trials = _value(data, _stays)
    lengths = [(n, end - start) for one in trials for n, (start, end) in enumerate(one, 1)]
    gaps = [
        (n, after[0] - before[0])
        for one in trials
        for n, (before, after) in enumerate(pairwise(one), 2)
    ]
    wanted = (("Its length (s)", lengths, STAY_S), ("Since the one before (s)", gaps, EVERY_S))
    return tuple(
        Panel(
            "Stay in PROBE_RTT",
            label,
            (_points(found),),
            x_range=(0.5, 3.5),
            y_range=(0, 1.5 * stated),
            ticks=tuple((n, f"{n}") for n in (1, 2, 3)),
            guides=(Guide(stated, f"slide: {stated:g} s"),),
        )
        for label, found, stated in wanted
    )


def _points(found: Sequence[tuple[float, float]]) -> Line:
    x, y = (np.array([pair[i] for pair in found], float) for i in (0, 1))
    return Line("every trial", x, y, STATES["probe_rtt"], kind="points", marker="o")


def judge(data: Data) -> list[Finding]:
    """The effect of each state on data in flight."""
    checks = [queue_drains(data), cruises(data), floor(data), stay(data), every(data)]
    return [Finding(CLAIM, checks), Finding(SIDES, [lowest_rtt(data), right(data)])]


def _samples_with_flight(data: Data) -> pl.DataFrame:
    """The samples, with the data in flight when their packets were sent."""
    rows = data["samples"].drop_nulls(["in_flight", "rtt_ms", "rate_mbps"]).sort("time_s")
    times, flight = frames.column(rows, "time_s"), frames.column(rows, "in_flight")
    sent = times - frames.column(rows, "rtt_ms") / 1e3
    return rows.with_columns(pl.Series("in_flight", np.interp(sent, times, flight)))


def lowest_rtt(data: Data) -> Check:
    """The data in flight at which the lowest RTT is seen."""

    def part(one: Data) -> float:
        rows = _samples_with_flight(one).filter(pl.col("rtt_ms") <= (1 + NEAR) * LOWEST_RTT_MS)
        below = frames.column(rows, "in_flight") <= (1 + NEAR) * LOWEST_RTT_PACKETS
        return 100 * float(below.mean()) if len(below) else -math.inf

    return judge_bounds(
        data,
        SIDES,
        "left",
        "The lowest RTT is seen with up to a BDP in flight only.",
        f"Samples with up to a BDP in flight a round trip earlier, of those with an RTT within "
        f"{100 * NEAR:g} % of {LOWEST_RTT_MS:g} ms, the path's delay and a packet's time on the "
        "link.",
        per_trial(data, part),
    )


def right(data: Data) -> Check:
    """The data in flight at which the highest rate is seen."""

    def part(one: Data) -> float:
        rows = _samples_with_flight(one).filter(pl.col("rate_mbps") >= (1 - NEAR) * RATE_MBPS)
        above = frames.column(rows, "in_flight") >= (1 - NEAR) * BDP_PACKETS
        return 100 * float(above.mean()) if len(above) else -math.inf

    return judge_bounds(
        data,
        SIDES,
        "right",
        "The highest rate is seen with a BDP in flight or more only.",
        f"Samples with a BDP in flight or more then, of those with a delivery rate "
        f"within {100 * NEAR:g}"
        " % of the link's.",
        per_trial(data, part),
    )


def _flight(data: Data, state: str) -> np.ndarray:
    rows = data["samples"].filter((pl.col("cca_state") == state) & (pl.col("time_s") < 30))
    return frames.column(rows, "in_flight")


def _value(data: Data, value: Callable[[Data], T]) -> list[T]:
    """A value by trial; nothing where the back end doesn't see states."""
    seen = data["samples"].filter(pl.col("cca_state").fill_null("") != "")
    return [] if seen.is_empty() else per_trial(data, value)


def _first(data: Data, state: str) -> float:
    flight = _flight(data, state)
    return float(flight[0]) if len(flight) else math.inf


def queue_drains(data: Data) -> Check:
    """Data in flight at the end of DRAIN."""
    return judge_bounds(
        data,
        CLAIM,
        "drain",
        "DRAIN drains the queue that STARTUP left.",
        "What is in flight when DRAIN has ended: at the first sample of PROBE_BW.",
        _value(data, lambda one: _first(one, "probe_bw") / BDP_PACKETS),
    )


def cruises(data: Data) -> Check:
    """Data in flight in PROBE_BW."""

    def middle(one: Data) -> float:
        flight = _flight(one, "probe_bw")
        return float(np.median(flight)) / BDP_PACKETS if len(flight) else math.inf

    return judge_bounds(
        data,
        CLAIM,
        "cruise",
        "PROBE_BW stays near the optimal point.",
        "Median of what is in flight in PROBE_BW.",
        _value(data, middle),
    )


def floor(data: Data) -> Check:
    """The least that is in flight in PROBE_RTT."""

    def least(one: Data) -> float:
        flight = _flight(one, "probe_rtt")
        return float(flight.min()) if len(flight) else math.inf

    return judge_bounds(
        data,
        CLAIM,
        "floor",
        "PROBE_RTT minimises what is in flight.",
        "The least that is in flight in PROBE_RTT.",
        _value(data, least),
    )


def _stays(data: Data) -> list[tuple[float, float]]:
    found = frames.stays(data["samples"].sort("time_s"), "cca_state", "probe_rtt")
    return [(start, end) for start, end, _ in found]


def stay(data: Data) -> Check:
    """How long a stay in PROBE_RTT is."""

    def length(one: Data) -> float:
        found = [end - start for start, end in _stays(one)]
        return float(np.median(found)) if found else math.inf

    return judge_bounds(
        data,
        CLAIM,
        "stay",
        "It does so for 0.2 s.",
        "Median length of the stays in PROBE_RTT.",
        _value(data, length),
    )


def every(data: Data) -> Check:
    """How often."""

    def gap(one: Data) -> float:
        starts = [start for start, _ in _stays(one)]
        return float(np.median(np.diff(starts))) if len(starts) > 1 else math.inf

    return judge_bounds(
        data,
        CLAIM,
        "every",
        "Every 10 s.",
        "Median time between the beginnings of two stays.",
        _value(data, gap),
    )
