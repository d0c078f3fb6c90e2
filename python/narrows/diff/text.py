"""Prints a diff as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from narrows.diff.judge import DiffRow, Effect, headline
from narrows.diff.side import Side, title
from narrows.metrics.trials import REMEDY
from narrows.words import align, short_number

SINGLE = "A single trial can't distinguish change from chance: run both with --trials 5."
MEASURED = (
    "A measurement happened once, so it shows no change; whether a specification agrees with it: "
    "narrows compare SPEC --backends sim,{}"
)
SAME = f"The trials are one and the same run, so no change can be told from chance, {REMEDY}."


def lines(
    sides: tuple[Side, Side],
    changes: Sequence[tuple[str, str, str]],
    rows: Sequence[DiffRow],
    pairing: str = "",
    *,
    whole: bool = False,
) -> Iterator[str]:
    """Yields lines for the changes, the headline rows and other changes.

    With `whole`, every row.
    """
    yield title(*sides, changes)
    for side in sides:
        yield f"{side.label}: {side.place} ({side.engine})"
    for place, one, two in changes:
        yield f"{place}: {one} \N{RIGHTWARDS ARROW} {two}"
    yield ""
    first = headline(rows)
    order = [
        Effect.BETTER,
        Effect.WORSE,
        Effect.CHANGED,
        Effect.UNKNOWN,
        Effect.UNCLEAR,
    ]
    rest = [row for change in order for row in rows if row.change is change and row not in first]
    yield from table([*first, *rest] if whole else first)
    equal = sum(row.change is Effect.SAME and row not in first for row in rows)
    if whole and equal:
        yield f"{equal} metrics are equal"
    if not whole:
        changed = sum(row.has_changed for row in rest)
        yield f"{changed} of {len(rest) + equal} other metrics changed: --all or the page"
    if pairing:
        yield pairing
    known = [*first, *rest]
    measured = [side for side in sides if side.is_measurement]
    if measured:
        yield MEASURED.format(f"{measured[0].backend}:{measured[0].place}")
    found = {row.change for row in known}
    if not (measured or pairing) and {Effect.UNKNOWN} <= found <= {Effect.UNKNOWN, Effect.SAME}:
        yield SINGLE if min(side.rows.height for side in sides) == 1 else SAME


def table(rows: Sequence[DiffRow]) -> Iterator[str]:
    """Yields a line for each metric: both means, the difference with its interval, the verdict."""
    heads = ("metric", "A", "B", "difference", "95 % interval", "")
    yield from align([heads, *(_cells(row) for row in rows)], words=True)


def _cells(row: DiffRow) -> tuple[str, ...]:
    row = row.display
    known = row.interval
    ends = "-" if known is None else " to ".join(format_signed(end) for end in known)
    said = str(row.change)
    if row.split:
        said += f" on average: {row.split}"
    elif row.cells > 1:
        said += f" over {row.cells} combinations ({row.better} better, {row.worse} worse)"
    numbers = (number(row.first), number(row.second), format_signed(row.apart.mean))
    return (row.label, *numbers, ends, said)


def number(value: float) -> str:
    """Returns a number with four significant digits."""
    return short_number(value, 4)


def format_signed(value: float) -> str:
    """Returns a number with its sign and four significant digits."""
    return f"{float(f'{value:.4g}'):+,.12g}"
