"""narrows from Python: scenarios as classes, results as polars frames and figures."""

from __future__ import annotations

from narrows.api import distributions, impairments, queues, services, workloads
from narrows.api.results import RunResult, SweepResult, open_result
from narrows.api.running import run, sweep
from narrows.api.simulation import Simulation
from narrows.api.tables import (
    Change,
    Condition,
    Expect,
    Flow,
    Host,
    Link,
    Path,
    Reverse,
    Run,
    Scenario,
)
from narrows.api.writing import Range, Sweep

__all__ = [
    "Change",
    "Condition",
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
    "Simulation",
    "Sweep",
    "SweepResult",
    "distributions",
    "impairments",
    "open_result",
    "queues",
    "run",
    "services",
    "sweep",
    "workloads",
]
