"""Panels in rows and columns, each with its own axes; matplotlib makes room for the text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import AutoLocator, FuncFormatter, LogLocator, NullFormatter

from narrows.figures.hiding import show_hidden
from narrows.figures.model import Figure, Line, Panel
from narrows.figures.noting import note_places
from narrows.figures.placing import places_across
from narrows.figures.static import marks
from narrows.figures.static.fields import draw_note
from narrows.figures.static.legend import legend
from narrows.figures.static.means import average_long
from narrows.figures.static.style import BOLD, FAINT, GRID, GUIDE_LETTER_IN, size_of, width_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEAD_IN = 0.72
FOOT_IN = 0.12
PAPER_HEAD_IN = 0.1
LETTER_IN = 0.072
"""The width of a letter of a label."""
NARROW = 3.0
"""A logarithmic axis whose ends differ by a smaller factor has too few of the ticks 1, 2 and 5."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
AXIS = 0.8
"""The part of a panel that its axes take."""
OPTIONS: dict[str, Any] = {"layout": "constrained"}


def height(figure: Figure) -> float:
    """The height of the picture in inches."""
    return _inner(figure) + legend(figure, _inner(figure)).height


def _inner(figure: Figure) -> float:
    """The height of the picture without its legend."""
    rows = -(-len(figure.panels) // figure.columns)
    return _head(figure) + rows * figure.height + FOOT_IN


def _head(figure: Figure) -> float:
    """The height of title and subtitle, which a figure for a paper doesn't have."""
    return HEAD_IN if figure.paper_in is None else PAPER_HEAD_IN


def draw(figure: Figure, canvas: Canvas) -> None:
    """Draws every panel, the heading and the legend."""
    keys = legend(figure, _inner(figure))
    high = _inner(figure) + keys.height
    engine: Any = canvas.get_layout_engine()
    foot = FOOT_IN / high
    top = (_head(figure) + keys.height) / high
    engine.set(rect=(0.005, foot, 0.985, 1 - foot - top), h_pad=0.06, w_pad=0.06)
    if figure.paper_in is None:
        title, told, room = figure.title, figure.subtitle, 0.97 * width_of(figure)
        size = size_of(title, 11, room / BOLD)
        canvas.text(0.015, 1 - 0.14 / high, title, size=size, weight="bold", va="top")
        size = size_of(told, 8.5, room)
        canvas.text(0.015, 1 - 0.41 / high, told, size=size, color=FAINT, va="top")
    rows = -(-len(figure.panels) // figure.columns)
    grid = canvas.subplots(rows, figure.columns, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place < len(figure.panels):
            size_in = (width_of(figure) / figure.columns, figure.height)
            _panel(axes, show_hidden(figure.panels[place]), size_in)
            _label(axes, figure, place)
        else:
            axes.set_visible(False)
    keys.draw(canvas, 1 - (_head(figure) - 0.08) / high)


def _label(axes: Axes, figure: Figure, place: int) -> None:
    """Sets the axes' labels, wrapped; labels that panels share are at the figure's edge only."""
    panel, columns = figure.panels[place], figure.columns
    below = place + columns
    if below >= len(figure.panels) or figure.panels[below].x_label != panel.x_label:
        axes.set_xlabel(_wrap(panel.x_label, width_of(figure) / columns))
    left = place - 1
    if place % columns == 0 or figure.panels[left].y_label != panel.y_label:
        axes.set_ylabel(_wrap(panel.y_label, figure.height))


def _wrap(text: str, room_in: float) -> str:
    """Wraps a text to fit beside an axis of a panel of this size."""
    return textwrap.fill(text, max(int(AXIS * room_in / LETTER_IN), 12))


def _panel(axes: Axes, panel: Panel, size_in: tuple[float, float]) -> None:
    room_in, _ = size_in
    start, end = panel.x_range
    if start is not None and end is not None and end > start and panel.x_scale == "linear":
        panel = average_long(panel, (start, end), AXIS * room_in)
    if panel.title:
        axes.set_title(_wrap(panel.title, room_in), loc="left", size=8.5, weight="bold")
    axes.set_xscale(panel.x_scale)
    axes.set_yscale(panel.y_scale)
    axes.grid(axis="both", color=GRID, linewidth=0.7)
    axes.tick_params(length=2.5)
    for mark in panel.marks:
        marks.draw(axes, mark, whole=isinstance(mark, Line) and panel.holds(mark))
    axes.set_xlim(*panel.x_range)
    floor, top = panel.y_ends
    axes.set_ylim(None if panel.y_scale == "log" and floor == 0 else floor, top)
    for axis, scale in ((axes.xaxis, panel.x_scale), (axes.yaxis, panel.y_scale)):
        if scale == "log":  # powers of ten in matplotlib's own notation need its mathtext
            low, high = axis.get_data_interval()
            subs = (1, 2, 5) if low > 0 and high < 300 * low else (1,)
            first, last = axis.get_view_interval()
            narrow = last < NARROW * first
            axis.set_major_locator(AutoLocator() if narrow else LogLocator(subs=subs))
            axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
            axis.set_minor_formatter(NullFormatter())
    if panel.ticks:
        room = AXIS * room_in / LETTER_IN
        shown = thin_ticks(panel.ticks, room) if panel.x_scale == "log" else panel.ticks
        axes.set_xticks([at for at, _ in shown], [words for _, words in shown])
        letters = sum(len(words) + 1 for _, words in shown)
        if letters > room:
            axes.tick_params(axis="x", labelsize=max(8.5 * room / letters, 5.5))
        axes.minorticks_off()
    if panel.y_ticks:
        axes.set_yticks([at for at, _ in panel.y_ticks], [words for _, words in panel.y_ticks])
    for guide in panel.guides:
        if guide.upright:
            marks.draw_upright_guide(axes, guide, panel.clear_end(guide))
    for guide, place in places_across(panel, GUIDE_LETTER_IN / (AXIS * room_in)):
        marks.draw_guide(axes, guide, place)
    inner_in = (AXIS * size_in[0], AXIS * size_in[1])
    for cloud, beside in note_places(panel, inner_in, GUIDE_LETTER_IN):
        draw_note(axes, cloud, beside)


def plain(value: float) -> str:
    """A value of a logarithmic axis: "0.001", "2", or a power of ten, "10⁻⁶"."""
    power = round(math.log10(value)) if value > 0 else 0
    if 1e-4 <= value < 1e6 or not math.isclose(value, 10.0**power):
        return f"{value:g}"
    return "10" + str(power).translate(RAISED)


def thin_ticks(ticks: Sequence[tuple[float, str]], room: float) -> list[tuple[float, str]]:
    """The ticks whose labels don't touch on a logarithmic axis that is `room` letters long."""
    places = np.log([at for at, _ in ticks])
    letters = room / max(float(places.max() - places.min()), 1e-9)
    kept: list[int] = []
    for number, (_, words) in enumerate(ticks):
        if kept:
            before = ticks[kept[-1]][1]
            if (places[number] - places[kept[-1]]) * letters < (len(before) + len(words)) / 2 + 1:
                continue
        kept.append(number)
    return [ticks[number] for number in kept]
