"""Sums and means of values of which some may be unknown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def total(values: Iterable[Any]) -> Any:  # noqa: ANN401 (whole numbers stay whole)
    """Returns the sum of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def average(values: Iterable[float | None]) -> float | None:
    """Returns the mean of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
