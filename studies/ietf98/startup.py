"""Backup slide 'BBR and CUBIC: Start-up behavior', and the table of 'faster for short flows'."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.packets import PACKET_BITS
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds, per_trial

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

KINDS = ("bbr", "cubic")
END_S = 8
TRIALS = 3
CLAIM = "ietf98/startup"
RTT_S = 0.04
PLATEAU_ROUNDS = 3
"""The rounds without growth after which BBR leaves STARTUP."""
PLATEAU_S = PLATEAU_ROUNDS * RTT_S
DRAINED_S = (1.0, 8.0)


def cases(scope: Scope) -> Iterator[Case]:
    """One flow of each on the path of the BBR paper's figures 4 and 5: 250 ms when full."""
    for kind in KINDS:
        path = {**testbed.SLOW, "buffer": "262500b"}
        spec = testbed.spec(
            scope, path, [{"cca": kind}], duration=f"{END_S}s", trials=TRIALS, sample_interval="1ms"
        )
        yield Case({"kind": kind}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Sent data, data in flight, the RTT and the state at every sample."""
    columns = ["in_flight", "cwnd", "srtt_ms", "rtt_ms", "sent", "delivered", "retransmitted",
               "cca_state"]  # fmt: skip
    rows = run_frames.samples(trial, columns, whole=True).drop("flow", "name", "cca")
    rows = rows.with_columns(run_frames.LATEST_RTT)
    return {"samples": rows, "queue": run_frames.queue(trial, whole=True)}


def draw(data: Data) -> list[Picture]:
    """Data in flight and the RTT over the first second, then over 8 s."""
    panels = (
        _panel(data, "in_flight", 1.5, "First second", "", (0, 1.0)),
        _panel(data, "in_flight", 1.5, "First 8 seconds", "", (0, END_S)),
        _panel(data, "rtt_ms", 1.0, "", "RTT (ms)", (0, 1.0)),
        _panel(data, "rtt_ms", 1.0, "", "RTT (ms)", (0, END_S)),
    )
    figure = Figure(
        "BBR and CUBIC start up",
        f"1 flow each, run apart; 10 Mbit/s, 40 ms, 210 ms of buffer; {data.scope.profile}",
        panels,
        "Lines of the data in flight and of the RTT of BBR and of CUBIC over 1 and 8 s.",
        columns=2,
        height=2.4,
    )
    caption = "In flight and RTT, the first second and the first 8; dashed: BDP and RTprop"
    return [Picture("", caption, figure)]


def _panel(
    data: Data, column: str, scale: float, title: str, label: str, span: tuple[float, float]
) -> Panel:
    lines = []
    for kind in KINDS:
        rows = _of(data, kind).filter(pl.col("trial") == 1)
        x, y = frames.column(rows, "time_s"), scale * frames.column(rows, column)
        lines.append(Line(name(kind), x, y, kind, width=1.2))
    guide = Guide(40, "RTprop") if label else Guide(50, "BDP")
    return Panel("Time (s)", label or "In flight (KB)", tuple(lines), title=title, x_range=span,
                 guides=(guide,))  # fmt: skip


def _of(data: Data, kind: str, frame: str = "samples") -> pl.DataFrame:
    return data[frame].filter(pl.col("kind") == kind)


def judge(data: Data) -> list[Finding]:
    """Doubling, the ends of STARTUP and slow start, and the queue afterwards."""
    checks = [doubling(data), plateau(data), lossless(data), signal(data)]
    return [Finding(CLAIM, [*checks, drains(data), keeps(data)])]


def doubling(data: Data) -> Check:
    """The growth in each of the first round trips."""
    found = {
        f"{name(kind)}, round trip {number + 2}": per_trial(
            data, partial(_growth, kind=kind, number=number)
        )
        for kind in KINDS
        for number in range(2)
    }
    return judge_bounds(
        data,
        CLAIM,
        "doubling",
        "Both double per round trip.",
        "The window's greatest in each of the first three round trips (40 ms) over that in the one "
        "before; then it exceeds the BDP, and ACKs come at the link's rate.",
        found,
    )


def _growth(data: Data, kind: str, number: int) -> float:
    return growth(_of(data, kind))[number]


def growth(rows: pl.DataFrame, count: int = 3) -> list[float]:
    """The largest window of each of the first `count` round trips over the previous one's."""
    times, cwnd = (frames.column(rows, c) for c in ("time_s", "cwnd"))
    first = float(times[np.argmax(frames.column(rows, "sent") > 0)])
    rounds = np.floor((times - first) / RTT_S + 1e-6)
    most = [float(cwnd[rounds == number].max()) for number in range(count)]
    return [b / a for a, b in pairwise(most)]


def _exit(data: Data, kind: str) -> float:
    """When STARTUP or slow start ended; NaN if it never did."""
    rows = _of(data, kind)
    early = rows.filter(pl.col("cca_state").is_in(["startup", "slow_start"]))
    start = testbed.number(early["time_s"].min())
    later = rows.filter(
        (pl.col("time_s") > start) & ~pl.col("cca_state").is_in(["startup", "slow_start", ""])
    )
    return testbed.number(later["time_s"].min())


def plateau(data: Data) -> Check:
    """The delivery rate before BBR left STARTUP."""

    def rate(one: Data) -> float:
        end = _exit(one, "bbr")
        rows = _of(one, "bbr").filter(pl.col("time_s").is_between(end - PLATEAU_S, end))
        first, last = rows["delivered"].min(), rows["delivered"].max()
        return (testbed.number(last) - testbed.number(first)) * PACKET_BITS / 1e6 / PLATEAU_S

    return judge_bounds(
        data,
        CLAIM,
        "plateau",
        "BBR leaves on a plateau of the delivery rate.",
        f"The rate at which data was acknowledged in the last {PLATEAU_ROUNDS} round trips of "
        f"{1000 * RTT_S:g} ms before STARTUP or slow start ends.",
        per_trial(data, rate),
    )


def _retransmits(data: Data, kind: str) -> float:
    """Packets retransmitted before STARTUP or slow start ended."""
    rows = _of(data, kind).filter(pl.col("time_s") <= _exit(data, kind))
    return testbed.number(rows["retransmitted"].max())


def lossless(data: Data) -> Check:
    """There were no losses by then."""
    return judge_bounds(
        data,
        CLAIM,
        "lossless",
        "BBR has lost nothing by then.",
        "Packets sent again until STARTUP ends.",
        per_trial(data, partial(_retransmits, kind="bbr")),
    )


def signal(data: Data) -> Check:
    """The state of CUBIC when it left slow start."""

    def rise(one: Data) -> float:
        rows = _of(one, "cubic").filter(pl.col("time_s") <= _exit(one, "cubic"))
        if _retransmits(one, "cubic") > 0:
            return float("inf")
        return testbed.number(rows["rtt_ms"].max()) - testbed.number(rows["rtt_ms"].min())

    return judge_bounds(
        data,
        CLAIM,
        "signal",
        "CUBIC leaves on loss or a rise of the RTT.",
        "When slow start ends: the highest RTT less the lowest; infinite if a packet had been sent "
        "again.",
        per_trial(data, rise),
    )


def _queue(data: Data, kind: str) -> list[float]:
    low, high = DRAINED_S
    rows = _of(data, kind, "queue").filter(pl.col("time_s").is_between(low, high))
    means = rows.group_by("trial", maintain_order=True).agg(pl.col("queue_bdp").mean())
    return means["queue_bdp"].to_list()


def drains(data: Data) -> Check:
    """BBR's queue after STARTUP."""
    return judge_bounds(
        data,
        CLAIM,
        "drains",
        "After STARTUP BBR drains its queue.",
        "BBR's mean queue from 1 to 8 s.",
        _queue(data, "bbr"),
    )


def keeps(data: Data) -> Check:
    """CUBIC's queue after slow start."""
    return judge_bounds(
        data,
        CLAIM,
        "keeps",
        "CUBIC keeps its.",
        "CUBIC's mean queue from 1 to 8 s (the buffer has 5.25 BDP).",
        _queue(data, "cubic"),
    )
