"""The cells of comparisons as a table in a file, a line for each.

The file has no date and the digits that are printed, so that a change shows what changed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from narrows.compare.judge import Comparison, Row
from narrows.errors import StoreError
from narrows.metrics import intervals as statistics
from narrows.store.cells import harmless_frame

COLUMNS = (
    *("case", "trials", "varied", "quantity", "unit", "flows", "backend", "mean", "sd"),
    *("reference_mean", "reference_sd", "difference", "low", "high", "limit"),
    *("verdict", "more_trials"),
)


def write_cells(made: Sequence[Comparison], path: Path) -> None:
    """Writes every cell to `path` as CSV, and beside it, as JSON, what made them.

    Raises StoreError if that fails.
    """
    rows = [line for comparison in made for line in _lines(comparison)]
    table = harmless_frame(pl.DataFrame(rows, dict.fromkeys(COLUMNS, pl.String), orient="row"))
    made_by = json.dumps(_made_by(made), indent=1) + "\n"
    try:
        path.write_text(table.write_csv(), encoding="utf-8", newline="\n")
        path.with_suffix(".json").write_text(made_by, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError.at(str(path), reason, "a file that can be written") from error


def _lines(comparison: Comparison) -> Iterator[tuple[str | None, ...]]:
    varied = [*(["seed"] * comparison.seeded), *(["path"] * comparison.varied)]
    head = (comparison.name, str(comparison.trials), "+".join(varied))
    for row in comparison.rows:
        quantity, more = row.cell.of, row.more_trials
        yield (
            *(*head, row.cell.quantity, quantity.unit, row.cell.flows, row.backend),
            *_sample(row, row.values),
            *_sample(row, row.reference),
            *_apart(row),
            quantity.show(row.limit),
            str(row.verdict),
            None if more is None else str(more),
        )


def _sample(row: Row, values: Sequence[float]) -> tuple[str | None, str | None]:
    if not values:
        return None, None
    show = row.cell.of.show
    return show(statistics.mean(values)), show(statistics.deviation(values))


def _apart(row: Row) -> tuple[str | None, str | None, str | None]:
    """The difference of the means, and the ends of its interval."""
    apart, show = row.apart, row.cell.of.show
    if apart is None:
        return None, None, None
    if not math.isfinite(apart.half_width):
        return show(apart.mean), None, None
    ends = (apart.mean - apart.half_width, apart.mean + apart.half_width)
    return show(apart.mean), show(ends[0]), show(ends[1])


def _made_by(made: Sequence[Comparison]) -> dict[str, Any]:
    """The reference, the engines, the processor time, and the runs that were left out."""
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
