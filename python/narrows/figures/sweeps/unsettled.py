"""Marks the points whose runs haven't settled: their means depend on the duration of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from narrows.figures.model import Line
from narrows.late import pl
from narrows.metrics.settling import HALF, UNSETTLED, concerns, unsettled_quantities


def is_unsettled(rows: pl.DataFrame, *metrics: str) -> bool:
    """Returns True if one of these metrics of a combination hasn't settled within its runs."""
    halves = rows.select(name for name in rows.columns if HALF.search(name)).to_dicts()
    quantities = unsettled_quantities(halves)
    return any(concerns(quantities, metric) for metric in metrics)


def rings(points: Iterable[Sequence[float]], hue: str) -> list[Line]:
    """Returns hollow markers at these points, if there are any."""
    at = np.array(list(points), dtype=float).reshape(-1, 2)
    ring = Line(UNSETTLED, at[:, 0], at[:, 1], hue, marker="o", kind="points", hollow=True)
    return [ring] if len(at) else []
