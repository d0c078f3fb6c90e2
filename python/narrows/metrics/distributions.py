"""Means and quantiles of weighted values: round-trip times, queue lengths.

A run with a hundred flows has as many distributions, so the table is split once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from narrows.columns import Columns, Table, columns, total

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray


def distribution(table: pl.DataFrame, kind: str, ident: int) -> pl.DataFrame:
    """The `value` and `weight` rows of one distribution, ascending by value.

    `table` is the `distributions` table; `kind` is "rtt_ms" or "one_way_ms" with a
    flow's id, or "queue_bytes" with a link's.
    """
    import polars as pl

    rows = table.filter((pl.col("kind") == kind) & (pl.col("id") == ident))
    return rows.select("value", "weight").sort("value")


def distributions(table: Table) -> dict[tuple[str, int], Columns]:
    """Every distribution by its kind and id, ascending by value."""
    found: dict[tuple[str, int], list[NDArray[np.intp]]] = {}
    rows = columns(table)
    kinds, idents = rows["kind"], rows["id"]
    for first, after in pairwise(_borders(kinds, idents)):
        of = (str(kinds[first]), int(idents[first]))
        found.setdefault(of, []).append(np.arange(first, after))
    parts = {of: rows.take(np.concatenate(spans)) for of, spans in found.items()}
    return {of: part if _ascends(part) else part.sorted("value") for of, part in parts.items()}


def _borders(*columns: Any) -> list[int]:  # noqa: ANN401 (arrays)
    """The starts of runs of rows that are equal in all columns, and the end of the last."""
    count = len(columns[0])
    changes = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return [0, *(np.flatnonzero(changes) + 1).tolist(), count] if count else []


def _ascends(rows: Columns) -> bool:
    values = rows["value"]
    return bool((values[1:] >= values[:-1]).all())


class _Weighted:
    """The rows of a distribution, ascending by value, with intermediate values for statistics."""

    def __init__(self, rows: Columns) -> None:
        self.values, self.weights = rows["value"], rows["weight"]
        self.total = total(self.weights)
        self.reached = self.weights.cumsum()

    def mean(self) -> float | None:
        return total(self.values * self.weights) / self.total if self.total else None

    def quantile(self, share: float) -> float | None:
        if not self.total:
            return None
        row = np.searchsorted(self.reached, share * self.total * (1 - 1e-12))
        return float(self.values[int(row)])

    def statistic(self, name: str) -> float | None:
        if not len(self.values):
            return None
        if name == "mean":
            return self.mean()
        if name in ("min", "max"):
            return float(self.values[0 if name == "min" else -1])
        return self.quantile(int(name.removeprefix("p")) / 100)


def weighted_mean(rows: Table) -> float | None:
    """The mean of `value` weighted by `weight`; None without any weight."""
    return _Weighted(columns(rows)).mean()


def weighted_quantile(rows: Table, share: float) -> float | None:
    """The smallest value that at least `share` (0 to 1) of the weight doesn't exceed.

    `rows` ascend by value. None without any weight.
    """
    return _Weighted(columns(rows)).quantile(share)


EXACT: Mapping[str, Mapping[str, str]] = {
    "rtt_ms": {"mean": "rtt_mean_ms", "min": "rtt_min_ms", "max": "rtt_max_ms"},
    "one_way_ms": {"min": "one_way_min_ms", "max": "one_way_max_ms"},
    "queue_bytes": {
        "mean": "queue_mean_bytes",
        "min": "queue_min_bytes",
        "max": "queue_max_bytes",
    },
}
"""The kinds of the rows with a distribution's exact mean, minimum and maximum, which its buckets
round."""


def summarised(
    parts: Mapping[tuple[str, int], Columns],
    of: tuple[str, int],
    names: Iterable[str],
    scale: float = 1.0,
) -> dict[str, Any]:
    """The named statistics of one of the distributions from `distributions`.

    Like `statistics`, but with the exact mean, minimum and maximum if the back end knows them, and
    all others between these two.
    """
    rows = parts.get(of)
    if rows is None:
        return dict.fromkeys(names)
    kind, ident = of
    known = {name: parts.get((row, ident)) for name, row in EXACT[kind].items()}
    exact = {name: float(row["value"][0]) * scale for name, row in known.items() if row is not None}
    found = statistics(rows, names, scale)
    return {name: exact.get(name, _within(value, exact)) for name, value in found.items()}


def _within(value: float | None, exact: Mapping[str, float]) -> float | None:
    """A statistic within the exact extremes, which buckets may round beyond."""
    if value is None:
        return None
    above = max(value, exact.get("min", value))
    return min(above, exact.get("max", above))


def statistics(rows: Table, names: Iterable[str], scale: float = 1.0) -> dict[str, Any]:
    """The named statistics of a distribution, times `scale`; None where it is empty.

    A name is "min", "mean", "max", or "p" with a percentile: "p95".
    """
    found = columns(rows)
    heavy = found["weight"] > 0
    weighted = _Weighted(found if heavy.all() else found.where(heavy))
    return {name: _scaled(weighted.statistic(name), scale) for name in names}


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale
