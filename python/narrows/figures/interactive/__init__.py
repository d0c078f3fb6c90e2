"""Figures for a page: the same description as data for plotly.js.

The dictionaries are made here directly, because importing plotly takes longer
than a short run. Colours are written as `@key`; the page substitutes the value for a light or dark
background.
"""

from __future__ import annotations

from narrows.figures.interactive import grid, stack
from narrows.figures.interactive.plot import Plot
from narrows.figures.interactive.thin import thin
from narrows.figures.model import Figure
from narrows.figures.telling_apart import tell_apart

__all__ = ["plots", "thin"]


def plots(figure: Figure) -> list[Plot]:
    """One plot for a whole stack, or one for each panel.

    A long line keeps the first, minimum, maximum and last value of each of many intervals, so no
    peak is lost.
    """
    figure = tell_apart(figure)
    if figure.stack is not None:
        return [stack.plot(figure, figure.stack)]
    return [
        grid.plot(panel, f"{figure.name or 'figure'}-{number}")
        for number, panel in enumerate(figure.panels, start=1)
    ]
