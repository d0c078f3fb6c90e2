"""A panel as a separate plot."""

from __future__ import annotations

import math
from typing import Any

from narrows.figures.hiding import show_hidden
from narrows.figures.interactive.plot import Plot, colours, words
from narrows.figures.interactive.thin import thin
from narrows.figures.interactive.traces import traces
from narrows.figures.model import Guide, Line, Panel

HEIGHT_PX = 420
BACKING = "@ground/0.75"
"""Behind the labels of guides; curves and points shine through."""


def plot(panel: Panel, name: str) -> Plot:
    """The panel for plotly.js, with its own legend."""
    panel = show_hidden(panel)
    marks = [thin(mark) if isinstance(mark, Line) else mark for mark in panel.marks]
    seen: set[str] = set()
    data = []
    for mark, trace in ((one, trace) for one in marks for trace in traces(one)):
        if isinstance(mark, Line) and mark.marker and panel.holds(mark):
            trace["cliponaxis"] = False
        entry = trace.get("legendgroup", "")
        data.append({**trace, "showlegend": bool(entry) and entry not in seen})
        seen.add(entry)
    thinned = any(mark is not whole for mark, whole in zip(marks, panel.marks, strict=True))
    return Plot(name, data, _layout(panel), HEIGHT_PX, thinned, colours(panel.marks))


def _layout(panel: Panel) -> dict[str, Any]:
    return {
        "title": {
            "text": words(panel.title),
            "font": {"size": 13},
            "x": 0,
            "xref": "paper",
            # Below the buttons, which a narrow panel's title would meet.
            "y": 1,
            "yref": "paper",
            "yanchor": "bottom",
            "pad": {"b": 8},
        },
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": "@faint", "activecolor": "@ink"},
        "legend": {"orientation": "h", "y": -0.2, "yanchor": "top"},
        "xaxis": _axis(panel.x_label, panel.x_scale, panel.x_range, panel.ticks),
        "yaxis": _axis(panel.y_label, panel.y_scale, panel.y_ends, panel.y_ticks),
        "shapes": [_rule(guide) for guide in panel.guides],
        "annotations": [_note(guide, panel) for guide in panel.guides],
        "height": HEIGHT_PX,
        "margin": {"l": 60, "r": 20, "t": 60, "b": 50},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, sans-serif", "size": 12, "color": "@ink"},
        "hoverlabel": {"bgcolor": "@card", "bordercolor": "@grid", "font": {"color": "@ink"}},
        "boxmode": "overlay",
    }


def _rule(guide: Guide) -> dict[str, Any]:
    across, along = ("y", "x") if guide.upright else ("x", "y")
    return {
        "type": "line",
        "line": {"color": "@faint", "width": 1, "dash": "dash"},
        f"{across}ref": "paper",
        f"{across}0": 0,
        f"{across}1": 1,
        f"{along}0": guide.value,
        f"{along}1": guide.value,
    }


def _note(guide: Guide, panel: Panel) -> dict[str, Any]:
    across, along = ("y", "x") if guide.upright else ("x", "y")
    scale = panel.x_scale if guide.upright else panel.y_scale
    end = panel.clear_end(guide)
    foot = guide.upright and not end
    return {
        f"{across}ref": "paper",
        across: end,
        along: math.log10(guide.value) if scale == "log" else guide.value,
        "text": words(guide.label),
        "showarrow": False,
        "yanchor": "top" if guide.below and not foot else "bottom",
        "font": {"color": "@faint", "size": 11},
        "bgcolor": BACKING,
    }


def _axis(
    label: str,
    scale: str,
    ends: tuple[float | None, float | None],
    ticks: tuple[tuple[float, str], ...],
) -> dict[str, Any]:
    title = {"text": words(label)}
    found: dict[str, Any] = {"title": title, "type": scale, "gridcolor": "@grid"}
    low, high = ends
    if low is not None and high is not None and (scale == "linear" or low > 0):
        found["range"] = [math.log10(low), math.log10(high)] if scale == "log" else [low, high]
    elif low == 0 and scale == "linear":
        found["rangemode"] = "tozero"
    if ticks:
        found["zeroline"] = False
        found["tickvals"] = [at for at, _ in ticks]
        found["ticktext"] = [words(text) for _, text in ticks]
    return found
