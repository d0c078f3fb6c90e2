"""Means and quantiles of weighted values: round-trip times, queue lengths.

A run with a hundred flows has as many distributions. Each query of a frame costs more than the rows
of one, so the table is split once, and later steps work on columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl


def distribution(table: pl.DataFrame, kind: str, ident: int) -> pl.DataFrame:
    """The `value` and `weight` rows of one distribution, ascending by value.

    `table` is the `distributions` table; `kind` is "rtt_ms" with a flow's id or
    "queue_bytes" with a link's.
    """
    rows = table.filter((pl.col("kind") == kind) & (pl.col("id") == ident))
    return rows.select("value", "weight").sort("value")


def distributions(table: pl.DataFrame) -> dict[tuple[str, int], pl.DataFrame]:
    """Every distribution by its kind and id, ascending by value."""
    kinds, idents, parts = table["kind"], table["id"], dict[tuple[str, int], pl.DataFrame]()
    for first, after in pairwise(_borders(kinds.to_numpy(), idents.to_numpy())):
        of, part = (kinds[first], idents[first]), table.slice(first, after - first)
        parts[of] = part if of not in parts else pl.concat([parts[of], part])
    return {of: part if _ascends(part) else part.sort("value") for of, part in parts.items()}


def _borders(*columns: Any) -> list[int]:  # noqa: ANN401 (arrays)
    """Where stretches of rows begin that have the same in all columns, and where the last ends."""
    count = len(columns[0])
    changes = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return [0, *(np.flatnonzero(changes) + 1).tolist(), count] if count else []


def _ascends(rows: pl.DataFrame) -> bool:
    return rows.height < 2 or rows["value"].is_sorted()


def weighted_mean(rows: pl.DataFrame) -> float | None:
    """The mean of `value` weighted by `weight`; None without any weight."""
    total = _total(rows["weight"])
    return _total(rows["value"] * rows["weight"]) / total if total else None


def weighted_quantile(rows: pl.DataFrame, share: float) -> float | None:
    """The smallest value that at least `share` (0 to 1) of the weight doesn't exceed.

    `rows` ascend by value. None without any weight.
    """
    total = _total(rows["weight"])
    if not total:
        return None
    reached = np.searchsorted(rows["weight"].to_numpy().cumsum(), share * total * (1 - 1e-12))
    return float(rows["value"][int(reached)])


EXTREMES = {
    "rtt_ms": ("rtt_min_ms", "rtt_max_ms"),
    "queue_bytes": ("queue_min_bytes", "queue_max_bytes"),
}
"""The kinds of the rows with a distribution's exact minimum and maximum, which its buckets
round."""


def summarised(
    parts: Mapping[tuple[str, int], pl.DataFrame],
    of: tuple[str, int],
    names: Iterable[str],
    scale: float = 1.0,
) -> dict[str, Any]:
    """The named statistics of one of the distributions from `distributions`.

    Like `statistics`, but with the exact minimum and maximum if the back end knows them.
    """
    rows = parts.get(of)
    if rows is None:
        return dict.fromkeys(names)
    kind, ident = of
    found = statistics(rows, names, scale)
    for name, extreme in zip(("min", "max"), EXTREMES[kind], strict=True):
        exact = parts.get((extreme, ident))
        if name in found and exact is not None:
            found[name] = float(exact["value"][0]) * scale
    return found


def statistics(rows: pl.DataFrame, names: Iterable[str], scale: float = 1.0) -> dict[str, Any]:
    """The named statistics of a distribution, times `scale`; None where it is empty.

    A name is "min", "mean", "max", or "p" with a percentile: "p95".
    """
    heavy = rows["weight"] > 0
    rows = rows if heavy.all() else rows.filter(heavy)
    return {name: _scaled(_statistic(rows, name), scale) for name in names}


def _statistic(rows: pl.DataFrame, name: str) -> float | None:
    if rows.is_empty():
        return None
    if name == "mean":
        return weighted_mean(rows)
    if name in ("min", "max"):
        return float(rows["value"][0 if name == "min" else -1])
    return weighted_quantile(rows, int(name.removeprefix("p")) / 100)


def _total(values: pl.Series) -> float:
    return float(values.cast(pl.Float64).sum())


def _scaled(value: float | None, scale: float) -> float | None:
    return None if value is None else value * scale
