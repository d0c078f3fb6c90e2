"""Cumulative counters of the sample tables, over a span of time."""

from __future__ import annotations

from collections.abc import Sequence

from narrows import _native
from narrows.columns import source
from narrows.late import pl


def growth(
    samples: pl.DataFrame, key: str, columns: Sequence[str], start_s: float, end_s: float
) -> pl.DataFrame:
    """Returns the growth of each counter in `columns` from `start_s` to `end_s`, for every `key`.

    A counter has its value in the last row up to each time (zero before the first), so both ends
    should be sampled instants, as the warm-up and the end of a run are. Nulls stay nulls. The
    result has `key` and the columns, ascending by key.
    """
    found = _native.growth(source(samples), key, list(columns), start_s, end_s)
    kinds = {key: samples.schema[key], **dict.fromkeys(columns, pl.Int64())}
    rows = [(number, *grown) for number, grown in found.items()]
    return pl.DataFrame(rows, schema=kinds, orient="row")
