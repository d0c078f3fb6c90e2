"""A stack as one plot, all panels on one x axis so that they zoom together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from narrows.figures.hiding import show_coinciding
from narrows.figures.interactive.grid import BACKING
from narrows.figures.interactive.plot import Plot, colours, words
from narrows.figures.interactive.thin import thin
from narrows.figures.interactive.traces import traces
from narrows.figures.model import Figure, Guide, Panel, Span, Stack
from narrows.figures.placing import LabelPlace, label_places

PX_PER_IN = 150 / 1.55
GAP_PX = 36
LETTER_PX, LEAST_PX = 5.5, 700
"""The width of a letter of a label, and of the axes on a screen that isn't wide."""
STRIP_PX = 8

STRIPS = 100
"""Axes of the strips above the panels are numbered from here."""
TOP_PX = 42
BOTTOM_PX = 46


def plot(figure: Figure, common: Stack) -> Plot:
    """The stack for plotly.js; the page has its legend."""
    panels = tuple(show_coinciding(panel, figure.height) for panel in figure.panels)
    figure = replace(figure, panels=panels)
    count = max(len(figure.panels), 1)
    inner = STRIP_PX + count * _panel_px(figure) + (count - 1) * GAP_PX
    thinned = False
    data: list[dict[str, Any]] = []
    for index, panel in enumerate(figure.panels, start=1):
        axis = _axis(index)
        data += _shades(common.spans, axis, panel.limits(common.x_range), 0.28)
        data += _shades(panel.spans, _axis(STRIPS + index), (0.0, 1.0), 1.0)
        for line in panel.lines:
            short = thin(line)
            thinned = thinned or short is not line
            place = {"xaxis": "x", "yaxis": axis, "hovertemplate": f"%{{y:.4~g}} {panel.y_label}"}
            data += [trace | place for trace in traces(short)]
    marks = [mark for panel in figure.panels for mark in panel.marks]
    spans = [*common.spans, *(span for panel in figure.panels for span in panel.spans)]
    return Plot(
        name=figure.name,
        data=data,
        layout=_layout(figure, common, inner),
        height=inner + TOP_PX + BOTTOM_PX,
        thinned=thinned,
        colours=colours(marks, spans),
    )


def _panel_px(figure: Figure) -> int:
    return round(PX_PER_IN * figure.height)


def _axis(index: int) -> str:
    return "y" if index == 1 else f"y{index}"


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


def _layout(figure: Figure, common: Stack, inner: int) -> dict[str, Any]:
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
        "xaxis": _x_axis(figure, common),
        "shapes": [],
        "annotations": [],
    }
    strip = STRIP_PX / inner
    for index, panel in enumerate(figure.panels, start=1):
        panel_px = _panel_px(figure)
        foot = inner - STRIP_PX - index * panel_px - (index - 1) * GAP_PX
        low, high = foot / inner, (foot + panel_px) / inner
        suffix = str(index) if index > 1 else ""
        layout[f"yaxis{suffix}"] = _y_axis(panel, common, [round(low, 5), round(high, 5)])
        if panel.spans:
            layout[f"yaxis{STRIPS + index}"] = _strip_axis(high + 0.25 * strip, high + strip)
        layout["annotations"] += [_title(panel.title, high + (strip if panel.spans else 0))]
        places = label_places(panel, common.x_range, LETTER_PX / LEAST_PX)
        layout["annotations"] += [_note(guide, place, f"y{suffix}") for guide, place in places]
        layout["shapes"] += [_rule(guide, f"y{suffix}") for guide in panel.guides]
    return layout


def _x_axis(figure: Figure, common: Stack) -> dict[str, Any]:
    last = len(figure.panels)
    return {
        "title": {"text": words(figure.panels[-1].x_label) if figure.panels else "", "standoff": 8},
        "range": list(common.x_range),
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


def _y_axis(panel: Panel, common: Stack, domain: list[float]) -> dict[str, Any]:
    return {
        "title": {"text": words(panel.y_label), "standoff": 6},
        "range": [round(edge, 6) for edge in panel.limits(common.x_range)],
        "domain": domain,
        "gridcolor": "@grid",
        "zeroline": False,
        "nticks": 6,
        "fixedrange": not any(line.exact for line in panel.lines),
    }


def _strip_axis(low: float, high: float) -> dict[str, Any]:
    domain = [round(low, 5), round(min(high, 1.0), 5)]
    return {"domain": domain, "range": [0, 1], "visible": False, "fixedrange": True}


def _title(text: str, top: float) -> dict[str, Any]:
    return {
        "text": f"<b>{words(text)}</b>",
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": top,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12.5},
    }


def _rule(guide: Guide, axis: str) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "yref": axis,
        "y0": guide.value,
        "y1": guide.value,
        "line": {"color": "@faint", "width": 1, "dash": "6px,4px"},
        "layer": "below",
    }


def _note(guide: Guide, place: LabelPlace, axis: str) -> dict[str, Any]:
    return {
        "text": words(guide.label),
        "xref": "paper",
        "x": int(place.right) if place.left is None else place.left,
        "xanchor": "right" if place.right else "left",
        "yref": axis,
        "y": guide.value,
        "yanchor": "top" if place.below else "bottom",
        "showarrow": False,
        "font": {"size": 11, "color": "@faint"},
        "bgcolor": BACKING,
    }
