"""Several runs beside each other: a column of panels for each, with common scales in a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from narrows.figures.model import Figure, Panel
from narrows.words import begin_lower

MOST_BESIDE = 4
"""In more columns the panels would be unreadable."""


def beside(figures: Sequence[tuple[str, Figure]]) -> Figure:
    """Stacked figures of runs as the columns of one, each under its name.

    A panel that some runs lack is left out. The axes of a row have the same ends.
    """
    (_, first), *_ = figures
    shared = [
        row
        for panel in first.panels
        if None not in (row := [_like(panel, figure) for _, figure in figures])
    ]
    end = max(figure.stack.x_range[1] for _, figure in figures if figure.stack is not None)
    panels = []
    for row in shared:
        same = [panel for panel in row if panel is not None]
        high = max(panel.limits()[1] for panel in same)
        for (name, figure), panel in zip(figures, same, strict=True):
            panels.append(
                replace(
                    panel,
                    title=f"{name}: {begin_lower(panel.title)}",
                    x_range=(0.0, end),
                    y_range=(panel.y_range[0], high),
                    spans=figure.stack.spans if figure.stack is not None else (),
                )
            )
    return replace(
        first,
        panels=tuple(panels),
        columns=len(figures),
        stack=None,
        alt=f"{first.alt} A column for each of {', '.join(name for name, _ in figures)}.",
    )


def _like(panel: Panel, figure: Figure) -> Panel | None:
    """The panel of another figure with the same quantity."""
    wanted = (panel.title, panel.y_label)
    return next((one for one in figure.panels if (one.title, one.y_label) == wanted), None)
