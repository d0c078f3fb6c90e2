"""Section VII: a BBR with a shorter bandwidth filter beside bursts of CUBIC."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval
from narrows.reproduce.mixed import ideas, testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

ROUNDS = (10, 5, 2)
COLOURS = {10: "bbr", 5: "cubic", 2: "reno"}
RATE = 20
SHORTEST = 2


def cases(scope: Scope) -> Iterator[Case]:
    """BBR-cubic at 20 Mbit/s over all buffers, with filters of 10, 5 and 2 rounds."""
    for rounds in ROUNDS:
        for room in testbed.BUFFERS:
            options = {"bw_window_rounds": rounds}
            spec = ideas.spec(scope, ("bbr", "cubic"), RATE, room, options)
            yield Case({"rounds": rounds, "buffer_bdp": room}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """What each run gave: one row."""
    return {"outcome": testbed.outcome(trial)}


def _values(data: Data, value: str, rounds: int, room: float) -> list[float]:
    rows = data["outcome"].filter((pl.col("rounds") == rounds) & (pl.col("buffer_bdp") == room))
    return [float(v) for v in rows[value].drop_nulls().to_list()]


def draw(data: Data) -> list[Picture]:
    """Completion times of the small flows, throughput of the large one."""
    panels = tuple(
        _panel(data, value, label)
        for value, label in (("medium_s", "1 MB flows (s)"), ("goodput_mbps", "Large (Mbit/s)"))
    )
    figure = Figure(
        "A shorter bandwidth filter",
        f"Large BBR flow, 1 MB CUBIC flows, {RATE} Mbit/s, 45 ms, means; {data.scope.profile}",
        panels,
        "Completion times of CUBIC flows and throughput of the BBR flow by the buffer.",
        columns=2,
        height=3.2,
    )
    return [Picture("", "Completion times of CUBIC's flows, and what BBR keeps", figure)]


def _panel(data: Data, value: str, label: str) -> Panel:
    lines = []
    for rounds in ROUNDS:
        rows = testbed.means(
            data["outcome"].filter(pl.col("rounds") == rounds), value, "buffer_bdp"
        )
        x, y = frames.column(rows, "buffer_bdp"), frames.column(rows, "mean")
        lines.append(Line(f"{rounds} rounds", x, y, COLOURS[rounds], marker="o"))
    return Panel("Buffer (BDP)", label, tuple(lines))


def judge(data: Data) -> list[Finding]:
    """Shorter completion times, comparable throughput."""
    return [Finding("mixed/idea-bw-window", [shorter(data), comparable(data)])]


def shorter(data: Data) -> Check:
    """Completion times of the small flows."""
    ratios = {
        room: mean(_values(data, "medium_s", SHORTEST, room))
        / mean(_values(data, "medium_s", 10, room))
        for room in testbed.BUFFERS
    }
    told = ", ".join(f"{ratio:.2f} at {room:g} BDP" for room, ratio in ratios.items())
    return Check(
        "Arriving CUBIC bursts complete sooner.",
        f"Mean completion time of the 1 MB flows beside a BBR with a filter of {SHORTEST} rounds, "
        "as a multiple of that beside one of 10. Passes if it is below 0.95 in most buffers.",
        "shorter",
        told,
        sum(ratio < 0.95 for ratio in ratios.values()) > len(ratios) / 2,
    )


def comparable(data: Data) -> Check:
    """Throughput of the large flow."""
    pairs = {
        room: (
            _values(data, "goodput_mbps", SHORTEST, room),
            _values(data, "goodput_mbps", 10, room),
        )
        for room in testbed.BUFFERS
    }
    told = ", ".join(
        f"{interval(new, 3)} instead of {interval(old, 3)} at {room:g} BDP"
        for room, (new, old) in pairs.items()
    )
    return Check(
        "The large flow's throughput stays comparable.",
        "Its mean throughput in Mbit/s with the short filter and with that of 10 rounds. Passes "
        "if it is at least 0.8 times as high in every buffer.",
        "comparable",
        told,
        all(mean(new) >= 0.8 * mean(old) for new, old in pairs.values()),
    )
