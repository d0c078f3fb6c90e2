"""What is measured of a run: numbers as `[[expect]]` takes them, and a few that it can't take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from narrows.figures import frames
from narrows.metrics.expect import Measured
from narrows.metrics.series import RunSeries
from narrows.reproduce import run_frames
from narrows.spec import Expect, Written, load

if TYPE_CHECKING:
    from narrows.store import StoredTrial

SHOWN = ("label", "unit", "times", "python")
"""The keys of a measure that aren't those of `[[expect]]`."""


def value(measure: Mapping[str, Any], trial: StoredTrial) -> float | None:
    """The value of a measure in a run; None if the run has none."""
    found = FUNCTIONS[measure["python"]](trial) if "python" in measure else _taken(measure, trial)
    return None if found is None else found * measure.get("times", 1)


def _taken(measure: Mapping[str, Any], trial: StoredTrial) -> float | None:
    """What `[[expect]]` would take; None for a metric or an owner that the run doesn't have."""
    asked = _expect(measure)
    row = run_frames.summary(trial).row(0, named=True)
    series = RunSeries(trial.scenario, _classes(trial), trial.columns)
    if asked.taken is not None and asked.taken.condition.owner not in _owners(trial):
        return None
    return Measured(row, lambda: series).value(asked).value


def _expect(measure: Mapping[str, Any]) -> Expect:
    entry = {key: part for key, part in measure.items() if key not in SHOWN}
    bounded = {
        "name": "measure",
        "path": {"rate": "1mbit", "rtt": "1ms", "buffer": "10pkt"},
        "flows": [{"cca": "reno"}],
        "expect": [{**entry, "at_least": 0}],
    }
    return load(Written.document(bounded)).spec.expect[0]


def _classes(trial: StoredTrial) -> list[str]:
    """The class of each flow."""
    rows = trial.tables["flows"].select("name", "class").unique().iter_rows()
    by_name = {str(name): str(kind) for name, kind in rows}
    return [by_name.get(str(flow["name"]), str(flow["name"])) for flow in trial.scenario["flows"]]


def _owners(trial: StoredTrial) -> set[str]:
    names = {str(flow["name"]) for flow in trial.scenario["flows"]}
    return names | set(_classes(trial)) | {"bottleneck"}


def sum_of_estimates(trial: StoredTrial) -> float | None:
    """The share of samples after the warm-up at which the flows' estimates exceed the rate."""
    estimates = run_frames.internal(trial, "bw_mbps")
    total = estimates.group_by("time_s").agg(pl.col("value").sum())["value"]
    return float((total > frames.rate_mbps(trial.scenario)).mean()) if len(total) else None


FUNCTIONS: dict[str, Callable[[StoredTrial], float | None]] = {
    "sum_of_estimates": sum_of_estimates,
}
"""Measures that `[[expect]]` can't take, by name."""
