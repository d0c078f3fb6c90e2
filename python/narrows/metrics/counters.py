"""Cumulative counters of the sample tables, over a span of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from narrows.columns import Table, columns

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_SLACK_S = 1e-9
"""Sample times are whole nanoseconds; as floats they may be slightly off."""

Grown = dict[int, dict[str, int | None]]
"""The growth of each counter, by key."""


class Counters:
    """The counters of a table of samples, partitioned once by `key`: the flow or the link."""

    def __init__(self, table: Table, key: str) -> None:
        self._samples = samples = columns(table)
        time_s, keys = samples["time_s"], samples[key]
        self._order = np.lexsort((time_s, keys))
        self._time_s, keys = time_s[self._order], keys[self._order]
        changes = np.flatnonzero(keys[1:] != keys[:-1]) + 1
        first = [0, *changes.tolist()] if len(keys) else []
        self._spans = dict(
            zip(keys[first].tolist(), zip(first, [*first[1:], len(keys)], strict=True), strict=True)
        )

    def growth(self, names: Sequence[str], start_s: float, end_s: float) -> Grown:
        """The growth of each counter in `names` from `start_s` to `end_s`, for every key.

        A counter counts as it stood at the last row up to each time (zero before
        the first), so both ends should be sampled instants, as the warm-up and the
        end of a run are. Nulls stay nulls: a back end couldn't know. Keys ascend; those
        without a row up to the end are left out.
        """
        found: Grown = {}
        counters = {name: self._samples[name] for name in names}
        for key, (first, after) in self._spans.items():
            times = (end_s + _SLACK_S, start_s + _SLACK_S)
            rows = np.searchsorted(self._time_s[first:after], times, side="right") - 1
            late, early = rows.tolist()
            if late >= 0:
                end, start = self._row(first, late), self._row(first, early)
                found[key] = {name: _grown(counters[name], end, start) for name in names}
        return found

    def _row(self, first: int, index: int) -> int | None:
        return int(self._order[first + index]) if index >= 0 else None


def _grown(counter: NDArray[Any], late: int | None, early: int | None) -> int | None:
    end = 0 if late is None else counter[late]
    start = 0 if early is None else counter[early]
    return None if np.isnan(end) or np.isnan(start) else int(end) - int(start)


def growth(
    samples: pl.DataFrame, key: str, columns: Sequence[str], start_s: float, end_s: float
) -> pl.DataFrame:
    """The growth of each counter in `columns` from `start_s` to `end_s`, for every `key`.

    A counter has its value in the last row up to each time (zero before the first), so both ends
    should be sampled instants, as the warm-up and the end of a run are. Nulls stay nulls. Gives
    `key` and the columns, ascending by key.
    """
    import polars as pl

    found = Counters(samples, key).growth(columns, start_s, end_s)
    kinds = {key: samples.schema[key], **dict.fromkeys(columns, pl.Int64())}
    rows = [{key: number, **grown} for number, grown in found.items()]
    return pl.DataFrame(rows, schema=kinds)


def total(grown: Iterable[dict[str, int | None]], name: str) -> int | None:
    """The sum of a counter's growth over keys; None if there are none or one isn't known."""
    values = [one[name] for one in grown]
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
