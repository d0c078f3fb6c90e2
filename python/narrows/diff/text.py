"""A diff as lines to print."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from narrows.diff.judge import Change, Row
from narrows.diff.side import Side

MOST_ROWS = 30
"""Of the metrics without a difference, at most this many are printed; the page has all."""

SINGLE = "One trial each can't distinguish change from chance: run both with --trials 5."
SAME = (
    "The trials are one run again and again, since nothing in it is random, so that no change is "
    'told from chance: `[host]` with jitter = "100us", processing noise, makes trials differ.'
)


def lines(
    sides: tuple[Side, Side], changes: Sequence[tuple[str, str, str]], rows: Sequence[Row]
) -> Iterator[str]:
    """The specification's differences, then the metrics, those with a change first."""
    for side in sides:
        yield f"{side.label}: {side.place} ({side.engine})"
    yield ""
    for place, one, two in changes:
        yield f"{place}: {one} \N{RIGHTWARDS ARROW} {two}"
    if not changes:
        yield "the same specification"
    yield ""
    order = [Change.BETTER, Change.WORSE, Change.CHANGED, Change.UNKNOWN, Change.UNCLEAR]
    shown = [row for change in order for row in rows if row.change is change]
    yield from table(shown[:MOST_ROWS])
    equal = sum(row.change is Change.SAME for row in rows)
    if equal:
        yield f"{equal} metrics are equal"
    if len(shown) > MOST_ROWS:
        yield f"{len(shown) - MOST_ROWS} more without a difference that is shown: on the page"
    if shown and all(row.change is Change.UNKNOWN for row in shown):
        yield SINGLE if max(side.rows.height for side in sides) == 1 else SAME


def table(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each metric: both means, the difference with its interval, what it means."""
    heads = ("metric", "A", "B", "difference", "95 % interval", "")
    cells = [heads, *(_cells(row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    for row in cells:
        first = f"{row[0]:<{widths[0]}}"
        numbers = (f"{text:>{width}}" for text, width in zip(row[1:5], widths[1:5], strict=True))
        yield "  ".join((first, *numbers, row[5])).rstrip()


def _cells(row: Row) -> tuple[str, ...]:
    known = row.interval
    ends = "-" if known is None else " to ".join(f"{number(end):+}" for end in known)
    said = str(row.change)
    if row.cells > 1:
        said += f" over {row.cells} combinations ({row.better} better, {row.worse} worse)"
    numbers = (f"{number(row.first)}", f"{number(row.second)}", f"{number(row.apart.mean):+}")
    return (row.label, *numbers, ends, said)


def number(value: float) -> float:
    """A number with four significant digits."""
    return float(f"{value:.4g}") if math.isfinite(value) else value
