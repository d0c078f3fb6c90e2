"""Figure 11: windows of 1 MB CUBIC flows beside a large BBR or CUBIC flow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import BoxPlot, Figure, Floats, Panel
from narrows.figures.palette import name
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, judge_bounds, per_trial

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

RATE = 20
BUFFERS = (1.0, 2.0)
REPETITIONS = 5


def cases(scope: Scope) -> Iterator[Case]:
    """Two buffers, two controls of the large flow."""
    for large in ("bbr", "cubic"):
        for buffer in BUFFERS:
            spec = testbed.spec(
                scope, large, "cubic", RATE, buffer,
                record="samples", sample_interval="20ms", repetitions=REPETITIONS,
            )  # fmt: skip
            yield Case({"beside": large, "buffer_bdp": buffer}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Windows of the 1 MB flows while one is under way."""
    rows = run_frames.samples(trial, ["cwnd", "in_flight"], whole=True)
    mine = rows.filter((pl.col("name") == "small") & (pl.col("in_flight") > 0))
    return {"cwnd": mine.select("time_s", "cwnd")}


def windows_of(data: Data, beside: str, buffer: float) -> Floats:
    """All windows in packets in one buffer beside one control."""
    rows = data["cwnd"].filter((pl.col("beside") == beside) & (pl.col("buffer_bdp") == buffer))
    return frames.column(rows, "cwnd")


def draw(data: Data) -> list[Picture]:
    """A box for each control, a panel for each buffer."""
    panels = tuple(_panel(data, buffer) for buffer in BUFFERS)
    figure = Figure(
        "Windows of 1 MB CUBIC flows",
        f"Beside a large flow of BBR or of CUBIC, 20 Mbit/s, 45 ms; {data.scope.profile}",
        panels,
        "Box plots of the windows beside BBR and beside CUBIC, with buffers of 1 and 2 BDP.",
        columns=2,
        height=3.4,
    )
    return [Picture("", "Windows at every 20 ms; boxes: quartiles and median", figure)]


def _panel(data: Data, buffer: float) -> Panel:
    boxes = tuple(
        BoxPlot("", float(place), windows_of(data, beside, buffer), beside)
        for place, beside in enumerate(("bbr", "cubic"))
    )
    ticks = tuple((float(i), f"beside {name(kind)}") for i, kind in enumerate(("bbr", "cubic")))
    return Panel("", "Window (packets)", boxes, title=f"{buffer:g} BDP", ticks=ticks,
                 x_range=(-0.6, 1.6))  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """Windows beside BBR are low at 1 BDP, and close to the others at 2 BDP."""
    return [Finding("mixed/fig11", [very_low(data), close(data), closer(data)])]


def _ratio(data: Data, buffer: float) -> list[float]:
    """The median window beside BBR over that beside CUBIC, by repetition."""

    def of(one: Data) -> float:
        bbr, cubic = (float(np.median(windows_of(one, kind, buffer))) for kind in ("bbr", "cubic"))
        return bbr / cubic

    return per_trial(data, of)


def _words(data: Data, buffer: float) -> str:
    bbr, cubic = (float(np.median(windows_of(data, kind, buffer))) for kind in ("bbr", "cubic"))
    return f" ({bbr:.0f} packets beside BBR, {cubic:.0f} beside CUBIC)"


def very_low(data: Data) -> Check:
    """The medians at 1 BDP."""
    return judge_bounds(
        data,
        "mixed/fig11",
        "low",
        "At 1 BDP BBR holds them to very low windows.",
        "Median window beside BBR over that beside CUBIC.",
        _ratio(data, 1.0),
        _words(data, 1.0),
    )


def close(data: Data) -> Check:
    """The medians at 2 BDP."""
    return judge_bounds(
        data,
        "mixed/fig11",
        "close",
        "At 2 BDP they are much closer to those beside CUBIC.",
        "The same ratio at 2 BDP.",
        _ratio(data, 2.0),
        _words(data, 2.0),
    )


def closer(data: Data) -> Check:
    """The ratio in both buffers."""
    return judge_bounds(
        data,
        "mixed/fig11",
        "closer",
        "They are closer than at 1 BDP.",
        "The ratio at 2 BDP less that at 1 BDP.",
        differences(_ratio(data, 2.0), _ratio(data, 1.0)),
    )
