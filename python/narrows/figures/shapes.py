"""Shapes that both drawers compute from a mark's values."""

from __future__ import annotations

import math

import numpy as np

from narrows.figures.model import Floats
from narrows.figures.palette import BLUE, VERMILION

PAPER = "#f7f7f5"
DIVERGING = (BLUE.light, PAPER, VERMILION.light)
SEQUENTIAL = (PAPER, BLUE.light, "#00304c")
"""The colours of a heat map from its minimum to its maximum."""


def ellipse(x: Floats, y: Floats) -> tuple[float, float, float] | None:
    """Width, height and angle (degrees) of the ellipse of one standard deviation.

    None for fewer than three points.
    """
    if len(x) < 3:
        return None
    values, vectors = np.linalg.eigh(np.cov(x, y))
    reach = 2 * np.sqrt(values.clip(0))
    angle = math.degrees(math.atan2(vectors[1, 1], vectors[0, 1]))
    return float(reach[1]), float(reach[0]), angle
