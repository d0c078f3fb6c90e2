"""Prints the results of a study as a table with a row for each combination."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from narrows.metrics.catalogue import in_percent, scale_of
from narrows.metrics.drifts import concerns
from narrows.metrics.headings import columns_named
from narrows.metrics.leading import of_applications
from narrows.metrics.settling import UNSETTLED
from narrows.metrics.trials import INTERVALS, SINGLE, note_of_finished
from narrows.metrics.workloads import LEAST_STILL_S
from narrows.sweeps.overview import Overview
from narrows.words import align, count_of

MOST_ROWS = 30
MOST_METRICS = 4
DIGITS = 3
"""The significant digits of the largest mean of a column."""
WIDE = 70.0
"""An interval over more than this of 100 per cent says little, so it isn't shown."""
MOST_UNFINISHED = 0.05
"""The share of unfinished transfers above which a line mentions them."""
VAGUE = "±?"
"""The sign in place of an interval that isn't shown."""
UNSETTLED_SIGN = "~"
"""The sign behind a value that hasn't settled within the runs."""


def table(
    found: Overview,
    place: str,
    asked: Sequence[str] = (),
    wanted_cells: Collection[int] | None = None,
) -> Iterator[str]:
    """Yields the axes and up to four metrics, as means with half of their 95 % intervals.

    Columns with the names or headings in `asked` follow. A filter may leave some combinations,
    `wanted_cells`; the notes are on all.
    """
    every = [cell for cell in found.cells if cell["values"]]
    rows = [c for c in every if wanted_cells is None or c["cell"] in wanted_cells]
    wanted = {one: _columns_named(one, found) for one in asked}
    names = list(dict.fromkeys([*_metrics(found), *chain.from_iterable(wanted.values())]))
    if not rows or not names:
        return
    columns = {name: _column(name, rows) for name in names}
    heads = [axis["label"] for axis in found.axes] + [found.metrics[name] for name in names]
    lines = [
        [*_words(found, cell), *(columns[name][at] for name in names)]
        for at, cell in enumerate(rows[:MOST_ROWS])
    ]
    yield from align([heads, *lines], left=len(found.axes))
    if any(len(value) > 1 for cell in rows for value in cell["values"].values()):
        yield INTERVALS
    elif not found.alike:
        yield SINGLE
    shown = "".join(chain.from_iterable(column[:MOST_ROWS] for column in columns.values()))
    if VAGUE in shown:
        yield "±?: too few trials, since nearly all values are possible; more: --trials 10"
    if UNSETTLED_SIGN in shown:
        yield f"{UNSETTLED_SIGN}: no steady value, as the {UNSETTLED}"
    yield from (f"{one}: no run has a value" for one, its in wanted.items() if not its)
    yield from _unfinished_lines(rows)
    yield from _still_lines(rows)
    if other := len(every) - len(rows):
        yield f"{count_of(other, 'combination')} of earlier runs, also in the notes: on the page"
    yield from found.notes
    if len(rows) > MOST_ROWS or found.left_out:
        left = len(rows) - MOST_ROWS + found.left_out
        yield f"and {left:,} more: on the page, or `narrows export {place} summary`"


def _unfinished_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields a line for each class with too many unfinished transfers to leave them out.

    Or with an unknown number of them; frames of a call that aren't shown are lost instead.
    """
    columns = dict.fromkeys(name for cell in rows for name in cell["values"])
    for name in columns:
        group, dot, metric = name.rpartition(".")
        head = f"{group}{dot}"
        known = {f"{head}unfinished", f"{head}freezes"} & columns.keys()
        if metric == "completed" and not known:
            counts = [cell["values"][name][0] for cell in rows if name in cell["values"]]
            yield note_of_finished(group or "all", counts)
        if metric != "unfinished":
            continue
        done = f"{head}completed"
        parts = [
            value[name][0] / (value[name][0] + value[done][0])
            for cell in rows
            if name in (value := cell["values"]) and done in value and value[name][0]
        ]
        if max(parts, default=0.0) > MOST_UNFINISHED:
            yield (
                f"{group or 'all'}: up to {100 * max(parts):.0f} % of the transfers weren't "
                "finished at the end, and completion times leave these out"
            )


def _still_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields a line for each class of calls whose picture came to rest before the end."""
    for name in dict.fromkeys(name for cell in rows for name in cell["values"]):
        group, _, metric = name.rpartition(".")
        if metric != "still_s":
            continue
        most = max(cell["values"][name][0] for cell in rows if name in cell["values"])
        if most >= LEAST_STILL_S:
            yield (
                f"{group or 'all'}: the picture stood still for up to {most:.0f} s at the end, "
                "which the frozen time includes"
            )


def _words(found: Overview, cell: Mapping[str, Any]) -> Iterator[str]:
    """Yields the cell's value of each axis."""
    for axis, at in zip(found.axes, cell["at"], strict=True):
        yield axis["words"][at]


def _metrics(found: Overview) -> list[str]:
    """Returns the metrics of applications, then the one the page opens on, then those that vary."""
    own = of_applications(found.columns)
    opens = [found.opens] if found.opens else []
    if found.opens and found.opens.endswith(".share"):  # the question is who gets what
        opens = [name for name in found.columns if name.endswith(".share")]
    order = list(dict.fromkeys([*own, *opens, *found.columns]))
    shares = [name for name in order if name.endswith(".share")]
    if len(shares) == 2:  # either follows from the other
        order.remove(shares[1])
    told = [name for name in order if name in own or found.spans.get(name)]
    return (told or [name for name in order if not _is_of_one(name, found)])[:MOST_METRICS]


def _is_of_one(name: str, found: Overview) -> bool:
    """Returns True for a share or fairness of 1 everywhere, as of the only class or flow."""
    values = [cell["values"][name][0] for cell in found.cells if name in cell["values"]]
    return name.rpartition(".")[2] in ("share", "jain") and set(values) == {scale_of(name)}


def _columns_named(written: str, found: Overview) -> list[str]:
    """Returns the columns with a name or heading; merged classes have none of their own."""
    of_class = columns_named(written, found.metrics)
    return of_class or columns_named(written.rpartition(".")[2], found.metrics)


def _column(name: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the means of a metric with half of their intervals, all with the same decimals."""
    values = [cell["values"].get(name) for cell in rows]
    largest = max((abs(value[0]) for value in values if value), default=0.0)
    whole = math.floor(math.log10(largest)) + 1 if largest else 1
    decimals = max(DIGITS - whole, 1) if whole <= DIGITS else 0
    most = WIDE if in_percent(name) else math.inf
    unsettled = [concerns(cell.get("unsettled", ()), name) for cell in rows]
    signs = [UNSETTLED_SIGN if one else " " * any(unsettled) for one in unsettled]
    return [
        _number(value, decimals, most) + sign for value, sign in zip(values, signs, strict=True)
    ]


def _number(value: Sequence[float] | None, decimals: int, most: float) -> str:
    """Returns a mean with half of its interval, unless that is wider than `most`."""
    if value is None:
        return "-"
    mean, *ends = value
    reach = max((abs(end - mean) for end in ends), default=None)
    told = f"{mean:,.{decimals}f}"
    if ends and max(ends) - min(ends) > most:
        return f"{told} {VAGUE}"
    return told if reach is None else f"{told} ± {reach:,.{decimals}f}"
