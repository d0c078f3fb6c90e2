"""The metrics of a run, which the native module computes, and those of its bottleneck."""

from __future__ import annotations

from typing import Any

from narrows import _native
from narrows.columns import Table, Tables, source
from narrows.spec.scenario import Scenario

_TABLES = ("flow_samples", "queue_samples", "completions", "distributions")


def run_metrics(scenario: Scenario, tables: Tables, end_s: float) -> _native.RunMetrics:
    """Returns the metrics of a run that ended at `end_s` seconds, each computed on demand."""
    has_workload = any(flow["workload"] is not None for flow in scenario["flows"])
    names = (*_TABLES, "internals") if has_workload else _TABLES
    known = {name: source(tables[name]) for name in names if name in tables}
    return _native.RunMetrics(scenario, known, end_s)


def bottleneck_summary(scenario: Scenario, tables: Tables, end_s: float) -> dict[str, Any]:
    """Summarises the bottleneck from the warm-up to the end of the run at `end_s` seconds.

    `loss_rate` is the share of arriving packets that the queue dropped, and `utilization` the share
    of the link's capacity that was used, in IP bits; `drops` and `forwarded` count packets.
    """
    return without_name(run_metrics(scenario, tables, end_s).links()[0])


def queue_bdp(scenario: Scenario, distributions: Table, number: int = 0) -> dict[str, Any]:
    """Returns a link's backlog over time, in bandwidth-delay products of its rate and the path.

    Where the rate or the path's delay changes, their means from the warm-up to the planned end of
    the run count.
    """
    run = run_metrics(scenario, {"distributions": distributions}, 0.0)
    found: dict[str, Any] = run.links()[number]["queue_bdp"]
    return found


def without_name(link: dict[str, Any]) -> dict[str, Any]:
    """Returns the summary of a link without its name."""
    return {key: value for key, value in link.items() if key != "name"}
