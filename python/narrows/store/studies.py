"""The table of a study's runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from narrows.late import pl
from narrows.plan import Grid


def runs_table(cells: Grid, chosen: Mapping[int, int] | None = None) -> pl.DataFrame:
    """Returns every run of the whole study, with a column for each axis.

    `chosen` has the number of trials of each combination if a rule decides it. Values are as
    written; an axis of numbers has numbers.
    """
    runs = list(cells.runs(chosen))
    columns: dict[str, list[Any]] = {
        "study": [cells.study.name] * len(runs),
        "cell": [cell.number for cell, _ in runs],
        "trial": [trial.number for _, trial in runs],
        "seed": [trial.seed for _, trial in runs],
        "run": [trial.hash for _, trial in runs],
    }
    kinds: dict[str, Any] = {"seed": pl.UInt64()}
    for axis in cells.study.axes:
        values = [cell.values[axis.place] for cell, _ in runs]
        columns[axis.place], kinds[axis.place] = _column(values)
    return pl.DataFrame(columns, schema_overrides=kinds)


def counts_in(table: pl.DataFrame) -> dict[int, int]:
    """Returns the number of trials of each combination in the table of a study."""
    return dict(table.group_by("cell").len().iter_rows())


def _column(values: list[object]) -> tuple[list[Any], Any]:
    types = {type(value) for value in values}
    if types == {bool}:
        return values, pl.Boolean()
    if types == {int}:
        return values, pl.Int64() if max(map(abs, values)) < 2**63 else pl.UInt64()  # type: ignore[arg-type]
    if types <= {int, float}:
        return [float(str(value)) for value in values], pl.Float64()
    return [str(value) for value in values], pl.String()
