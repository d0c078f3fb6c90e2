"""Panels side by side: shared axes, and pages of many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from narrows.figures.model import Figure, Heat, Panel, heights

PAGE = 24
"""Panels on an image."""
ROOM = 1.04
"""How far a shared axis reaches above the largest value, and below a negative one."""


def share_axes(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """The panels with the same ends of the y axis, so that they can be compared visually.

    Panels of heat maps already share their scale.
    """
    marks = [mark for panel in panels for mark in panel.marks]
    scales = {panel.y_scale for panel in panels}
    if len(panels) < 2 or len(scales) > 1 or any(isinstance(mark, Heat) for mark in marks):
        return tuple(panels)
    guides = [guide.value for p in panels for guide in p.guides if not guide.upright]
    pool = np.concatenate([*(heights(mark) for mark in marks), np.array(guides, dtype=float)])
    pool = pool[np.isfinite(pool) & ((pool > 0) | (scales == {"linear"}))]
    if not pool.size:
        return tuple(panels)
    least, most = float(pool.min()), float(pool.max())
    margin = (ROOM - 1) * (most - least)
    least, most = least - margin if least < 0 else least, max(most * ROOM, most + margin)
    return tuple(replace(panel, y_range=_ends(panel, least, most)) for panel in _shared_x(panels))


def _shared_x(panels: Sequence[Panel]) -> Sequence[Panel]:
    """The panels with the same ends of the x axis, where those follow the data."""
    lines = [line for panel in panels for line in panel.lines if len(line.x)]
    if any(panel.x_range[1] is not None or panel.ticks for panel in panels) or not lines:
        return panels
    high = max(float(line.x.max()) for line in lines)
    known = [low for panel in panels if (low := panel.x_range[0]) is not None]
    low = min(known) if known else min(float(line.x.min()) for line in lines)
    log = panels[0].x_scale == "log"
    ends = (low, high * ROOM if log else high + (ROOM - 1) * (high - low))
    return [replace(panel, x_range=ends) for panel in panels] if high > low else panels


def _ends(panel: Panel, least: float, most: float) -> tuple[float | None, float | None]:
    low, high = panel.y_range
    low = None if low == 0 and least < 0 else low
    low = least if low is None or (panel.y_scale == "log" and low <= 0) else low
    high = most if high is None else high
    return (low, high) if high > low else panel.y_range


def pages(figure: Figure) -> Iterator[Figure]:
    """Splits a figure with many panels into several images; most need one."""
    count = -(-len(figure.panels) // PAGE)
    if figure.stack is not None or count < 2:
        yield figure
        return
    for number in range(count):
        panels = figure.panels[number * PAGE : (number + 1) * PAGE]
        place = f"{figure.subtitle}; page {number + 1} of {count}"
        yield replace(figure, panels=panels, subtitle=place)
