"""Marks points whose mean misleads: runs haven't settled, or trials fall into two groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from narrows.figures.model import Line
from narrows.late import pl
from narrows.metrics.drifts import HALF, concerns
from narrows.metrics.settling import UNSETTLED, UnsettledRuns

SPLIT = "single trials, where they fall into two groups"
"""The entry of the dots in the legend."""
LAST = (SPLIT, UNSETTLED)
"""The last entries of a legend, and the topmost marks."""


def is_unsettled(rows: pl.DataFrame, *metrics: str) -> bool:
    """Returns True if one of these metrics of a combination hasn't settled within its runs."""
    halves = rows.select(name for name in rows.columns if HALF.search(name)).to_dicts()
    quantities = UnsettledRuns.of([("", halves)]).quantities("")
    return any(concerns(quantities, metric) for metric in metrics)


def rings(points: Iterable[Sequence[float]], hue: str) -> list[Line]:
    """Returns hollow markers at these points, if there are any."""
    at = np.array(list(points), dtype=float).reshape(-1, 2)
    ring = Line(UNSETTLED, at[:, 0], at[:, 1], hue, marker="o", kind="points", hollow=True)
    return [ring] if len(at) else []


def dots(points: Iterable[Sequence[float]], hue: str) -> list[Line]:
    """Returns small dots at these points, if there are any."""
    at = np.array(list(points), dtype=float).reshape(-1, 2)
    return [Line(SPLIT, at[:, 0], at[:, 1], hue, kind="points")] if len(at) else []
