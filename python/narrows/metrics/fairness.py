"""How evenly flows share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def shares(amounts: Iterable[float | None]) -> list[float | None]:
    """Each amount as a part of their sum (0 to 1); None where it is unknown or all are zero."""
    known = list(amounts)
    total = sum(amount for amount in known if amount is not None)
    return [None if amount is None or not total else amount / total for amount in known]


def jain(values: Sequence[float]) -> float | None:
    """Jain's index: (sum x)^2 / (n sum x^2), from 1/n to 1; None if nothing was shared.

    R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness, DEC-TR-301, 1984.
    """
    squares = sum(value * value for value in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else None
