"""Finds runs in which repeated transfers become slower or faster: both halves differ.

A transfer belongs to the time in which it was done, with those that began in the warm-up: of those
that begin last, only the fast ones are done by the end of the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from narrows.columns import Floats, Tables
from narrows.metrics.completions import completing
from narrows.metrics.halves import PARTS, RELATIVE
from narrows.metrics.series import COMPLETION, RunSeries
from narrows.spec.measured import capacity_known
from narrows.spec.scenario import Flow, Scenario

REPEATED = ("poisson", "arrivals", "requests", "web")
"""The workloads whose transfers are alike at any time; the chunks of a video, say, aren't."""
FEWEST = 5
"""A class must have completed this many transfers in each part of each half."""
BEYOND = 3.0
"""How far halves are apart, in standard deviations of the medians of the second half's parts.

The first half's own parts differ if a queue fills in it, which is no reason to say less.
"""


def completion_halves(
    scenario: Scenario, groups: Sequence[str], tables: Tables, end_s: float
) -> dict[str, Any]:
    """Returns the completion times of the classes in both halves of the measured time.

    Each is the mean of the medians of the half's parts. `drifting` isn't empty if those of some
    class drift. Empty where nobody can tell: flows come or go, the path changes, or there are few
    transfers.
    """
    if scenario.get("changes") or not capacity_known(scenario):
        return {}
    begin_s = scenario["run"]["warmup_ns"] / 1e9
    if not all(_lasts(flow, begin_s) for flow in scenario["flows"]):
        return {}
    series = RunSeries(scenario, groups, tables)
    borders = np.linspace(begin_s, end_s, 2 * PARTS + 1)
    medians, drifting = {}, False
    for group in completing(scenario, groups):
        members = [
            flow for flow, its in zip(scenario["flows"], groups, strict=True) if its == group
        ]
        if all(map(_repeats, members)):
            [times] = series.read(group, COMPLETION)
            parts = np.digitize(times.time_s + times.values, borders) - 1
            if min(np.count_nonzero(parts == part) for part in range(2 * PARTS)) >= FEWEST:
                own = np.array([np.median(times.values[parts == p]) for p in range(2 * PARTS)])
                drifting |= _drifts(own)
                medians[group] = own.reshape(2, PARTS).mean(axis=1).tolist()
    return {COMPLETION: medians, "drifting": [COMPLETION] if drifting else []} if medians else {}


def _drifts(parts: Floats) -> bool:
    early, late = parts.reshape(2, PARTS)
    means = float(early.mean()), float(late.mean())
    apart = abs(means[1] - means[0])
    return apart >= RELATIVE * max(means) and apart >= BEYOND * float(late.std(ddof=1))


def _repeats(flow: Flow) -> bool:
    work = flow["workload"]
    return flow.get("repeat_gap_ns") is not None if work is None else work["kind"] in REPEATED


def _lasts(flow: Flow, begin_s: float) -> bool:
    """Returns True if a flow does the same in all of the measured time."""
    once = flow["size_bytes"] is not None and not _repeats(flow)
    return not once and flow["start_ns"] / 1e9 <= begin_s and flow["stop_ns"] is None
