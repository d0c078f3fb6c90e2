"""How long flows take to reach a fair share, and to keep it.

RFC 5166 counts the time to near-fair shares among the properties of a control (section 2.3,
"Fairness and Convergence"); here it is measured on a complete run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from narrows.columns import Table, columns
from narrows.metrics.windows import edges, increments_by_key
from narrows.spec.scenario import Scenario

WINDOW_S = 1.0
LEVEL = 0.9
HOLD_S = 5.0
_SLACK_S = 1e-6


def convergence_s(
    flow_samples: Table,
    flows: Sequence[int],
    begin_s: float,
    end_s: float,
    *,
    window_s: float = WINDOW_S,
    level: float = LEVEL,
    hold_s: float = HOLD_S,
) -> float | None:
    """Seconds from `begin_s` until the flows share fairly for the first time.

    That is the start of the first `hold_s` seconds in which Jain's index of the payload received by
    the flows is at least `level` in every window of `window_s`. None if there are none before
    `end_s`, with fewer than two flows, if rows are rarer than windows, or if the back end doesn't
    count. Windows begin at `begin_s`.
    """
    span_s = end_s - begin_s
    need = max(round(hold_s / window_s), 1)
    if len(flows) < 2 or span_s < need * window_s:
        return None
    if _rarest(flow_samples, flows) > window_s:
        return None
    borders = begin_s + edges(span_s, window_s)
    received = increments_by_key(flow_samples, "flow", "received_bytes", borders)
    nothing = np.zeros(len(borders) - 1)
    each = [received.get(flow, nothing) for flow in flows]
    fair = _jain(np.array(each)) >= level
    good = np.convolve(fair.astype(np.int64), np.ones(need, dtype=np.int64), "valid") == need
    return float(borders[int(np.argmax(good))] - begin_s) if good.any() else None


def _rarest(flow_samples: Table, flows: Sequence[int]) -> float:
    """Returns the longest time in s between two rows of a flow.

    Rarer rows don't show what a flow received in a window.
    """
    longest = 0.0
    for part in columns(flow_samples).parts():
        for flow in flows:
            times = part["time_s"][part["flow"] == flow]
            if len(times) > 1:
                longest = max(longest, float(np.diff(times).max(initial=0.0)))
    return longest - _SLACK_S


def of_run(scenario: Scenario, flow_samples: Table, end_s: float) -> float | None:
    """Returns the convergence time of a run's endless flows, from the start of the last one on.

    Flows in the reverse direction share another link, and don't count.
    """
    endless = [
        (ident, flow["start_ns"] / 1e9)
        for ident, flow in enumerate(scenario["flows"])
        if flow["size_bytes"] is None and not flow.get("reverse")
    ]
    parts = columns(flow_samples).parts()
    if len(endless) < 2 or any(np.isnan(part.floats("received_bytes")).any() for part in parts):
        return None
    stops = [f["stop_ns"] / 1e9 for f in scenario["flows"] if f["stop_ns"] is not None]
    last = max(start for _, start in endless)
    return convergence_s(flow_samples, [i for i, _ in endless], last, min([end_s, *stops]))


def _jain(grown: Any) -> Any:  # noqa: ANN401 (an array of flows by windows)
    squares = (grown**2).sum(axis=0)
    index = grown.sum(axis=0) ** 2 / np.where(squares > 0, len(grown) * squares, 1.0)
    return np.where(squares > 0, index, 0.0)
