"""Judges a sweep's checks, and its rule for enough trials, by the stored runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from narrows.late import pl
from narrows.metrics.checks import (
    Combination,
    CombinationOutcome,
    RunMeasurements,
    applicable,
    column_in,
    judge_all,
    narrow,
)
from narrows.metrics.headings import bound_in_unit
from narrows.metrics.stored import StoreMeasurements
from narrows.plan import Cell, Grid
from narrows.spec.spec import Until
from narrows.store import Store
from narrows.sweeps.polars_memory import load_polars


def with_columns(grid: Grid) -> Grid:
    """Returns the grid with columns in place of headings in its checks and its rule.

    Raises InputError for a metric that no combination has.
    """
    until = grid.study.until
    if not grid.checks and until is None:
        return grid  # without waiting for polars to load
    load_polars()
    cases = [_case(cell) for cell in grid.cells]
    made = replace(grid, checks=applicable(grid.checks, cases))
    if until is None:
        return made
    named = _of_column(until, column_in(until.metric, "sweep.until.metric", cases))
    return replace(made, study=replace(grid.study, until=named))


def _of_column(until: Until, column: str) -> Until:
    """Returns the rule for a metric's column, with its limit in the column's unit."""
    if until.relative:
        return replace(until, metric=column)
    within = bound_in_unit(until.within, until.metric, column, "sweep.until.within")
    return replace(until, metric=column, within=within)


def outcomes(grid: Grid, cells: Sequence[Cell], store: Store) -> list[CombinationOutcome]:
    """Returns the outcome of every check in every combination, by the stored runs."""
    if not grid.checks:
        return []
    wanted, found = {cell.number for cell in cells}, StoreMeasurements(store)
    runs: dict[int, list[RunMeasurements]] = {}
    for cell, trial in grid.runs(counts(grid, store)):
        measured = found.of(cell.plan, trial) if cell.number in wanted else None
        if measured is not None:
            runs.setdefault(cell.number, []).append(measured)
    return list(judge_all(grid.checks, [_case(cell) for cell in cells], runs))


def counts(grid: Grid, store: Store) -> dict[int, int]:
    """Returns the number of trials of each combination for which the stored runs suffice.

    It is the smallest number whose interval is narrow enough, and at least the number that always
    runs. If no interval is narrow enough, it is the number of trials stored without a gap. So it
    doesn't depend on the order of the runs.
    """
    until = grid.study.until
    if until is None:
        return {cell.number: cell.least for cell in grid.cells}
    values = _values(store.rows("summary"), until.metric)
    return {cell.number: _count(cell, grid, values) for cell in grid.cells}


def wide(grid: Grid, cells: Sequence[Cell], store: Store) -> list[tuple[Cell, int]]:
    """Returns the combinations that need more trials, with their current number.

    Combinations without the metric, and those with a failed run, need no more.
    """
    until = grid.study.until
    if until is None:
        return []
    found = []
    values, chosen = _values(store.rows("summary"), until.metric), counts(grid, store)
    for cell in cells:
        count = chosen[cell.number]
        known = _stored_values(cell, count, values)
        whole = known is not None and len(known) == count < len(cell.plan.trials)
        if known and whole and not _narrow(known, grid):
            found.append((cell, count))
    return found


def _count(cell: Cell, grid: Grid, values: Mapping[str, float | None]) -> int:
    for count in range(cell.least, len(cell.plan.trials) + 1):
        known = _stored_values(cell, count, values)
        if known is None:
            return max(count - 1, cell.least)
        if len(known) < count or _narrow(known, grid):
            return count
    return len(cell.plan.trials)


def _narrow(known: Sequence[float], grid: Grid) -> bool:
    until = grid.study.until
    return until is None or narrow(known, until.within, until.relative)


def _stored_values(
    cell: Cell, count: int, values: Mapping[str, float | None]
) -> list[float] | None:
    """Returns the metric of the first trials; None if one isn't stored."""
    keys = [trial.hash for trial in cell.plan.trials[:count]]
    if any(key not in values for key in keys):
        return None
    return [value for key in keys if (value := values[key]) is not None]


def _values(summary: pl.DataFrame, metric: str) -> dict[str, float | None]:
    if metric not in summary.columns:
        return dict.fromkeys(summary["run"].to_list())
    return dict(zip(summary["run"].to_list(), summary[metric].to_list(), strict=True))


def _case(cell: Cell) -> Combination:
    return Combination.of(cell.plan, str(cell), cell.values, cell.number)
