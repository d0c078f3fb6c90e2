"""Completion times as lines: their distribution, and the slowdown by size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narrows import _native
from narrows.columns import Table, columns
from narrows.figures.model import Dash, Floats, Guide, Line, Mark, Panel
from narrows.figures.paper import MARGIN
from narrows.metrics.completions import SIZES

SLOWDOWN_LABEL = "Slowdown"
SIZE_LABEL = "Size of the transfer"
TIME = {"transfers": "Completion time", "pages": "Page load time"}
"""The name of the time until a unit is complete."""
_SHORT = {"to_10kb": "\u2264 10 kB", "to_100kb": "\u2264 100 kB", "to_1mb": "\u2264 1 MB"}
TICKS = tuple((float(at), _SHORT.get(span.name, "> 1 MB")) for at, span in enumerate(SIZES))
LEAST_AIR = 1.05
"""How far the axis of completion times reaches beyond them at least, as a factor."""


def distribution(label: str, values: NDArray[Any], hue: str, dash: Dash = "solid") -> Line:
    """The distribution of the values: the fraction of them up to x, as steps."""
    x: Floats = np.repeat(np.sort(values.astype(float)), 2)
    steps: Floats = np.arange(len(values) + 1) / max(len(values), 1)
    return Line(label, x, np.repeat(steps, 2)[1:-1], hue, dash=dash)


def slowdown_by_size(label: str, rows: Table, hue: str, place: float = 0.0) -> list[Mark]:
    """The median of each range of sizes as a point, with a bar up to the 99th percentile.

    `place` is the point's offset from the tick.
    """
    x, middle, high = [], [], []
    size, slowdown = (columns(rows)[name] for name in ("size_bytes", "slowdown"))
    for tick, span in enumerate(SIZES):
        within = slowdown[(size > span.above) & (size <= span.most)]
        if len(within):
            x.append(tick + place)
            middle.append(_native.percentile(within, 50))
            high.append(_native.percentile(within, 99))
    y = np.array(middle)
    line = Line(label, np.array(x), y, hue, low=y, high=np.array(high), kind="points", marker="o")
    return [line] if x else []


def distribution_panel(
    marks: Sequence[Mark],
    title: str,
    times_s: NDArray[Any],
    guides: tuple[Guide, ...] = (),
    unit: str = "transfers",
) -> Panel:
    """The axes of distributions of completion times, which show all `times_s` and guides.

    `unit` is the word for the transfers: "transfers" or "pages".
    """
    shown = np.append(times_s, [guide.value for guide in guides])
    shown = shown[shown > 0] if np.any(shown > 0) else np.ones(1)
    least, most = float(shown.min()), float(shown.max())
    air = max((most / least) ** MARGIN, LEAST_AIR)
    return Panel(
        f"{TIME[unit]} (s), log scale", f"Fraction of {unit}", tuple(marks), title,
        x_range=(least / air, most * air), y_range=(0.0, 1.02), x_scale="log", guides=guides,
    )  # fmt: skip


def size_panel(marks: Sequence[Mark], title: str) -> Panel:
    """The axes of slowdowns by size; that of the slowdown begins at its minimum, 1."""
    ends = (-0.6, len(TICKS) - 0.4)
    return Panel(
        SIZE_LABEL, f"{SLOWDOWN_LABEL} (median, 99th percentile)", tuple(marks), title,
        x_range=ends, y_range=(1.0, None), y_scale="log", ticks=TICKS,
    )  # fmt: skip
