"""A sweep as data for its page: axes, combinations with means and intervals, failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from narrows.figures.axes import Axis, axis
from narrows.figures.sweeps.view import interval_of, label_of, numbers, valued_columns
from narrows.metrics.intervals import mean
from narrows.store import Store
from narrows.sweeps.export import frame

FIRST = (
    "utilization", "loss_rate", "queue_mean_ms", "share", "completion_p50_s", "completion_p99_s",
    "jain", "goodput_mbps", "delay_p95_ms", "convergence_s",
)  # fmt: skip
"""The first metrics of a table, if they have values; the later ones for each class."""
MOST_COLUMNS = 8
MOST_CELLS = 5000
"""Combinations on a page."""


@dataclass(frozen=True, slots=True)
class Overview:
    """The contents of a sweep's page.

    A metric of a cell is its mean, or the mean and the ends of its 95 % interval. The page has
    `shown` of all `combinations`.
    """

    name: str
    axes: Sequence[Mapping[str, Any]]
    metrics: Mapping[str, str]
    columns: Sequence[str]
    cells: Sequence[Mapping[str, Any]]
    failures: Sequence[Mapping[str, Any]]
    combinations: int
    runs: int
    stored: int

    @property
    def left_out(self) -> int:
        """Combinations that aren't on the page."""
        return self.combinations - len(self.cells)

    def document(self) -> dict[str, Any]:
        """The document for the page's script."""
        return {
            "axes": list(self.axes),
            "metrics": dict(self.metrics),
            "columns": list(self.columns),
            "cells": list(self.cells),
        }


def overview(
    store: Store, stem: str, record: Mapping[str, Any], pages: Mapping[str, str]
) -> Overview:
    """A study of a store; `pages` are the addresses of pages of runs by their hashes."""
    whole, present = store.study_runs(stem), store.keys()
    name, places = str(record["name"]), list(record["axes"])
    known = frame(_place(store), "summary").filter(pl.col("study") == name)
    known = valued_columns(known)
    metrics = {column: label_of(column) for column in numbers(known) if column not in places}
    varied = [place for place in places if whole[place].n_unique() > 1]
    axes = [axis(place, whole[place].to_list()) for place in varied]
    failed = store.failures()
    values, hashes = _values(known, list(metrics)), set(whole["run"])
    cells = [
        _cell(number, rows, values.get(number, {}), axes, failed, pages)
        for number, rows in list(_by_cell(whole))[:MOST_CELLS]
    ]
    return Overview(
        name,
        [_axis(found) for found in axes],
        metrics,
        _columns(list(metrics)),
        cells,
        [_failure(record) for key, record in failed.items() if key in hashes],
        whole["cell"].n_unique(),
        whole.height,
        len(hashes & present),
    )


def _place(store: Store) -> str:
    return str(store)


def _by_cell(rows: pl.DataFrame) -> Iterator[tuple[int, pl.DataFrame]]:
    for part in rows.partition_by("cell", maintain_order=True):
        yield int(part["cell"][0]), part


def _axis(found: Axis) -> dict[str, Any]:
    return {
        "place": found.place,
        "label": found.label,
        "positions": list(found.positions.values()),
        "words": list(found.words.values()),
        "scale": found.scale,
        "numeric": found.measured,
    }


def _columns(metrics: Sequence[str]) -> list[str]:
    """The first columns of the table."""
    ranked = [
        column
        for name in FIRST
        for column in metrics
        if column == name or (name not in metrics and column.rpartition(".")[2] == name)
    ]
    return ranked[:MOST_COLUMNS]


def _cell(
    number: int,
    runs: pl.DataFrame,
    values: Mapping[str, list[float]],
    axes: Sequence[Axis],
    failed: Mapping[str, Any],
    pages: Mapping[str, str],
) -> dict[str, Any]:
    first = runs.row(0, named=True)
    at = [list(found.positions).index(first[found.place]) for found in axes]
    trials = [
        {"trial": trial, "seed": seed, "run": key[:12], "failed": key in failed}
        | ({"page": pages[key]} if key in pages else {})
        for trial, seed, key in runs.select("trial", "seed", "run").rows()
    ]
    return {"cell": number, "at": at, "values": values, "runs": trials}


def _values(known: pl.DataFrame, metrics: Sequence[str]) -> dict[int, dict[str, list[float]]]:
    """What each combination has of the metrics. Columns leave polars whole, which is quicker."""
    rows: dict[int, list[int]] = {}
    for row, cell in enumerate(known["cell"].to_list()):
        rows.setdefault(int(cell), []).append(row)
    found: dict[int, dict[str, list[float]]] = {cell: {} for cell in rows}
    for metric in metrics:
        column = known[metric].to_list()
        for cell, its in rows.items():
            values = [float(column[row]) for row in its if column[row] is not None]
            if values:
                found[cell][metric] = _value(values, metric)
    return found


def _value(values: Sequence[float], metric: str) -> list[float]:
    """The mean, and the ends of its interval if there are several values."""
    ends = interval_of(values, metric) if len(values) > 1 else ()
    return [_short(value) for value in (mean(values), *ends)]


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def _failure(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"cell": record["cell"], "seed": record["seed"], "error": record["error"]}
