"""Sheets for a page: the same charts as data for plotly.js, each one by itself."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from narrows.figures.chart import Bar, Box, Chart, Cloud, Heat, Line, Mark, Sheet
from narrows.figures.interactive import DASHES
from narrows.figures.marks import ellipse, limits
from narrows.figures.model import Floats
from narrows.figures.palette import BLUE, VERMILION, colour

GREY = "#6b7280"


def charts(sheet: Sheet) -> list[dict[str, Any]]:
    """`data` and `layout` of every chart of a sheet, with values that JSON has."""
    return [{"data": _data(chart), "layout": _layout(chart)} for chart in sheet.charts]


def as_json(sheet: Sheet) -> str:
    """All charts as JSON that can stand inside a script element."""
    return json.dumps(charts(sheet), separators=(",", ":"), allow_nan=False).replace("</", "<\\/")


def _data(chart: Chart) -> list[dict[str, Any]]:
    seen: set[str] = set()
    traces = []
    for mark in chart.marks:
        for trace in _traces(mark):
            label = trace.get("name", "")
            trace["showlegend"] = bool(label) and label not in seen and trace["type"] != "heatmap"
            trace["legendgroup"] = label
            seen.add(label)
            traces.append(trace)
    return traces


def _traces(mark: Mark) -> list[dict[str, Any]]:
    if isinstance(mark, Line):
        return [_line(mark)]
    if isinstance(mark, Heat):
        return [_heat(mark)]
    if isinstance(mark, Cloud):
        return _cloud(mark)
    shade = colour(mark.colour).light
    if isinstance(mark, Box):
        y = _numbers(mark.values)
        at = [mark.x] * len(y)
        return [{"type": "box", "name": mark.label, "x": at, "y": y, "marker": {"color": shade}}]
    return [_bar(mark, shade)]


def _line(line: Line) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "type": "scatter",
        "name": line.label,
        "x": _numbers(line.x),
        "y": _numbers(line.y),
        "mode": "lines+markers" if line.marker else "lines",
        "line": {
            "color": colour(line.colour).light,
            "dash": DASHES[line.dash],
            "shape": "hv" if line.step else "linear",
        },
    }
    if line.low is not None and line.high is not None:
        above, below = _numbers(line.high - line.y), _numbers(line.y - line.low)
        trace["error_y"] = {"type": "data", "array": above, "arrayminus": below, "width": 3}
    return trace


def _heat(heat: Heat) -> dict[str, Any]:
    low, high = limits(heat)
    start = BLUE.light if heat.centre is not None else "#f7f7f5"
    end = VERMILION.light if heat.centre is not None else "#00304c"
    middle = "#f7f7f5" if heat.centre is not None else BLUE.light
    return {
        "type": "heatmap",
        "name": heat.label,
        "z": [_numbers(row) for row in heat.values],
        "zmin": low,
        "zmax": high,
        "colorscale": [[0, start], [0.5, middle], [1, end]],
        "colorbar": {"title": {"text": heat.label, "side": "right"}},
        "xgap": 1,
        "ygap": 1,
    }


def _cloud(cloud: Cloud) -> list[dict[str, Any]]:
    shade = colour(cloud.colour).light
    points = {
        "type": "scatter",
        "name": cloud.label,
        "mode": "markers",
        "x": _numbers(cloud.x),
        "y": _numbers(cloud.y),
        "marker": {"color": shade, "size": 5, "opacity": 0.6},
    }
    shape = ellipse(cloud.x, cloud.y)
    if shape is None:
        return [points]
    width, height, angle = shape
    turn, round_ = math.radians(angle), np.linspace(0, 2 * math.pi, 60)
    along, across = width / 2 * np.cos(round_), height / 2 * np.sin(round_)
    x = cloud.x.mean() + along * math.cos(turn) - across * math.sin(turn)
    y = cloud.y.mean() + along * math.sin(turn) + across * math.cos(turn)
    around = {
        "type": "scatter",
        "name": cloud.label,
        "mode": "lines",
        "x": _numbers(x),
        "y": _numbers(y),
        "line": {"color": shade, "width": 1},
        "fill": "toself",
        "opacity": 0.6,
        "hoverinfo": "skip",
    }
    return [points, around]


def _bar(bar: Bar, shade: str) -> dict[str, Any]:
    trace: dict[str, Any] = {"type": "bar", "name": bar.label, "x": [bar.x], "y": [bar.y]}
    trace["marker"] = {"color": shade}
    if bar.interval is not None:
        low, high = bar.interval
        trace["error_y"] = {"type": "data", "array": [high - bar.y], "arrayminus": [bar.y - low]}
    return trace


def _layout(chart: Chart) -> dict[str, Any]:
    line = {"type": "line", "line": {"color": GREY, "width": 1, "dash": "dash"}}
    shapes, notes = [], []
    for guide in chart.guides:
        across, along = ("y", "x") if guide.upright else ("x", "y")
        shapes.append(
            {**line, f"{across}ref": "paper", f"{across}0": 0, f"{across}1": 1,
             f"{along}0": guide.value, f"{along}1": guide.value}
        )  # fmt: skip
        place = {f"{across}ref": "paper", across: 1, along: guide.value}
        if not guide.upright and chart.y_scale == "log":
            place["y"] = math.log10(guide.value)
        notes.append({**place, "text": guide.label, "showarrow": False, "yanchor": "bottom",
                      "font": {"color": GREY, "size": 11}})  # fmt: skip
    x_axis = _axis(chart.x_label, chart.x_scale, chart.x_range, chart.ticks)
    y_axis = _axis(chart.y_label, chart.y_scale, chart.y_range, chart.y_ticks)
    return {
        "title": {"text": chart.title, "font": {"size": 13}},
        "xaxis": x_axis,
        "yaxis": y_axis,
        "shapes": shapes,
        "annotations": notes,
        "height": 420,
        "margin": {"l": 60, "r": 20, "t": 40, "b": 50},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "boxmode": "overlay",
    }


def _axis(
    label: str,
    scale: str,
    ends: tuple[float | None, float | None],
    ticks: tuple[tuple[float, str], ...],
) -> dict[str, Any]:
    found: dict[str, Any] = {"title": {"text": label}, "type": scale, "gridcolor": "#88888844"}
    low, high = ends
    if low is not None and high is not None and scale == "linear":
        found["range"] = [low, high]
    elif low == 0 and scale == "linear":
        found["rangemode"] = "tozero"
    if ticks:
        found["tickvals"] = [at for at, _ in ticks]
        found["ticktext"] = [words for _, words in ticks]
    return found


def _numbers(values: Floats) -> list[float | None]:
    return [float(f"{v:.6g}") if math.isfinite(v) else None for v in np.asarray(values).tolist()]
