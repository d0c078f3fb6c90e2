"""Figures for paper: PNG and SVG, drawn by matplotlib.

pyplot is never imported: it is slow to load and keeps every figure alive. The
same description always gives the same bytes: no date, no random identifiers,
and the typeface that matplotlib brings along.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from narrows.figures.model import Figure, Level, Panel, Series, Span
from narrows.figures.palette import colour

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

WIDTH_IN = 8.0
PANEL_IN = 1.55
GAP_IN = 0.36
HEADING_IN = 0.62
LEGEND_ROW_IN = 0.19
KEY_IN = 0.55
LETTER_IN = 0.082
BOTTOM_IN = 0.55
LEFT_IN = 0.78
RIGHT_IN = 0.22
DPI = 160

INK = "#1f2937"
FAINT = "#6b7280"
GRID = "#e5e7eb"

STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 8.5,
    "text.color": INK,
    "axes.edgecolor": "#9ca3af",
    "axes.labelcolor": FAINT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": "#9ca3af",
    "xtick.labelcolor": INK,
    "ytick.color": "#9ca3af",
    "ytick.labelcolor": INK,
    "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round",
    "svg.fonttype": "none",
    "svg.hashsalt": "narrows",
    "text.parse_math": False,
}

DASHES: dict[str, Any] = {"solid": "-", "dash": (0, (5, 2)), "dot": (0, (1.2, 1.4))}
FORMATS: dict[str, dict[str, Any]] = {
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 4}},
    "svg": {"metadata": {"Date": None, "Creator": None}},
}
"""What is saved with each: nothing that changes from run to run."""


def save(figure: Figure, stem: Path, formats: Iterable[str] = ("png", "svg")) -> list[Path]:
    """Write the figure as `stem.png` and `stem.svg` and return their paths.

    Raises ValueError for another format and OSError if a file can't be written.
    """
    wanted = list(formats)
    unknown = [kind for kind in wanted if kind not in FORMATS]
    if unknown:
        raise ValueError(f"figure format {unknown[0]!r}: png or svg is needed")
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in wanted]
    with style():
        canvas = draw(figure)
        for kind, path in zip(wanted, paths, strict=True):
            canvas.savefig(path, dpi=DPI, **FORMATS[kind])
    return paths


def style() -> AbstractContextManager[None]:
    """Our settings of matplotlib, for as long as the context lasts."""
    return matplotlib.rc_context(STYLE)


def draw(figure: Figure, kind: type[Canvas] = Canvas) -> Canvas:
    """The figure as matplotlib's own, to be changed or saved further; use within `style`.

    `kind` is the class of the figure.
    """
    count = max(len(figure.panels), 1)
    legend = _legend_rows(figure)
    top = HEADING_IN + len(legend) * LEGEND_ROW_IN + GAP_IN
    panel_in = PANEL_IN * figure.tall
    height = top + BOTTOM_IN + count * panel_in + (count - 1) * GAP_IN
    canvas = kind(figsize=(WIDTH_IN, height), facecolor="white")
    FigureCanvasAgg(canvas)
    inner = WIDTH_IN - LEFT_IN - RIGHT_IN
    for index, panel in enumerate(figure.panels):
        bottom = height - top - panel_in - index * (panel_in + GAP_IN)
        box = (LEFT_IN / WIDTH_IN, bottom / height, inner / WIDTH_IN, panel_in / height)
        _panel(canvas.add_axes(box), figure, panel, last=index == count - 1)
    _heading(canvas, figure, legend, height)
    return canvas


def _heading(canvas: Canvas, figure: Figure, rows: list[list[Artist]], height: float) -> None:
    left = 0.16 / WIDTH_IN
    canvas.text(left, 1 - 0.3 / height, figure.title, size=12.5, weight="bold")
    canvas.text(left, 1 - 0.5 / height, figure.subtitle, size=9, color=FAINT)
    for index, handles in enumerate(rows):
        canvas.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(left, 1 - (HEADING_IN + index * LEGEND_ROW_IN) / height),
            borderaxespad=0.0,
            borderpad=0.0,
            ncols=len(handles),
            frameon=False,
            handlelength=1.8,
            columnspacing=1.6,
        )


def _legend_rows(figure: Figure) -> list[list[Artist]]:
    """The keys of the legend, broken into rows that fit the width."""
    entries = [(series.group, _key(series)) for series in figure.legend()]
    entries += [(span.label, _span_key(span)) for span in figure.span_legend()]
    rows: list[list[Artist]] = []
    room = 0.0
    for label, key in entries:
        width = KEY_IN + LETTER_IN * len(label)
        if width > room:
            rows.append([])
            room = WIDTH_IN - RIGHT_IN
        rows[-1].append(key)
        room -= width
    return rows


def _key(series: Series) -> Artist:
    shade = colour(series.colour).light
    if series.kind == "points":
        return Line2D([], [], color=shade, marker=".", linestyle="", label=series.group)
    dashes = DASHES[series.dash]
    return Line2D([], [], color=shade, linewidth=2.0, linestyle=dashes, label=series.group)


def _span_key(span: Span) -> Artist:
    strip = span.colour.startswith("state:")
    shade = colour(span.colour).light
    return Patch(facecolor=shade, alpha=1.0 if strip else 0.3, label=span.label)


def _panel(axes: Axes, figure: Figure, panel: Panel, last: bool) -> None:
    axes.set_xlim(*figure.x_range)
    axes.set_ylim(*panel.limits(figure.x_range))
    # A given y spares matplotlib the search for a free place, a third of the drawing time.
    pad = 9 if panel.spans else 4
    axes.set_title(panel.title, loc="left", size=8.5, weight="bold", y=1.0, pad=pad)
    axes.set_ylabel(panel.y_label)
    axes.yaxis.set_label_coords(-0.062, 0.5)
    axes.grid(axis="both", color=GRID, linewidth=0.7)
    axes.tick_params(length=2.5, labelbottom=last)
    axes.locator_params(axis="y", nbins=5)
    _shade(axes, figure.spans, 0.0, 1.0, 0.3)
    _shade(axes, panel.spans, 1.015, 0.045, 1.0)
    for level in panel.levels:
        _level(axes, level)
    for series in panel.series:
        _series(axes, series)
    if last:
        axes.set_xlabel(figure.x_label)


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


def _level(axes: Axes, level: Level) -> None:
    axes.axhline(level.value, color=FAINT, linewidth=0.9, linestyle=DASHES["dash"], zorder=1.5)
    axes.annotate(
        level.label,
        (1.0, level.value),
        xycoords=axes.get_yaxis_transform(),
        xytext=(0, -3 if level.below else 2),
        textcoords="offset points",
        ha="right",
        va="top" if level.below else "bottom",
        color=FAINT,
        size=7.5,
    )


def _series(axes: Axes, series: Series) -> None:
    shade = colour(series.colour).light
    if series.kind == "points":
        size = 2.0 if series.exact else 3.5
        axes.plot(
            series.x, series.y, ".", color=shade, markersize=size, zorder=3, rasterized=series.exact
        )
        return
    step = series.kind == "step"
    axes.plot(
        series.x,
        series.y,
        color=shade,
        linewidth=series.width,
        linestyle=DASHES[series.dash],
        alpha=series.opacity,
        drawstyle="steps-post" if step else "default",
        zorder=2.5,
        rasterized=series.exact,
    )
    if series.fill:
        how: Any = "post" if step else None
        axes.fill_between(series.x, series.y, color=shade, alpha=0.13, linewidth=0, step=how)
