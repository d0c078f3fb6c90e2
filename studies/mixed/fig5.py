"""Figure 5: windows of the large CUBIC flow and of the successive 1 MB flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

RATE, BUFFER = 40, 0.5
ROOM_PACKETS = 225
"""BDP and buffer of 1500-byte packets; the study says about 240."""
SETTLED_S = 2.0


def cases(scope: Scope) -> Iterator[Case]:
    """Against BBR and against CUBIC."""
    for small in ("bbr", "cubic"):
        spec = testbed.spec(
            scope, "cubic", small, RATE, BUFFER,
            record="samples", sample_interval="20ms", repetitions=3,
        )  # fmt: skip
        yield Case({"small": small}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The windows in packets at every sample."""
    return {"cwnd": run_frames.samples(trial, ["cwnd"], whole=True)}


def draw(data: Data) -> list[Picture]:
    """The first 20 s of both."""
    top = 1.05 * float(str(data["cwnd"].filter(pl.col("trial") == 1)["cwnd"].max()))
    panels = tuple(_panel(data, small, top) for small in ("bbr", "cubic"))
    figure = Figure(
        "Windows of a large CUBIC flow and of successive 1 MB flows",
        f"40 Mbit/s, 45 ms, 0.5 BDP, first repetition; {data.scope.profile}",
        panels,
        "Two panels: the window of a large CUBIC flow beside BBR flows, and beside CUBIC flows.",
    )
    return [Picture("", "Congestion windows; the 1 MB flows come one after the other", figure)]


def _panel(data: Data, small: str, top: float) -> Panel:
    rows = data["cwnd"].filter((pl.col("small") == small) & (pl.col("trial") == 1))
    lines = []
    for label, who, colour in ((f"1 MB {name(small)}", "small", small),
                               ("large CUBIC", "large", "neutral")):  # fmt: skip
        mine = rows.filter(pl.col("name") == who).sort("time_s")
        x, y = frames.column(mine, "time_s"), frames.column(mine, "cwnd")
        lines.append(Line(label, x, y, colour, kind="step", width=1.2))
    return Panel(
        "Time (s)",
        "Window (packets)",
        tuple(lines),
        title=f"1 MB flows of {name(small)}",
        x_range=(0, 20),
        y_range=(0, top),
        guides=(Guide(ROOM_PACKETS, "BDP + buffer"),),
    )


def judge(data: Data) -> list[Finding]:
    """The large flow has a small share of the path beside BBR, a larger one beside CUBIC."""
    return [Finding("mixed/fig5", [large_window(data), free(data), window_after_loss(data)])]


def _means(data: Data, small: str) -> list[float]:
    rows = data["cwnd"].filter(
        (pl.col("small") == small) & (pl.col("name") == "large") & (pl.col("time_s") >= SETTLED_S)
    )
    found = rows.group_by("trial", maintain_order=True).agg(pl.col("cwnd").mean())
    return found["cwnd"].to_list()


def large_window(data: Data) -> Check:
    """The large flow's window beside BBR bursts."""
    return judge_bounds(
        data,
        "mixed/fig5",
        "pinned",
        "Beside BBR bursts the large flow is pinned to a very small share of the path.",
        f"Mean window of the large flow from {SETTLED_S:g} s on, in percent of the "
        f"{ROOM_PACKETS} packets that path and buffer hold.",
        [100 * value / ROOM_PACKETS for value in _means(data, "bbr")],
    )


def free(data: Data) -> Check:
    """The large flow's window beside CUBIC bursts."""
    bbr, cubic = _means(data, "bbr"), _means(data, "cubic")
    return judge_bounds(
        data,
        "mixed/fig5",
        "free",
        "Beside CUBIC bursts it is not.",
        "Mean window of the large flow beside CUBIC bursts over that beside BBR bursts.",
        ratios(cubic, bbr),
        f" ({interval(data, cubic)} packets beside CUBIC, {interval(data, bbr)} beside BBR)",
    )


def window_after_loss(data: Data) -> Check:
    """The part of their windows that BBR's bursts keep after the loss caused by their start."""
    rows = data["cwnd"].filter((pl.col("small") == "bbr") & (pl.col("name") == "small"))
    return judge_bounds(
        data,
        "mixed/fig5",
        "unmoved",
        "BBR's bursts don't react to the loss that their start makes.",
        "A burst's window at its end over its highest, median over the bursts of a repetition.",
        [
            float(np.median(_last_over_highest(mine.sort("time_s")["cwnd"].to_numpy())))
            for _, mine in rows.group_by("trial", maintain_order=True)
        ],
    )


def _last_over_highest(cwnd: np.ndarray) -> list[float]:
    """Each flow's last window over its highest; there is none between two flows."""
    starts = np.flatnonzero(np.diff(cwnd > 0, prepend=False, append=False))
    stretches = (cwnd[a:b] for a, b in zip(starts[::2], starts[1::2], strict=True))
    return [float(one[-1] / one.max()) for one in stretches]
