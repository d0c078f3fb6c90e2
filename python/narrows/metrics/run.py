"""Hands a run to the native module, which computes its metrics."""

from __future__ import annotations

from narrows import _native
from narrows.columns import Tables, source
from narrows.spec.scenario import Scenario

_TABLES = ("flow_samples", "queue_samples", "completions", "distributions")


def run_metrics(scenario: Scenario, tables: Tables, end_s: float) -> _native.RunMetrics:
    """Returns the metrics of a run that ended at `end_s` seconds, each computed on demand."""
    has_workload = any(flow["workload"] is not None for flow in scenario["flows"])
    names = (*_TABLES, "internals") if has_workload else _TABLES
    known = {name: source(tables[name]) for name in names if name in tables}
    return _native.RunMetrics(scenario, known, end_s)
