"""Marks as traces of plotly.js."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from narrows.figures import shapes
from narrows.figures.interactive.plot import exactly, numbers, words
from narrows.figures.model import Bar, BoxPlot, Cloud, Floats, Heat, Line, LineKind, Mark, entry_of

DASHES = {"solid": "solid", "dash": "8px,4px", "dot": "2px,3px", "dashdot": "8px,3px,2px,3px"}
SYMBOLS = {
    "o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down",
    "P": "cross", "X": "x", "<": "triangle-left", ">": "triangle-right",
}  # fmt: skip
"""The names of markers in plotly.js."""


def traces(mark: Mark) -> list[dict[str, Any]]:
    """The traces of one mark, with its entry in the legend as their group."""
    if isinstance(mark, Heat):
        return [_heat(mark)]
    if isinstance(mark, Cloud):
        made = _cloud(mark)
    else:
        made = [*(_band(mark) if isinstance(mark, Line) and mark.band else []), _one(mark)]
    shared = {"name": words(mark.label), "legendgroup": entry_of(mark)}
    return [shared | trace for trace in made]


def _one(mark: Line | BoxPlot | Bar) -> dict[str, Any]:
    if isinstance(mark, Line):
        return _line(mark)
    return _box(mark) if isinstance(mark, BoxPlot) else _bar(mark)


def _line(line: Line) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "type": "scatter",
        "x": exactly(line.x),
        "y": exactly(line.y) if line.exact else numbers(line.y),
        "opacity": line.opacity,
    }
    if line.kind == "points":
        size = 9 if line.marker else 4
        marker = {"color": f"@{line.colour}", "size": size} | _symbol(line)
        if line.hollow:
            marker |= {"color": "@ground", "line": {"color": f"@{line.colour}", "width": 1.5}}
        return trace | {"mode": "markers", "marker": marker} | _spread(line)
    trace |= {
        "mode": "lines+markers" if line.marker else "lines",
        "connectgaps": False,
        "line": {
            "color": f"@{line.colour}",
            "width": line.width,
            "dash": DASHES[line.dash],
            "shape": "hv" if line.kind == "step" else "linear",
            # Strokes smaller than a pixel would be left out.
            **({"simplify": False} if line.exact else {}),
        },
    }
    if symbol := _symbol(line):
        trace["marker"] = symbol
    if line.fill:
        trace |= {"fill": "tozeroy", "fillcolor": f"@{line.colour}/0.13"}
    return trace | _spread(line)


def _symbol(line: Line) -> dict[str, Any]:
    """The marker's shape, unless that is plotly's own choice."""
    return {} if line.marker in ("", "o") else {"symbol": SYMBOLS[line.marker]}


def _spread(line: Line) -> dict[str, Any]:
    if line.low is None or line.high is None or line.band:
        return {}
    above, below = numbers(line.high - line.y), numbers(line.y - line.low)
    return {"error_y": {"type": "data", "array": above, "arrayminus": below, "width": 3}}


def _band(line: Line) -> list[dict[str, Any]]:
    """A band as one filled outline, which is interrupted where values are missing."""
    if line.low is None or line.high is None:
        return []
    known = np.isfinite(line.low) & np.isfinite(line.high)
    borders = np.flatnonzero(np.diff(known, prepend=False, append=False))
    x: list[float | None] = []
    y: list[float | None] = []
    for start, end in borders.reshape(-1, 2):
        part = slice(start, end)
        along, low = _corners(line.x[part], line.low[part], line.kind)
        _, high = _corners(line.x[part], line.high[part], line.kind)
        x += [*exactly(np.concatenate([along, along[::-1]])), None]
        y += [*numbers(np.concatenate([low, high[::-1]])), None]
    outline = {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": {"width": 0}}
    shade = f"@{line.colour}/0.18"
    return [outline | {"fill": "toself", "fillcolor": shade, "hoverinfo": "skip"}]


def _corners(x: Floats, y: Floats, kind: LineKind) -> tuple[Floats, Floats]:
    """The points of an edge; a step has two for each value but the last."""
    return (np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]) if kind == "step" else (x, y)


def _box(box: BoxPlot) -> dict[str, Any]:
    y = numbers(box.values)
    return {"type": "box", "x": [box.x] * len(y), "y": y, "marker": {"color": f"@{box.colour}"}}


def _bar(bar: Bar) -> dict[str, Any]:
    trace: dict[str, Any] = {"type": "bar", "x": [bar.x], "y": [bar.y]}
    trace["marker"] = {"color": f"@{bar.colour}"}
    if bar.interval is not None:
        low, high = bar.interval
        trace["error_y"] = {"type": "data", "array": [high - bar.y], "arrayminus": [bar.y - low]}
    return trace


def _heat(heat: Heat) -> dict[str, Any]:
    low, high = heat.limits()
    shades = shapes.DIVERGING if heat.centre is not None else shapes.SEQUENTIAL
    return {
        "type": "heatmap",
        "name": words(heat.label),
        "z": [numbers(row) for row in heat.values],
        "zmin": low,
        "zmax": high,
        "colorscale": [list(step) for step in zip((0, heat.middle(), 1), shades, strict=True)],
        "colorbar": {"title": {"text": words(heat.label), "side": "right"}},
        "xgap": 1,
        "ygap": 1,
    }


def _cloud(cloud: Cloud) -> list[dict[str, Any]]:
    points = {
        "type": "scatter",
        "mode": "markers",
        "x": exactly(cloud.x),
        "y": numbers(cloud.y),
        "marker": {"color": f"@{cloud.colour}", "size": 5, "opacity": 0.6},
    }
    shape = shapes.ellipse(cloud.x, cloud.y)
    if shape is None:
        return [points]
    width, height, angle = shape
    turn, round_ = math.radians(angle), np.linspace(0, 2 * math.pi, 60)
    along, across = width / 2 * np.cos(round_), height / 2 * np.sin(round_)
    x = cloud.x.mean() + along * math.cos(turn) - across * math.sin(turn)
    y = cloud.y.mean() + along * math.sin(turn) + across * math.cos(turn)
    around = {
        "type": "scatter",
        "mode": "lines",
        "x": exactly(x),
        "y": numbers(y),
        "line": {"color": f"@{cloud.colour}", "width": 1},
        "fill": "toself",
        "opacity": 0.6,
        "hoverinfo": "skip",
    }
    return [points, around]
