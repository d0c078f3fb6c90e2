"""Figures for a notebook."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure as Canvas

from narrows.figures.model import Figure
from narrows.figures.static import draw, style

DPI = 110


class Drawing(Canvas):
    """A matplotlib figure that Jupyter shows without pyplot."""

    def _repr_png_(self) -> bytes:
        stream = BytesIO()
        with style():
            self.savefig(stream, format="png", dpi=DPI)
        return stream.getvalue()


def drawing(described: Figure) -> Drawing:
    """Draws a described figure with matplotlib."""
    with style():
        made = draw(described, Drawing)
    if not isinstance(made, Drawing):
        raise TypeError(f"a {type(made).__name__} instead of a Drawing")
    return made
