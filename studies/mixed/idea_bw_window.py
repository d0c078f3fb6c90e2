"""Section VII: a BBR with a shorter bandwidth filter beside bursts of CUBIC."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Line, Panel
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios

from . import ideas, testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

ROUNDS = (10, 5, 2)
COLOURS = {10: "bbr", 5: "flow:0", 2: "flow:1"}
RATE = 20
SHORTEST = 2


def cases(scope: Scope) -> Iterator[Case]:
    """BBR-cubic at 20 Mbit/s over all buffers, with filters of 10, 5 and 2 rounds."""
    for rounds in ROUNDS:
        for buffer in testbed.BUFFERS:
            options = {"bw_window_rounds": rounds}
            spec = ideas.spec(scope, ("bbr", "cubic"), RATE, buffer, options)
            yield Case({"rounds": rounds, "buffer_bdp": buffer}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": testbed.outcome(trial)}


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
    """Completion times are shorter, throughput is comparable."""
    return [Finding("mixed/idea-bw-window", [shorter(data), comparable(data)])]


def _against(data: Data, value: str) -> dict[float, list[float]]:
    """A value with the short filter over that with 10 rounds, by buffer and repetition."""
    return {
        buffer: ratios(
            *(data.values(value, rounds=rounds, buffer_bdp=buffer) for rounds in (SHORTEST, 10))
        )
        for buffer in testbed.BUFFERS
    }


def shorter(data: Data) -> Check:
    """Completion times of the small flows."""
    found = _against(data, "medium_s")
    told = ", ".join(
        f"{interval(data, values)} at {buffer:g} BDP" for buffer, values in found.items()
    )
    return judge_bounds(
        data,
        "mixed/idea-bw-window",
        "shorter",
        "Arriving CUBIC bursts complete sooner.",
        f"Mean completion time of the 1 MB flows beside a BBR with a filter of {SHORTEST} rounds "
        "over that beside one of 10, median over the buffers.",
        [median(one) for one in zip(*found.values(), strict=False)],
        f" ({told})",
    )


def comparable(data: Data) -> Check:
    """Throughput of the large flow."""
    return judge_bounds(
        data,
        "mixed/idea-bw-window",
        "comparable",
        "The large flow's throughput stays comparable.",
        "Its throughput with the short filter over that with 10 rounds, in every buffer.",
        {f"{buffer:g} BDP": found for buffer, found in _against(data, "goodput_mbps").items()},
    )
