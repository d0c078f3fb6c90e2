"""The style of figures as images, the same for every layout."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib

from narrows.figures.model import Figure

WIDTH_IN = 8.0
LETTER_IN, LEAST_SIZE = 0.0078, 5.5
"""The width of a letter at a size of one point, and the smallest size of a heading."""
DPI = 160
GUIDE_LETTER_IN = 0.068
"""The width of a letter of a guide's label."""
BOLD = 1.15
"""How much wider a bold letter is."""

INK = "#1f2937"
FAINT = "#6b7280"
GRID = "#e5e7eb"

STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "text.color": INK,
    "axes.edgecolor": "#9ca3af",
    "axes.labelcolor": FAINT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": "#9ca3af",
    "xtick.labelcolor": INK,
    "ytick.color": "#9ca3af",
    "ytick.labelcolor": INK,
    "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round",
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
    "svg.hashsalt": "narrows",
    "text.parse_math": False,
}

DASHES: dict[str, Any] = {
    "solid": "-",
    "dash": (0, (5, 2)),
    "dot": (0, (1.2, 1.4)),
    "dashdot": (0, (5, 1.5, 1.2, 1.5)),
}


def size_of(text: str, size: float, room_in: float) -> float:
    """The size at which a text fits the room, at most `size` and at least `LEAST_SIZE`."""
    return max(min(size, room_in / (LETTER_IN * max(len(text), 1))), LEAST_SIZE)


def width_of(figure: Figure) -> float:
    """The width of a figure's image in inches."""
    return WIDTH_IN if figure.paper_in is None else figure.paper_in


@contextmanager
def style() -> Iterator[None]:
    """Our settings of matplotlib, for as long as the context lasts.

    Its warnings, such as of a glyph that its typeface lacks, say nothing that a user could act on.
    """
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
