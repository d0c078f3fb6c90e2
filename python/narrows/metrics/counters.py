"""Cumulative counters of the sample tables, over a span of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from narrows import _native
from narrows.columns import Columns, Table, columns

if TYPE_CHECKING:
    import polars as pl

CounterGrowth = dict[int, dict[str, int | None]]
"""The growth of each counter, by key."""


@dataclass(frozen=True)
class _CounterState:
    """The counters of a flow or link in its last row up to a time, and that row's time in s."""

    time_s: float
    counters: Mapping[str, Any]


_NONE = _CounterState(-math.inf, {})


class Counters:
    """The counters of a table of samples by `key`: the flow or the link.

    A table in a file is read again for each growth, some rows at a time.
    """

    def __init__(self, table: Table, key: str) -> None:
        self._table, self._key = columns(table), key

    def growth(self, names: Sequence[str], start_s: float, end_s: float) -> CounterGrowth:
        """Returns the growth of each counter in `names` from `start_s` to `end_s`, for every key.

        A counter has its value in the last row up to each time (zero before the first, and at time
        0), so both ends should be sampled instants, as the warm-up and the end of a run are. Nulls,
        where a back end doesn't know a counter, stay nulls. Keys ascend; keys without a row up to
        the end are left out.
        """
        early: dict[int, _CounterState] = {}
        late: dict[int, _CounterState] = {}
        for part in self._table.parts():
            if start_s > 0:  # a span from time 0 includes the events at time 0
                _advance(early, part, self._key, names, start_s)
            _advance(late, part, self._key, names, end_s)
        return {
            key: {name: _increment(late[key], early.get(key, _NONE), name) for name in names}
            for key in sorted(late)
        }


def _advance(
    known: dict[int, _CounterState], part: Columns, key: str, names: Sequence[str], bound_s: float
) -> None:
    """Updates the counters up to `bound_s` by the rows that are later than the known ones."""
    times = np.ascontiguousarray(part["time_s"], float)
    keys = np.ascontiguousarray(part[key], np.uint32)
    for number, row in _native.latest_rows(keys, times, bound_s).items():
        if times[row] >= known.get(number, _NONE).time_s:
            counters = {name: part[name][row] for name in names}
            known[number] = _CounterState(float(times[row]), counters)


def _increment(late: _CounterState, early: _CounterState, name: str) -> int | None:
    end, start = late.counters[name], early.counters.get(name, 0)
    return None if np.isnan(end) or np.isnan(start) else int(end) - int(start)


def growth(
    samples: pl.DataFrame, key: str, columns: Sequence[str], start_s: float, end_s: float
) -> pl.DataFrame:
    """Returns the growth of each counter in `columns` from `start_s` to `end_s`, for every `key`.

    A counter has its value in the last row up to each time (zero before the first), so both ends
    should be sampled instants, as the warm-up and the end of a run are. Nulls stay nulls. The
    result has `key` and the columns, ascending by key.
    """
    import polars as pl

    found = Counters(samples, key).growth(columns, start_s, end_s)
    kinds = {key: samples.schema[key], **dict.fromkeys(columns, pl.Int64())}
    rows = [{key: number, **grown} for number, grown in found.items()]
    return pl.DataFrame(rows, schema=kinds)


def total(grown: Iterable[dict[str, int | None]], name: str) -> int | None:
    """Returns the sum of a counter's growth over keys.

    None if there are none or one isn't known.
    """
    values = [one[name] for one in grown]
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None
