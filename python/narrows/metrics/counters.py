"""Cumulative counters of the sample tables, over a span of time."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

_SLACK_S = 1e-9
"""Sample times are whole nanoseconds; as floats they may be a little off."""


def growth(
    samples: pl.DataFrame, key: str, columns: Sequence[str], start_s: float, end_s: float
) -> pl.DataFrame:
    """How much each counter in `columns` grew from `start_s` to `end_s`, for every `key`.

    A counter counts as it stood at the last row up to each time (zero before
    the first), so both ends should be sampled instants, as the warm-up and the
    end of a run are. Nulls stay nulls. Gives `key` and the columns, ascending
    by key.
    """
    early = _standing(samples, key, columns, start_s)
    late = _standing(samples, key, columns, end_s)
    both = late.join(early, on=key, how="left", suffix="_before")
    return both.select(key, *(_difference(name) for name in columns)).sort(key)


def _standing(samples: pl.DataFrame, key: str, columns: Sequence[str], at_s: float) -> pl.DataFrame:
    rows = samples.filter(pl.col("time_s") <= at_s + _SLACK_S).sort("time_s")
    last = rows.group_by(key, maintain_order=True).agg(pl.col(name).last() for name in columns)
    return last.with_columns(pl.lit(True).alias("seen"))


def _difference(name: str) -> pl.Expr:
    """Null only where a back end couldn't know; a flow that wasn't there yet had zero."""
    before = pl.when(pl.col("seen_before").is_null()).then(0).otherwise(pl.col(f"{name}_before"))
    return (pl.col(name).cast(pl.Int64) - before.cast(pl.Int64)).alias(name)
