"""Marks the points whose runs still drift: their means depend on the duration of the runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from narrows.figures.model import Line
from narrows.late import pl
from narrows.metrics.settling import HALF, concerns, drifts

DRIFTING = "still drifting at the end of the run"
"""The entry of the rings in the legend."""


def is_drifting(rows: pl.DataFrame, *metrics: str) -> bool:
    """Returns True if the runs of a combination drift in what one of these metrics tells."""
    halves = rows.select(name for name in rows.columns if HALF.search(name)).to_dicts()
    quantities = {one.quantity for one in drifts(halves, len(halves))}
    return any(concerns(quantities, metric) for metric in metrics)


def rings(points: Iterable[Sequence[float]], hue: str) -> list[Line]:
    """Returns hollow markers at these points, if there are any."""
    at = np.array(list(points), dtype=float).reshape(-1, 2)
    ring = Line(DRIFTING, at[:, 0], at[:, 1], hue, marker="o", kind="points", hollow=True)
    return [ring] if len(at) else []
