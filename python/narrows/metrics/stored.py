"""Reads the finished runs of a store for checks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Any

from narrows.metrics.checks import RunMeasurements
from narrows.metrics.series import RunSeries
from narrows.plan import Plan, Trial
from narrows.store import Store
from narrows.store.stored_run import run_tables


class StoreMeasurements:
    """The runs in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of(self, plan: Plan, trial: Trial) -> RunMeasurements | None:
        """Returns a run; None if it isn't there."""
        row = self._summary.get(trial.hash)
        if row is None:
            return None

        @cache
        def series() -> RunSeries:
            return RunSeries(trial.scenario, plan.groups, run_tables(self._store, trial.hash))

        return RunMeasurements(row, series)

    @cached_property
    def _summary(self) -> dict[str, Mapping[str, Any]]:
        summary = self._store.rows("summary")
        return {str(row["run"]): row for row in summary.iter_rows(named=True)}
