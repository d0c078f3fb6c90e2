"""narrows from Python: scenarios as classes, results as polars frames and figures."""

from __future__ import annotations

from narrows.api.results import RunResult, SweepResult, open_result
from narrows.api.running import run, sweep
from narrows.api.tables import Expect, Flow, Host, Link, Path, Reverse, Run, Scenario
from narrows.api.writing import Range, Sweep

__all__ = [
    "Expect",
    "Flow",
    "Host",
    "Link",
    "Path",
    "Range",
    "Reverse",
    "Run",
    "RunResult",
    "Scenario",
    "Sweep",
    "SweepResult",
    "open_result",
    "run",
    "sweep",
]
