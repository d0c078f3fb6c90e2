"""A panel of a figure as a small chart of SVG, for a cell of a table or beside a line of text.

Its lines, their colours and dashes are those of the figure; there are no axes, only
the title of the panel, and the ends of its y axis in words for those who can't see it.
"""

from __future__ import annotations

from html import escape

import numpy as np

from narrows.figures.interactive.thin import thin
from narrows.figures.model import Figure, Floats, Line, Panel
from narrows.figures.palette import colour
from narrows.words import short_number

WIDTH, HEIGHT = 220, 44
"""In pixels."""
_DASHES = {
    "solid": "",
    "dash": ' stroke-dasharray="6 3"',
    "dot": ' stroke-dasharray="2 2"',
    "dashdot": ' stroke-dasharray="6 2 2 2"',
}
_EDGE = 2.0


def sparks(figure: Figure) -> str:
    """All panels of a stack with their titles, side by side where there is room."""
    x_range = figure.stack.x_range if figure.stack is not None else None
    style = f"display:inline-block;vertical-align:top;width:{WIDTH}px;margin:0 16px 6px 0"
    cells = (
        f'<figure style="{style}">'
        f"{spark(panel, x_range)}<figcaption>{escape(_caption(panel))}</figcaption></figure>"
        for panel in figure.panels
        if panel.lines
    )
    return f"<div>{''.join(cells)}</div><p>{_legend(figure)}</p>"


def _legend(figure: Figure) -> str:
    """The entries of the figure's legend, each with its line."""
    lines = ((words, mark) for words, mark in figure.legend().items() if isinstance(mark, Line))
    return " ".join(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="28" height="8" aria-hidden="true">'
        f'<path d="M0 4H28" {_pen(line)}/></svg> {escape(words)}'
        for words, line in lines
    )


def spark(panel: Panel, x_range: tuple[float, float] | None = None) -> str:
    """The lines of a panel, over a range of x (by default that of the lines)."""
    known = [line.x for line in panel.lines if len(line.x)]
    least, most = x_range or (min(x.min() for x in known), max(x.max() for x in known))
    low, high = panel.limits((least, most))
    lines = (_path(thin(line, WIDTH // 3), (least, most), (low, high)) for line in panel.lines)
    label = escape(
        f"{panel.title}, {short_number(low)} to {short_number(high)} {panel.y_label}", quote=True
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        f"<title>{label}</title>{''.join(lines)}</svg>"
    )


def _caption(panel: Panel) -> str:
    return f"{panel.title} ({panel.y_label})"


def _path(line: Line, x_range: tuple[float, float], y_range: tuple[float, float]) -> str:
    x = _place(line.x, x_range, WIDTH)
    y = HEIGHT - _place(line.y, y_range, HEIGHT)
    if line.kind == "step":  # each value holds until the next x
        x, y = np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]
    inner = np.zeros(len(y), dtype=bool)
    inner[1:-1] = (y[1:-1] == y[:-2]) & (y[1:-1] == y[2:])  # points on a straight line
    words, pen = [], "M"
    for at, value in zip(x[~inner], y[~inner], strict=True):
        if np.isfinite(at) and np.isfinite(value):
            words.append(f"{pen}{at:.1f} {value:.1f}")
            pen = "L"
        else:  # a gap
            pen = "M"
    return f'<path d="{"".join(words)}" {_pen(line)}/>'


def _pen(line: Line) -> str:
    width, hue = min(line.width, 1.6), colour(line.colour).light
    return f'fill="none" stroke="{hue}" stroke-width="{width:g}"{_DASHES[line.dash]}'


def _place(values: Floats, ends: tuple[float, float], length: float) -> Floats:
    """Values as pixels from the start, a little inside the edges."""
    start, end = ends
    part: Floats = (values - start) / max(end - start, 1e-12)
    return _EDGE + np.clip(part, 0.0, 1.0) * (length - 2 * _EDGE)
