"""Backup slide 'low queue delay, despite bloated buffers'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Panel
from narrows.figures.palette import name
from narrows.report import Check
from narrows.reproduce import spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds, per_trial, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

CLAIM = "ietf98/bufferbloat"
FLOWS = 8
RATE_BPS = 128e3
KINDS = ("bbr", "cubic")
BUFFERS_KB = (6, 15, 30, 75, 150, 300, 600, 1200)
QUICK_BUFFERS_KB = (6, 75, 300, 1200)
TRIALS = 3
START_GAP_MS = 100
"""Flows that start in the same millisecond time out together for up to half an hour, in the
simulator and, for ten minutes, with real kernels: each loses a window of retransmissions at once
before it has left STARTUP. The slides don't say when theirs start."""
BLOATED_KB = 150
"""Buffers from this size on hold several times the minimum windows of all flows."""
LEAST_WINDOW = 4
"""BBR's minimum of packets in flight (bbr_cwnd_min_target)."""


def floor_s() -> float:
    """How long the minimum windows of all BBR flows take to pass the bottleneck."""
    return FLOWS * LEAST_WINDOW * 1500 * 8 / RATE_BPS


def cases(scope: Scope) -> Iterator[Case]:
    """8 flows for half an hour, whose second half is evaluated."""
    for room in QUICK_BUFFERS_KB if scope.quick else BUFFERS_KB:
        for kind in KINDS:
            path = {"rate": "128kbit", "rtt": "40ms", "buffer": f"{room}kb"}
            spec = testbed.spec(
                scope,
                path,
                [{"cca": kind, "start": f"{at * START_GAP_MS}ms"} for at in range(FLOWS)],
                duration="1800s",
                warmup="900s",
                trials=testbed.trials(scope, TRIALS),
                sample_interval="10s",
            )
            yield Case({"buffer_kb": room, "kind": kind}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The mean over flows of their median RTT, in s."""
    rtt = (pl.col("rtt_p50_ms").mean() / 1e3).alias("rtt_s")
    return {"rtt": testbed.per_flow(trial).select(rtt)}


def by_buffer(data: Data, kind: str) -> pl.DataFrame:
    """Mean, least and greatest median RTT over the trials: `buffer_kb`, `mean`, `low`, `high`."""
    return spread.over(data["rtt"].filter(pl.col("kind") == kind), "buffer_kb", "rtt_s")


def draw(data: Data) -> list[Picture]:
    """Median RTT against the buffer, both logarithmic."""
    lines = [spread.line(by_buffer(data, kind), "buffer_kb", name(kind), kind) for kind in KINDS]
    ticks = tuple((float(room), str(room)) for room in BUFFERS_KB)
    words = f"BBR's least windows: {LEAST_WINDOW} packets a flow"
    panel = Panel("Buffer (KB)", "Median RTT (s)", tuple(lines), x_scale="log", y_scale="log",
                  y_range=(0.2, 100), ticks=ticks, guides=(Guide(floor_s(), words),))  # fmt: skip
    figure = Figure(
        "Queueing delay in bloated buffers",
        f"8 BBR or 8 CUBIC, 128 kbit/s, 40 ms, minutes 15 to 30; {data.scope.profile}",
        (panel,),
        "Lines of the median RTT of BBR and of CUBIC over the buffer, both axes logarithmic.",
        height=3.6,
    )
    return [Picture("", "Median RTT by the size of the buffer, mean and range of trials", figure)]


def judge(data: Data) -> list[Finding]:
    """CUBIC's delay grows with the buffer; BBR's is low and doesn't."""
    return [Finding(CLAIM, [grows(data), flat(data), low(data), lower(data)])]


def _slope(data: Data, kind: str) -> float:
    """The slope of log RTT over log buffer in the bloated buffers: 1 is proportional."""
    rows = by_buffer(data, kind).filter(pl.col("buffer_kb") >= BLOATED_KB)
    x, y = (np.log(frames.column(rows, column)) for column in ("buffer_kb", "mean"))
    return float(np.polyfit(x, y, 1)[0])


def grows(data: Data) -> Check:
    """How CUBIC's delay depends on the buffer."""
    return judge_bounds(
        data,
        CLAIM,
        "grows",
        "CUBIC's delay grows with the buffer.",
        f"Slope of the median RTT against the buffer, both as logarithms, from {BLOATED_KB} KB on.",
        per_trial(data, lambda one: _slope(one, "cubic")),
    )


def flat(data: Data) -> Check:
    """How BBR's delay depends on the buffer."""
    return judge_bounds(
        data,
        CLAIM,
        "flat",
        "BBR's doesn't.",
        f"The same slope for BBR from {BLOATED_KB} KB on; smaller buffers don't hold the least "
        "windows of 8 flows and their probes.",
        per_trial(data, lambda one: _slope(one, "bbr")),
    )


def low(data: Data) -> Check:
    """BBR's delay against the minimum that its windows allow."""
    return judge_bounds(
        data,
        CLAIM,
        "low",
        "BBR's is near the least that its windows allow.",
        f"BBR's median RTT from {BLOATED_KB} KB on, over the {floor_s():g} s that the "
        f"least windows ({LEAST_WINDOW} packets of each flow, 80 times the path's BDP) take.",
        {
            f"{room} KB": [value / floor_s() for value in _rtts(data, "bbr", room)]
            for room in _rooms(data)
        },
    )


def _rooms(data: Data) -> list[int]:
    """The bloated buffers that were run."""
    return [room for room in data["rtt"]["buffer_kb"].unique().sort() if room >= BLOATED_KB]


def _rtts(data: Data, kind: str, room: int) -> list[float]:
    rows = data["rtt"].filter((pl.col("kind") == kind) & (pl.col("buffer_kb") == room))
    return rows["rtt_s"].to_list()


def lower(data: Data) -> Check:
    """BBR's delay against CUBIC's."""
    largest = _rooms(data)[-1]
    return judge_bounds(
        data,
        CLAIM,
        "lower",
        "It is low beside CUBIC's.",
        "BBR's median RTT over CUBIC's in the largest buffer.",
        ratios(_rtts(data, "bbr", largest), _rtts(data, "cubic", largest)),
    )
