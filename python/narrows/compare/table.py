"""Writes the cells of comparisons to a CSV file, a row for each.

The file has no date and no more digits than are printed, so that a diff shows only changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from narrows.compare.judge import CellComparison, Comparison
from narrows.late import pl
from narrows.metrics import intervals as statistics
from narrows.store.atomic import writing
from narrows.store.cells import harmless_frame

COLUMNS = (
    *("case", "trials", "varied", "quantity", "unit", "flows", "backend", "mean", "sd"),
    *("reference_mean", "reference_sd", "difference", "low", "high", "limit"),
    *("verdict", "more_trials"),
)


def write_cells(made: Sequence[Comparison], path: Path) -> None:
    """Writes every cell to `path` as CSV, and how the cells were made to a JSON file beside it.

    Raises StoreError if that fails.
    """
    rows = [line for comparison in made for line in _lines(comparison)]
    table = harmless_frame(pl.DataFrame(rows, dict.fromkeys(COLUMNS, pl.String), orient="row"))
    made_by = json.dumps(_made_by(made), indent=1) + "\n"
    with writing(path, "a file that can be written"):
        path.write_text(table.write_csv(), encoding="utf-8", newline="\n")
        path.with_suffix(".json").write_text(made_by, encoding="utf-8", newline="\n")


def _lines(comparison: Comparison) -> Iterator[tuple[str | None, ...]]:
    varied = [*(["seed"] * comparison.seeded), *(["path"] * comparison.varied)]
    head = (comparison.name, str(comparison.trials), "+".join(varied))
    for row in comparison.rows:
        quantity, more = row.cell.of, row.more_trials
        yield (
            *(*head, row.cell.quantity, quantity.unit, row.cell.flows, row.backend),
            *_sample(row, row.values),
            *_sample(row, row.reference_values),
            *_difference(row),
            quantity.show(row.limit),
            str(row.verdict),
            None if more is None else str(more),
        )


def _sample(row: CellComparison, values: Sequence[float]) -> tuple[str | None, str | None]:
    if not values:
        return None, None
    show = row.cell.of.show
    around = show(statistics.deviation(values)) if len(values) > 1 else None
    return show(statistics.mean(values)), around


def _difference(row: CellComparison) -> tuple[str | None, str | None, str | None]:
    """Returns the difference of the means, and the ends of its interval."""
    difference, show = row.difference, row.cell.of.show
    low, high = row.interval or (None, None)
    numbers = (None if difference is None else difference.mean, low, high)
    mean, *ends = (None if one is None else show(one) for one in numbers)
    return mean, ends[0], ends[1]


def _made_by(made: Sequence[Comparison]) -> dict[str, Any]:
    """Returns the reference, the engines, the processor time, and the runs that were left out."""
    minutes: dict[str, float] = {}
    for comparison in made:
        for backend, cpu_s in comparison.cpu_s.items():
            minutes[backend] = minutes.get(backend, 0.0) + cpu_s / 60
    return {
        "reference": made[0].reference,
        "profile": made[0].scenario["host"]["profile"],
        "engines": dict(made[0].engines),
        "cpu_min": {backend: round(spent, 1) for backend, spent in minutes.items()},
        "left_out": [f"{one.name}: {run}" for one in made for run in one.left_out],
    }
