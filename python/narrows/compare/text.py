"""Prints a comparison as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from narrows.compare.judge import CellComparison, Comparison, VerdictCounts
from narrows.compare.quantities import Quantity
from narrows.compare.vary import BUFFER, DELAY
from narrows.metrics import intervals as statistics
from narrows.metrics.equivalence import MOST_TRIALS, EquivalenceVerdict
from narrows.words import align, count_of, join_words


def spread(quantity: Quantity, values: Sequence[float]) -> str:
    """Returns the mean and, after a ±, the standard deviation that several values have."""
    if not values:
        return "-"
    if len(values) == 1:
        return quantity.show(values[0])
    middle, around = statistics.mean(values), statistics.deviation(values)
    return f"{quantity.show(middle)} ±{quantity.show(around)}"


def interval(row: CellComparison) -> str:
    """Returns the 95 % interval of the difference."""
    ends = row.interval
    return "-" if ends is None else " to ".join(row.cell.of.show(end, "+") for end in ends)


def difference(row: CellComparison) -> str:
    """Returns the difference of the means with its sign."""
    return "-" if row.difference is None else row.cell.of.show(row.difference.mean, "+")


def limit(row: CellComparison) -> str:
    """Returns the largest difference that counts as agreement."""
    return row.cell.of.show(row.limit)


def verdict(row: CellComparison) -> str:
    """Returns the verdict and, if it is undecided, how many more trials would decide."""
    if row.verdict is not EquivalenceVerdict.UNDECIDED:
        return str(row.verdict)
    more = row.more_trials
    if more is None and row.observed:
        return "undecided (by one measurement)"
    return f"undecided ({f'over {MOST_TRIALS}' if more is None else more} more)"


def how_varied(comparison: Comparison) -> str:
    """Describes how the trials differ."""
    count, first = comparison.trials, comparison.scenario["seed"]
    told = [count_of(count, "trial")]
    if comparison.seeded:
        told.append(f"seeds {first} to {first + count - 1}" if count > 1 else f"seed {first}")
    if comparison.varied:
        told.append(f"buffer varied by {100 * BUFFER:g} %, delay by {100 * DELAY:g} %")
    return ", ".join(told)


def lines(comparison: Comparison) -> Iterator[str]:
    """Yields the table, a line for each cell, and the verdict."""
    reference = comparison.reference
    yield f"{comparison.name}: {comparison.conditions}; {how_varied(comparison)}"
    yield ""
    if comparison.empty:
        yield nothing(comparison)
        yield from map(str, comparison.left_out)
        return
    head = (
        *("quantity", "flows", "back end", "mean ±sd", head_of_reference(comparison)),
        *("difference", "95 % interval", "limit", "verdict"),
    )
    yield from align([head, *(_cells(row) for row in comparison.rows)], left=3, words=True)
    yield ""
    yield from map(str, comparison.left_out)
    yield summary(comparison.counts, reference)
    if remedy := _remedy(comparison):
        yield remedy
    yield from comparison.notes


def head_of_reference(comparison: Comparison) -> str:
    """Returns the heading of the reference's values, of which a measurement has one."""
    spread = "" if comparison.is_single_observation else " mean ±sd"
    return f"{comparison.reference}{spread}"


def nothing(comparison: Comparison) -> str:
    """Explains in a sentence why nothing could be compared."""
    names = join_words(comparison.empty)
    return f"Nothing could be compared: no trial on {names} was valid."


def summary(counts: VerdictCounts, reference: str) -> str:
    """Returns the verdict on all cells in a line."""
    return f"{counts.verdict}: {counts} with {reference}"


def _remedy(comparison: Comparison) -> str | None:
    """Returns advice on undecided cells."""
    if not comparison.counts.undecided:
        return None
    more = comparison.more_trials
    if more is None and comparison.is_single_observation:
        return (
            "More trials don't decide the rest: one measurement may be off by as much as the runs "
            "vary. More measurements would."
        )
    if more is None:
        return f"More than {MOST_TRIALS} trials would be needed to decide the rest."
    total = comparison.trials + more
    return f"About {total} trials would decide (--until-decided, or --max-trials {total})."


def _cells(row: CellComparison) -> tuple[str, ...]:
    quantity = row.cell.of
    return (
        f"{quantity.name.replace('_', ' ')} ({quantity.unit})",
        row.cell.flows or "all",
        row.backend,
        spread(quantity, row.values),
        spread(quantity, row.reference_values),
        difference(row),
        interval(row),
        limit(row),
        verdict(row),
    )
