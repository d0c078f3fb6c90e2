"""Cumulative counters of the sample tables, over a span of time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl

_SLACK_S = 1e-9
"""Sample times are whole nanoseconds; as floats they may be slightly off."""


def growth(
    samples: pl.DataFrame, key: str, columns: Sequence[str], start_s: float, end_s: float
) -> pl.DataFrame:
    """The growth of each counter in `columns` from `start_s` to `end_s`, for every `key`.

    A counter has its value in the last row up to each time (zero before the first), so both ends
    should be sampled instants, as the warm-up and the end of a run are. Nulls stay nulls. Gives
    `key` and the columns, ascending by key.
    """
    keys, late, early = _standing(samples, key, start_s, end_s)
    kinds = {key: samples.schema[key], **dict.fromkeys(columns, pl.Int64())}
    grown = {key: keys} | {name: _grown(samples[name], late, early) for name in columns}
    return pl.DataFrame(grown, schema=kinds)


def _grown(counter: pl.Series, late: Sequence[int], early: Sequence[int]) -> list[int | None]:
    """Null only where a back end couldn't know; a flow that hadn't started had zero."""
    found: list[int | None] = []
    for after, before in zip(late, early, strict=True):
        end, start = counter[after], counter[before] if before >= 0 else 0
        found.append(None if end is None or start is None else int(end) - int(start))
    return found


def _standing(
    samples: pl.DataFrame, key: str, start_s: float, end_s: float
) -> tuple[list[int], list[int], list[int]]:
    """The keys, ascending, and the rows with their counters at the end and at the start.

    -1 means before the first row. A query would cost more than the rows of a short run.
    """
    time_s, keys = samples["time_s"].to_numpy(), samples[key].to_numpy()
    order = np.lexsort((time_s, keys))
    time_s, keys = time_s[order], keys[order]
    borders = np.flatnonzero(np.diff(keys, prepend=keys[:1] + 1, append=keys[-1:] + 1))
    found: tuple[list[int], list[int], list[int]] = ([], [], [])
    for first, after in pairwise(borders.tolist()):
        inner = time_s[first:after]
        late, early = (
            first + int(np.searchsorted(inner, at_s + _SLACK_S, side="right")) - 1
            for at_s in (end_s, start_s)
        )
        if late >= first:
            row = int(order[early]) if early >= first else -1
            for values, value in zip(found, (int(keys[first]), int(order[late]), row), strict=True):
                values.append(value)
    return found
