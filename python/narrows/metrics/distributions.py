"""Means and quantiles of weighted values: round-trip times, queue lengths.

A run with a hundred flows has as many distributions, so the table is split once.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narrows import _native
from narrows.columns import Columns, Table, columns
from narrows.late import pl


def distribution(table: pl.DataFrame, kind: str, ident: int) -> pl.DataFrame:
    """Returns the `value` and `weight` rows of one distribution, ascending by value.

    `table` is the `distributions` table; `kind` is "rtt_ms" or "one_way_ms" with a flow's id, or
    "queue_bytes" with a link's.
    """
    rows = table.filter((pl.col("kind") == kind) & (pl.col("id") == ident))
    return rows.select("value", "weight").sort("value")


def distributions(table: Table) -> dict[tuple[str, int], Columns]:
    """Returns every distribution by its kind and id, ascending by value."""
    found: dict[tuple[str, int], list[NDArray[np.intp]]] = {}
    rows = columns(table)
    kinds, idents = rows["kind"], rows["id"]
    for first, after in pairwise(_borders(kinds, idents)):
        of = (str(kinds[first]), int(idents[first]))
        found.setdefault(of, []).append(np.arange(first, after))
    parts = {of: rows.take(np.concatenate(spans)) for of, spans in found.items()}
    return {of: part if _ascends(part) else part.sort_by("value") for of, part in parts.items()}


def _borders(*columns: Any) -> list[int]:  # noqa: ANN401 (arrays)
    """The starts of runs of rows that are equal in all columns, and the end of the last."""
    count = len(columns[0])
    changes = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return [0, *(np.flatnonzero(changes) + 1).tolist(), count] if count else []


def _ascends(rows: Columns) -> bool:
    values = rows["value"]
    return bool((values[1:] >= values[:-1]).all())


def weighted_mean(rows: Table) -> float | None:
    """Returns the mean of `value` weighted by `weight`; None without weights."""
    (mean,) = _native.weighted_statistics(*_arrays(columns(rows)), ["mean"])
    return mean


def weighted_quantile(rows: Table, share: float) -> float | None:
    """Returns the smallest value that at least `share` (0 to 1) of the weight doesn't exceed.

    `rows` ascend by value. None without weights.
    """
    return _native.weighted_quantile(*_arrays(columns(rows)), share)


def statistics(rows: Table, names: Iterable[str], scale: float = 1.0) -> dict[str, Any]:
    """The named statistics of a distribution, times `scale`; None where it is empty.

    A name is "min", "mean", "max", or "p" with a percentile: "p95".
    """
    wanted = list(names)
    found = _native.weighted_statistics(*_arrays(columns(rows)), wanted)
    scaled = (None if value is None else value * scale for value in found)
    return dict(zip(wanted, scaled, strict=True))


def _arrays(rows: Columns) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values, weights = (np.ascontiguousarray(rows[name], float) for name in ("value", "weight"))
    return values, weights
