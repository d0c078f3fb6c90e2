"""Figure 6: five BBR flows, one started every 2 s."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

FLOWS, GAP_S, RATE = 5, 2.0, 100
PATH = {"rate": f"{RATE}mbit", "rtt": "10ms", "buffer": "1024pkt"}
END_S, SHOWN_S = 90, 50.0
TRIALS = 6
OFFSETS = {
    "every 2 s": (0.0, 0.0, 0.0, 0.0, 0.0),
    "not exactly, 1": (0.0, 0.3, -0.4, 0.5, -0.2),
    "not exactly, 2": (0.0, -0.5, 0.2, -0.3, 0.4),
    "not exactly, 3": (0.0, 0.1, 0.4, -0.2, -0.5),
}
"""Offsets of the starts from the plan, in seconds."""
EXACT = "every 2 s"
LEVEL, WINDOW_S = 0.9, 2.0


def cases(scope: Scope) -> Iterator[Case]:
    """Exact starts and others, in both environments."""
    for environment in testbed.ENVIRONMENTS:
        for starts, offsets in OFFSETS.items():
            flows = [
                {"cca": "bbr", "name": f"flow {i + 1}", "start": f"{GAP_S * i + offset:.1f}s"}
                for i, offset in enumerate(offsets)
            ]
            wanted = TRIALS if starts == EXACT else TRIALS // 2
            spec = testbed.spec(
                scope,
                environment,
                PATH,
                flows,
                duration=f"{END_S}s",
                trials=3 if scope.quick else wanted,
                sample_interval="200ms",
            )
            yield Case({"environment": environment, "starts": starts}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Throughput in windows of 1 s, and when the shares become fair."""
    return {
        "throughput": run_frames.by_flow(trial, 1.0),
        "converged": pl.DataFrame(
            {"at_s": [convergence_time(run_frames.by_flow(trial, WINDOW_S))]}
        ),
    }


def convergence_time(rates: pl.DataFrame) -> float:
    """The end of the last window, once all have started, with a Jain's index below `LEVEL`."""
    mbps = pl.col("throughput_mbps")
    index = mbps.sum() ** 2 / (FLOWS * (mbps**2).sum())
    rows = rates.filter(pl.col("start_s") >= GAP_S * (FLOWS - 1))
    unfair = rows.group_by("start_s", "end_s").agg(index.alias("jain")).filter(
        pl.col("jain") < LEVEL
    )  # fmt: skip
    last = testbed.number(unfair["end_s"].max())
    return GAP_S * (FLOWS - 1) if np.isnan(last) else last


def draw(data: Data) -> list[Picture]:
    """The first 50 s of a trial in each environment, and of one with inexact starts."""
    other = next(label for label in OFFSETS if label != EXACT)
    panels = [_panel(data, environment, EXACT) for environment in testbed.ENVIRONMENTS]
    panels.append(_panel(data, "VMs", other))
    figure = Figure(
        "Throughput of five staggered BBR flows",
        f"5 BBR, 100 Mbit/s, 10 ms, 1024 packets; windows of 1 s; {data.scope.profile}",
        tuple(panels),
        "Lines of the throughput of five BBR flows over 50 s, beside the fair share.",
        height=2.3,
    )
    return [Picture("", "Throughput of each flow, first trial; dashed: its fair share", figure)]


REPORTED = (
    Guide(30, "the report: 30 to 40", upright=True), Guide(40, "", upright=True),
)  # fmt: skip
"""When flows that start 2 s apart have converged."""


def _panel(data: Data, environment: str, starts: str) -> Panel:
    rows = data["throughput"].filter(
        (pl.col("environment") == environment)
        & (pl.col("starts") == starts)
        & (pl.col("trial") == 1)
    )
    lines = []
    for place, label in enumerate(rows["class"].unique(maintain_order=True).to_list()):
        mine = rows.filter(pl.col("class") == label)
        x, y = frames.column(mine, "start_s"), frames.column(mine, "throughput_mbps")
        lines.append(Line(label, x, y, f"flow:{place}", width=1.2))
    fair = Guide(RATE / FLOWS, "fair")
    guides = (fair, *REPORTED) if starts == EXACT else (fair,)
    words = "starts 2 s apart" if starts == EXACT else "starts up to 0.5 s earlier or later"
    return Panel("Time (s)", "Mbit/s", tuple(lines), title=f"{environment}, {words}",
                 x_range=(0, SHOWN_S), guides=guides)  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """When the flows have converged, with exact starts and with others."""
    return [Finding("cs244/fig6", [soon(data), later(data)])]


def _times(data: Data, exact: bool) -> pl.DataFrame:
    same = pl.col("starts") == EXACT
    return data["converged"].filter(same if exact else ~same)


RULE = (
    f"When the last window of {WINDOW_S:g} s ends in which Jain's index of the five throughputs "
    f"is below {LEVEL:g}, in runs of {END_S} s"
)


def soon(data: Data) -> Check:
    """Convergence with exact starts."""
    times = _times(data, exact=True)["at_s"].to_list()
    return judge_bounds(
        data,
        "cs244/fig6",
        "soon",
        "Flows that start every 2 s have converged after 30 to 40 s.",
        f"{RULE}, in both environments.",
        times,
        f" (from {min(times):g} to {max(times):g} s)",
    )


def later(data: Data) -> Check:
    """Convergence with other starts."""
    means = [
        _times(data, exact).group_by("environment", "trial").agg(pl.col("at_s").mean())
        for exact in (False, True)
    ]
    other, exact = means
    pairs = other.join(exact, on=["environment", "trial"], suffix="_exact")
    times = _times(data, exact=False)["at_s"].to_list()
    return judge_bounds(
        data,
        "cs244/fig6",
        "later",
        "With other starts it takes longer.",
        f"{RULE}: with starts up to 0.5 s off less that with exact ones, in each environment and "
        "trial.",
        (pairs["at_s"] - pairs["at_s_exact"]).to_list(),
        f" ({interval(data, times)} s, from {min(times):g} to {max(times):g} s)",
    )
