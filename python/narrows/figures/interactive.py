"""Figures for a page: the same description as data for plotly.js.

The dictionaries are made here directly, because importing plotly takes longer
than a short run. Colours stand in them as `@key`; the page puts in the value
for a light or a dark ground.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from narrows.figures.model import Figure, Floats, Level, Panel, Series, Span
from narrows.figures.palette import colour

COLUMNS = 900
"""Width in pixels that long series are thinned for."""

PANEL_PX = 150
GAP_PX = 36
STRIP_PX = 8

STRIPS = 100
"""Axes of the strips above the panels are numbered from here."""
TOP_PX = 42
BOTTOM_PX = 46

DASHES = {"solid": "solid", "dash": "8px,4px", "dot": "2px,3px"}


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure for plotly.js, its height in pixels, its colours and whether it was thinned."""

    name: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    height: int
    thinned: bool
    colours: dict[str, tuple[str, str]]

    def json(self) -> str:
        """The plot as compact JSON that can stand inside a script element."""
        plot = {"data": self.data, "layout": self.layout, "colours": self.colours}
        return json.dumps(plot, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")


def plot(figure: Figure, columns: int = COLUMNS) -> Plot:
    """The figure for plotly.js, all panels on one x axis so that they zoom together.

    A series longer than two points per column keeps the first, least, greatest
    and last value of every column, so no peak is lost.
    """
    count = max(len(figure.panels), 1)
    panel_px = round(PANEL_PX * figure.tall)
    inner = STRIP_PX + count * panel_px + (count - 1) * GAP_PX
    thinned = False
    data: list[dict[str, Any]] = []
    for index, panel in enumerate(figure.panels, start=1):
        axis = _axis(index)
        data += _shades(figure.spans, axis, panel.limits(), 0.28)
        data += _shades(panel.spans, _axis(STRIPS + index), (0.0, 1.0), 1.0)
        for series in panel.series:
            short = series if series.exact else thin(series, columns)
            thinned = thinned or len(short.x) < len(series.x)
            data.append(_trace(short, axis, panel.y_label))
    return Plot(
        name=figure.name,
        data=data,
        layout=_layout(figure, inner),
        height=inner + TOP_PX + BOTTOM_PX,
        thinned=thinned,
        colours={key: (colour(key).light, colour(key).dark) for key in sorted(_keys(figure))},
    )


def _keys(figure: Figure) -> set[str]:
    spans = (*figure.spans, *(span for panel in figure.panels for span in panel.spans))
    series = (series for panel in figure.panels for series in panel.series)
    return {span.colour for span in spans} | {line.colour for line in series}


def _axis(index: int) -> str:
    return "y" if index == 1 else f"y{index}"


def thin(series: Series, columns: int = COLUMNS) -> Series:
    """The series with at most four points in each of `columns` stretches of x.

    Of every stretch the first, the least, the greatest and the last value stay,
    at their own times. Gaps (NaN) stay gaps. Shorter series come back unchanged.
    """
    if len(series.x) <= 2 * columns:
        return series
    start, end = float(series.x[0]), float(series.x[-1])
    part = (series.x - start) / max(end - start, 1e-9)
    place = np.minimum((part * columns).astype(np.int64), columns - 1)
    borders = np.flatnonzero(np.diff(place, prepend=-1))
    ends = np.append(borders[1:], len(place))
    keep = np.zeros(len(place), dtype=bool)
    for a, b in zip(borders, ends, strict=True):
        keep[[a, b - 1]] = True
        stretch = series.y[a:b]
        if np.isfinite(stretch).any():
            keep[[a + int(np.nanargmin(stretch)), a + int(np.nanargmax(stretch))]] = True
    gaps = np.isnan(series.y)
    keep |= gaps & ~np.roll(gaps, 1)
    return replace(series, x=series.x[keep], y=series.y[keep])


def numbers(values: Floats) -> list[float | None]:
    """Values with five significant digits, None for NaN: enough to read, and compact."""
    return [float(f"{v:.5g}") if math.isfinite(v) else None for v in values.tolist()]


def _trace(series: Series, axis: str, unit: str) -> dict[str, Any]:
    trace: dict[str, Any] = {
        "type": "scatter",
        "name": series.label,
        "legendgroup": series.group,
        "x": _times(series.x),
        "y": _times(series.y) if series.exact else numbers(series.y),
        "xaxis": "x",
        "yaxis": axis,
        "opacity": series.opacity,
        "hovertemplate": f"%{{y:.4~g}} {unit}",
    }
    if series.kind == "points":
        trace |= {"mode": "markers", "marker": {"color": f"@{series.colour}", "size": 4}}
        return trace
    trace |= {
        "mode": "lines",
        "connectgaps": False,
        "line": {
            "color": f"@{series.colour}",
            "width": series.width,
            "dash": DASHES[series.dash],
            "shape": "hv" if series.kind == "step" else "linear",
            # Strokes smaller than a pixel would be left out.
            **({"simplify": False} if series.exact else {}),
        },
    }
    if series.fill:
        trace |= {"fill": "tozeroy", "fillcolor": f"@{series.colour}/0.13"}
    return trace


def _shades(
    spans: Iterable[Span], axis: str, height: tuple[float, float], opacity: float
) -> list[dict[str, Any]]:
    """One filled outline per colour: thousands of shapes would make zooming slow."""
    low, high = height
    by_colour: dict[str, tuple[list[float | None], list[float | None]]] = {}
    for span in spans:
        x, y = by_colour.setdefault(span.colour, ([], []))
        start, end = round(span.start, 6), round(span.end, 6)
        x += [start, start, end, end, start, None]
        y += [low, high, high, low, low, None]
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "y": y,
            "xaxis": "x",
            "yaxis": axis,
            "line": {"width": 0},
            "fill": "toself",
            "fillcolor": f"@{key}/{opacity:g}",
            "hoverinfo": "skip",
        }
        for key, (x, y) in by_colour.items()
    ]


def _times(x: Floats) -> list[float | None]:
    return [round(v, 6) if math.isfinite(v) else None for v in x.tolist()]


def _layout(figure: Figure, inner: int) -> dict[str, Any]:
    layout: dict[str, Any] = {
        "height": inner + TOP_PX + BOTTOM_PX,
        "margin": {"l": 54, "r": 12, "t": TOP_PX, "b": BOTTOM_PX},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": "@ink"},
        "hovermode": "x unified",
        "hoversubplots": "axis",
        "dragmode": "zoom",
        "showlegend": False,
        "hoverlabel": {"bgcolor": "@card", "bordercolor": "@grid", "font": {"color": "@ink"}},
        "modebar": {
            "bgcolor": "rgba(0,0,0,0)",
            "color": "@faint",
            "activecolor": "@ink",
            "orientation": "h",
        },
        "xaxis": _x_axis(figure),
        "shapes": [],
        "annotations": [],
    }
    strip = STRIP_PX / inner
    for index, panel in enumerate(figure.panels, start=1):
        panel_px = round(PANEL_PX * figure.tall)
        foot = inner - STRIP_PX - index * panel_px - (index - 1) * GAP_PX
        low, high = foot / inner, (foot + panel_px) / inner
        suffix = str(index) if index > 1 else ""
        layout[f"yaxis{suffix}"] = _y_axis(panel, [round(low, 5), round(high, 5)])
        if panel.spans:
            layout[f"yaxis{STRIPS + index}"] = _strip_axis(high + 0.25 * strip, high + strip)
        layout["annotations"] += [_title(panel.title, high + (strip if panel.spans else 0))]
        layout["annotations"] += [_level_label(level, f"y{suffix}") for level in panel.levels]
        layout["shapes"] += [_level_line(level, f"y{suffix}") for level in panel.levels]
    return layout


def _x_axis(figure: Figure) -> dict[str, Any]:
    last = len(figure.panels)
    return {
        "title": {"text": figure.x_label, "standoff": 8},
        "range": list(figure.x_range),
        "anchor": f"y{last}" if last > 1 else "y",
        "gridcolor": "@grid",
        "zeroline": False,
        "ticks": "outside",
        "ticklen": 5,
        "tickcolor": "@grid",
        "showspikes": True,
        "spikemode": "across",
        "spikethickness": 1,
        "spikedash": "solid",
        "spikecolor": "@faint",
        "hoverformat": ".2f",
        "unifiedhovertitle": {"text": "%{x} s"},
    }


def _y_axis(panel: Panel, domain: list[float]) -> dict[str, Any]:
    return {
        "title": {"text": panel.y_label, "standoff": 6},
        "range": [round(edge, 6) for edge in panel.limits()],
        "domain": domain,
        "gridcolor": "@grid",
        "zeroline": False,
        "nticks": 6,
        "fixedrange": not any(series.exact for series in panel.series),
    }


def _strip_axis(low: float, high: float) -> dict[str, Any]:
    domain = [round(low, 5), round(min(high, 1.0), 5)]
    return {"domain": domain, "range": [0, 1], "visible": False, "fixedrange": True}


def _title(text: str, top: float) -> dict[str, Any]:
    return {
        "text": f"<b>{text}</b>",
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": top,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12.5},
    }


def _level_line(level: Level, axis: str) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "yref": axis,
        "y0": level.value,
        "y1": level.value,
        "line": {"color": "@faint", "width": 1, "dash": "6px,4px"},
        "layer": "below",
    }


def _level_label(level: Level, axis: str) -> dict[str, Any]:
    return {
        "text": level.label,
        "xref": "paper",
        "x": 1,
        "xanchor": "right",
        "yref": axis,
        "y": level.value,
        "yanchor": "top" if level.below else "bottom",
        "showarrow": False,
        "font": {"size": 11, "color": "@faint"},
    }
