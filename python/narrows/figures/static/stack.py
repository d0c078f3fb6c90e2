"""Stacked panels on one x axis, each at a position that is known beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from narrows.figures.hiding import show_coinciding
from narrows.figures.model import Figure, Panel, Span, Stack
from narrows.figures.palette import colour
from narrows.figures.placing import label_places
from narrows.figures.static import marks
from narrows.figures.static.means import average_long
from narrows.figures.static.style import BOLD, FAINT, GRID, GUIDE_LETTER_IN, size_of, width_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

GAP_IN = 0.36
HEADING_IN, PAPER_HEADING_IN = 0.62, 0.06
LABEL_IN = 0.434
"""From an axis to its label."""
LEGEND_ROW_IN = 0.19
KEY_IN = 0.55
LETTER_IN = 0.082
STRIP_GAP_IN, STRIP_IN = 0.02, 0.06
"""The strip above a panel, which ends below the title."""
TITLE_SIZE = 8.5
BOTTOM_IN = 0.55
LEFT_IN = 0.78
RIGHT_IN = 0.22
OPTIONS: dict[str, Any] = {"facecolor": "white"}


def height(figure: Figure) -> float:
    """The height of the picture in inches."""
    count = max(len(figure.panels), 1)
    return (
        _top(figure, _legend_rows(figure))
        + BOTTOM_IN
        + count * figure.height
        + (count - 1) * GAP_IN
    )


def draw(figure: Figure, canvas: Canvas) -> None:
    """Draws every panel, the heading and the legend."""
    common = figure.stack or Stack((0.0, 1.0))
    legend = _legend_rows(figure)
    top, high, wide = _top(figure, legend), height(figure), width_of(figure)
    inner = wide - LEFT_IN - RIGHT_IN
    longest = max((len(panel.title) for panel in figure.panels), default=0)
    size = min(TITLE_SIZE, TITLE_SIZE * (inner + RIGHT_IN) / (LETTER_IN * max(longest, 1)))
    for index, panel in enumerate(figure.panels):
        bottom = high - top - figure.height - index * (figure.height + GAP_IN)
        box = (LEFT_IN / wide, bottom / high, inner / wide, figure.height / high)
        shown = average_long(show_coinciding(panel, figure.height), common.x_range, inner)
        last = index == len(figure.panels) - 1
        _panel(canvas.add_axes(box), common, shown, inner, size, last=last)
    _heading(canvas, figure, legend, high)


def _top(figure: Figure, legend: list[list[Artist]]) -> float:
    return _heading_in(figure) + len(legend) * LEGEND_ROW_IN + GAP_IN


def _heading_in(figure: Figure) -> float:
    """The height of title and subtitle, which a figure for a paper doesn't have."""
    return HEADING_IN if figure.paper_in is None else PAPER_HEADING_IN


def _heading(canvas: Canvas, figure: Figure, rows: list[list[Artist]], height: float) -> None:
    left = 0.16 / width_of(figure)
    if figure.paper_in is None:
        title, told, room = figure.title, figure.subtitle, width_of(figure) - 2 * 0.16
        size = size_of(title, 12.5, room / BOLD)
        canvas.text(left, 1 - 0.3 / height, title, size=size, weight="bold")
        size = size_of(told, 9, room)
        canvas.text(left, 1 - 0.5 / height, told, size=size, color=FAINT)
    for index, handles in enumerate(rows):
        canvas.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(left, 1 - (_heading_in(figure) + index * LEGEND_ROW_IN) / height),
            borderaxespad=0.0,
            borderpad=0.0,
            ncols=len(handles),
            frameon=False,
            handlelength=1.8,
            columnspacing=1.6,
        )


def _legend_rows(figure: Figure) -> list[list[Artist]]:
    """The keys of the legend in rows that fit the width."""
    entries = [(label, marks.key(mark, label)) for label, mark in figure.legend().items()]
    entries += [(span.label, _span_key(span)) for span in figure.span_legend()]
    rows: list[list[Artist]] = []
    room = 0.0
    for label, key in entries:
        width = KEY_IN + LETTER_IN * len(label)
        if width > room:
            rows.append([])
            room = width_of(figure) - RIGHT_IN
        rows[-1].append(key)
        room -= width
    return rows


def _span_key(span: Span) -> Artist:
    strip = span.colour.startswith(("state:", "cause:"))
    shade = colour(span.colour).light
    return Patch(facecolor=shade, alpha=1.0 if strip else 0.3, label=span.label)


def _panel(
    axes: Axes, common: Stack, panel: Panel, wide: float, size: float, *, last: bool
) -> None:
    """Draws a panel that is `wide` inches wide, with a title of this size."""
    axes.set_xlim(*common.x_range)
    axes.set_ylim(*panel.limits(common.x_range))
    # A given y saves matplotlib's search for a free place, a third of the drawing time.
    pad = 9 if panel.spans else 4
    size = min(size, TITLE_SIZE * (wide + RIGHT_IN) / (LETTER_IN * max(len(panel.title), 1)))
    axes.set_title(panel.title, loc="left", size=size, weight="bold", y=1.0, pad=pad)
    axes.set_ylabel(panel.y_label)
    axes.yaxis.set_label_coords(-LABEL_IN / wide, 0.5)
    axes.grid(axis="both", color=GRID, linewidth=0.7)
    axes.tick_params(length=2.5, labelbottom=last)
    axes.locator_params(axis="y", nbins=5)
    _shade(axes, common.spans, 0.0, 1.0, 0.3)
    tall = axes.get_window_extent().height / axes.figure.dpi
    strip = [one for one in map(common.clip, panel.spans) if one.end > one.start]
    _shade(axes, strip, 1 + STRIP_GAP_IN / tall, STRIP_IN / tall, 1.0)
    title = LETTER_IN * size / TITLE_SIZE * len(panel.title) / wide
    for guide, place in label_places(panel, common.x_range, GUIDE_LETTER_IN / wide, title):
        marks.draw_guide(axes, guide, place)
    for mark in panel.marks:
        marks.draw(axes, mark)
    if last:
        axes.set_xlabel(panel.x_label)


def _shade(axes: Axes, spans: Iterable[Span], foot: float, height: float, alpha: float) -> None:
    by_colour: dict[str, list[tuple[float, float]]] = {}
    for span in spans:
        by_colour.setdefault(span.colour, []).append((span.start, span.end - span.start))
    for key, stretches in by_colour.items():
        axes.broken_barh(
            stretches,
            (foot, height),
            transform=axes.get_xaxis_transform(),
            facecolor=colour(key).light,
            alpha=alpha,
            linewidth=0,
            zorder=1,
            clip_on=foot < 1,
        )
