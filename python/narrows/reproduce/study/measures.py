"""Measures of a run: numbers as in `[[check]]`, and functions of the study's author."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narrows.metrics.checks import RunMeasurements
from narrows.metrics.series import RunSeries
from narrows.reproduce import run_frames
from narrows.reproduce.study import own_measures
from narrows.spec import ResultCheck, SpecificationText, load
from narrows.store import StoredTrial
from narrows.store.maintenance import classes

SHOWN = ("label", "unit", "times", "python")
"""The keys of a measure that aren't those of `[[check]]`."""


def value(document: str, measure: Mapping[str, Any], trial: StoredTrial) -> float | None:
    """Returns the value of a measure of a document's study in a run; None if the run has none."""
    if "python" in measure:
        found = own_measures.call(document, measure["python"], trial)
    else:
        found = _take(measure, trial)
    return None if found is None else found * measure.get("times", 1)


def _take(measure: Mapping[str, Any], trial: StoredTrial) -> float | None:
    """Computes a number as `[[check]]` does; None for a metric or an owner that the run lacks."""
    asked = as_check(measure)
    row = run_frames.summary(trial).row(0, named=True)
    series = RunSeries(
        trial.scenario, classes(trial.scenario, trial.tables["flows"]), trial.columns
    )
    if asked.taken is not None and asked.taken.condition.owner not in _owners(trial):
        return None
    return RunMeasurements(row, lambda: series).value(asked).value


def as_check(measure: Mapping[str, Any]) -> ResultCheck:
    """Returns a measure as `[[check]]` reads it; raises InputError if it can't."""
    entry = {key: part for key, part in measure.items() if key not in SHOWN}
    bounded = {
        "name": "measure",
        "path": {"rate": "1mbit", "rtt": "1ms", "buffer": "10pkt"},
        "flows": [{"cca": "reno"}],
        "check": [{**entry, "at_least": 0}],
    }
    return load(SpecificationText.document(bounded)).spec.checks[0]


def _owners(trial: StoredTrial) -> set[str]:
    names = {str(flow["name"]) for flow in trial.scenario["flows"]}
    return names | set(classes(trial.scenario, trial.tables["flows"])) | {"bottleneck"}
