"""Figure 9: BBR and CUBIC take turns in a medium buffer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows import figures
from narrows.figures.model import Figure, Guide, Line
from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope

from . import cycle, cycle_checks, testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

BUFFER = 1.75
TRIALS = 5
SHOWN_S = (120.0, 180.0)
TITLE = "BBR and CUBIC over time in a medium buffer"
LOSS_AXIS = (0.0, 6.0)
"""The paper's, in percent."""
RTT_AXIS = (20.0, 120.0)
"""The paper's, in ms."""
AXIS_END = 60.0
"""Where the paper's axis of the throughput ends, in percent of the rate."""
INFLATED_MS = 60.0
"""The RTT that an inaccurate probe finds, by the paper's text."""


def cases(scope: Scope) -> Iterator[Case]:
    """Runs that are long enough to measure a period of 20 to 30 s."""
    yield Case(
        {"kind": "mix"}, testbed.minute(scope, "mix", BUFFER, trials=3 if scope.quick else TRIALS)
    )


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The measurements of each run; of the first also what the picture and `narrows demo` show."""
    run = cycle.Evidence(trial)
    found = {"outcome": cycle.outcome(run), "bursts": cycle.burst_times(run)}
    if trial.number > 1:
        return found
    return {**found, "share": cycle.shares(run), **_records(trial)}


def _records(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    return {
        "flow_samples": trial.tables["flow_samples"],
        "queue_samples": trial.tables["queue_samples"],
        "internals": trial.tables["internals"].filter(pl.col("name") == "min_rtt_ms"),
        "scenario": pl.DataFrame({"json": [json.dumps(trial.scenario)]}),
    }


def draw(data: Data) -> list[Picture]:
    """Throughput, queue, loss and RTT above each other, over a minute."""
    scenario = json.loads(data["scenario"]["json"][0])
    figure = figures.describe("timeline", scenario, data.frames)
    caption = (
        "Throughput, queue, loss and RTT; BBR takes over above half of the rate, CUBIC below it"
    )
    return [Picture("", caption, with_papers_axes(figure.between(*SHOWN_S)))]


def with_papers_axes(figure: Figure) -> Figure:
    """The figure with a title and the paper's axes: of RTT, and of loss unless more is lost."""
    throughput, *others, loss, rtt = figure.panels
    most = max(
        (float(np.nanmax(mark.y)) for mark in loss.marks if isinstance(mark, Line) and len(mark.y)),
        default=0.0,
    )
    if most <= LOSS_AXIS[1]:
        loss = replace(loss, y_range=LOSS_AXIS)
    ends = (Guide(50, "half", below=True),
            Guide(AXIS_END, "paper's axis"))  # fmt: skip
    throughput = replace(throughput, guides=(*throughput.guides, *ends))
    inflated = Guide(INFLATED_MS, "paper: 60 ms")
    rtt = replace(rtt, guides=(*rtt.guides, inflated), y_range=RTT_AXIS)
    return replace(figure, title=TITLE, panels=(throughput, *others, loss, rtt))


def beyond_the_axis(data: Data) -> Check:
    """The highest throughput of a class, and of its flows on average, beside the paper's axis."""
    return testbed.axis_ends(data, AXIS_END, data.values("most"))


def judge(data: Data) -> list[Finding]:
    """The cycle, the RTprop behind it, the bursts of loss."""
    return [
        Finding("panaderia/fig9-cycle", cycle_checks.turns(data), notes=[beyond_the_axis(data)]),
        Finding(
            "panaderia/fig9-rtprop", cycle_checks.rtprop(data), notes=[cycle_checks.meanwhile(data)]
        ),
        Finding("panaderia/fig9-loss", cycle_checks.losses(data)),
    ]
