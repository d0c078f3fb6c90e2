"""Figure 14: distribution of the completion times of 100 KB CUBIC flows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.metrics.distributions import distribution, statistics
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, per_trial, ratios

from . import testbed, times

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

RATE = 5
BUFFERS = (1.0, 2.0)
MOST_HAVE = (11, 15)
"""How many retransmissions most flows have beside BBR, by the study's text."""
FILTER = 10
"""Length of BBR's bandwidth filter in round trips, which include the queue."""


def cases(scope: Scope) -> Iterator[Case]:
    """Two of the buffers of Figure 13."""
    yield from times.cases(scope, RATE, "100kb", BUFFERS)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Completion times and retransmissions of the 100 KB flows; the large flow's mean RTT."""
    rtts = distribution(trial.tables["distributions"], "rtt_ms", 0)
    mean = statistics(rtts, ("mean",))["mean"]
    return {
        "times": testbed.smaller(trial).drop("name"),
        "rtt": pl.DataFrame({"rtt_ms": [mean]}, schema={"rtt_ms": pl.Float64}),
    }


def draw(data: Data) -> list[Picture]:
    """The empirical distribution functions, a panel for each buffer."""
    panels = (*(_panel(data, buffer) for buffer in BUFFERS), _retransmissions(data))
    figure = Figure(
        "Completion times of 100 KB CUBIC flows",
        f"Beside a large flow of BBR or of CUBIC, 5 Mbit/s, 45 ms; {data.scope.profile}",
        panels,
        "Empirical distribution functions of the completion times at 1 and 2 BDP, and of the "
        "retransmissions at 2 BDP.",
        columns=2,
        height=3.2,
    )
    words = "Part of the flows that are done after a time; and with as many retransmissions"
    return [Picture("", words, figure)]


def _retransmissions(data: Data) -> Panel:
    """How many packets of a flow were sent again, and how many the study says."""
    lines = []
    for beside in ("bbr", "cubic"):
        x = np.sort(frames.column(_again(data, beside), "retransmitted"))
        y = np.arange(1, len(x) + 1) / len(x)
        lines.append(Line(f"beside {name(beside)}", x, y, beside, kind="step"))
    least, most = MOST_HAVE
    return Panel(
        "Packets sent again",
        "Part of the flows",
        tuple(lines),
        title="2 BDP",
        x_range=(0, None),
        y_range=(0, 1.02),
        guides=(
            Guide(least, f"study: most {least} to {most}", upright=True),
            Guide(most, "", upright=True),
        ),
    )


def _panel(data: Data, buffer: float) -> Panel:
    lines = []
    for beside in ("bbr", "cubic"):
        x = np.sort(times.of(data, beside, buffer))
        y = np.arange(1, len(x) + 1) / len(x)
        lines.append(Line(f"beside {name(beside)}", x, y, beside, kind="step"))
    return Panel(
        "Completion time (s)",
        "Part of the flows",
        tuple(lines),
        title=f"{buffer:g} BDP",
        x_range=(0, None),
        y_range=(0, 1.02),
        guides=(Guide(FILTER * round_s(data, buffer), "10 RTT of BBR", upright=True),),
    )


def judge(data: Data) -> list[Finding]:
    """Flows take about ten round trips, with losses beside BBR and none beside CUBIC."""
    checks = [ten_rounds(data), losses(data), retransmissions_beside_cubic(data)]
    return [Finding("mixed/fig14", checks)]


def round_s(data: Data, buffer: float) -> float:
    """The mean RTT of the large BBR flow in a buffer, in seconds."""
    rows = data["rtt"].filter((pl.col("beside") == "bbr") & (pl.col("buffer_bdp") == buffer))
    return float(np.mean(frames.column(rows, "rtt_ms"))) / 1000


def ten_rounds(data: Data) -> Check:
    """The median beside BBR at 2 BDP, against that at 1 BDP."""
    told = "; ".join(
        f"{interval(data, per_trial(data, partial(_rounds, buffer=buffer)), 3, ' RTT')} at "
        f"{buffer:g} BDP"
        for buffer in (1.0, 2.0)
    )
    return judge_bounds(
        data,
        "mixed/fig14",
        "ten-rounds",
        "The completion times at 2 BDP are much closer to ten round trips than at 1 BDP.",
        "Median completion time beside BBR in mean RTTs of the large BBR flow, whose bandwidth "
        "filter holds ten of them: how far it is from ten at 2 BDP over how far at 1 BDP.",
        ratios(*(per_trial(data, partial(_from_ten, buffer=buffer)) for buffer in (2.0, 1.0))),
        f" ({told})",
    )


def _from_ten(data: Data, buffer: float) -> float:
    return abs(_rounds(data, buffer) - FILTER)


def _rounds(data: Data, buffer: float) -> float:
    """The median completion time beside BBR, in mean RTTs of the large flow."""
    return float(np.median(times.of(data, "bbr", buffer))) / round_s(data, buffer)


def _again(data: Data, beside: str) -> pl.DataFrame:
    return data["times"].filter((pl.col("beside") == beside) & (pl.col("buffer_bdp") == 2.0))


def losses(data: Data) -> Check:
    """Retransmissions of each flow beside BBR."""
    counts = frames.column(_again(data, "bbr"), "retransmitted")
    low, middle, high = np.quantile(counts, [0.25, 0.5, 0.75])

    def inside(one: Data) -> float:
        mine = frames.column(_again(one, "bbr"), "retransmitted")
        least, most = MOST_HAVE
        return 100 * float(np.mean((mine >= least) & (mine <= most)))

    return judge_bounds(
        data,
        "mixed/fig14",
        "losses",
        "Most 100 KB flows beside BBR see 11 to 15 retransmissions at 2 BDP.",
        "The part of the flows that have 11 to 15.",
        per_trial(data, inside),
        f" (quartiles {low:.0f}, {middle:.0f}, {high:.0f})",
    )


def retransmissions_beside_cubic(data: Data) -> Check:
    """Retransmissions of the third and later flows beside CUBIC."""

    def hit(one: Data) -> float:
        rows = _again(one, "cubic").filter(pl.col("instance") >= 2)
        return 100 * float(np.mean(frames.column(rows, "retransmitted") > 0))

    return judge_bounds(
        data,
        "mixed/fig14",
        "spared",
        "Beside CUBIC none but the first two see any.",
        "Part of the flows from the third on with a retransmission.",
        per_trial(data, hit),
    )
