"""Charts on paper: a sheet as PNG and SVG, drawn by matplotlib in the style of `static`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullFormatter

from narrows.figures.chart import Bar, Box, Chart, Cloud, Guide, Heat, Line, Sheet
from narrows.figures.marks import draw_cloud, draw_heat
from narrows.figures.palette import colour
from narrows.figures.static import DASHES, DPI, FAINT, FORMATS, GRID, INK, style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

WIDTH_IN = 8.0
HEAD_IN = 0.72
FOOT_IN = 0.12
LEGEND_IN = 0.24


def save_sheet(sheet: Sheet, stem: Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Writes `stem.png` and `stem.svg`; the same sheet gives the same bytes.

    Raises OSError if a file can't be written.
    """
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in formats]
    with style():
        canvas = draw_sheet(sheet)
        for kind, path in zip(formats, paths, strict=True):
            canvas.savefig(path, dpi=DPI, **FORMATS[kind])
    return paths


def draw_sheet(sheet: Sheet, kind: type[Canvas] = Canvas) -> Canvas:
    """The sheet as a figure of matplotlib, of the class `kind`; use within `style`."""
    rows = -(-len(sheet.charts) // sheet.columns)
    keys = legend(sheet.charts)
    height = HEAD_IN + rows * sheet.height + FOOT_IN + (LEGEND_IN if keys else 0)
    canvas = kind(figsize=(WIDTH_IN, height), layout="constrained")
    FigureCanvasAgg(canvas)
    engine: Any = canvas.get_layout_engine()
    foot = FOOT_IN / height
    top = (HEAD_IN + (LEGEND_IN if keys else 0)) / height
    engine.set(rect=(0.005, foot, 0.985, 1 - foot - top), h_pad=0.06, w_pad=0.06)
    canvas.text(0.015, 1 - 0.14 / height, sheet.title, size=11, weight="bold", va="top")
    canvas.text(0.015, 1 - 0.41 / height, sheet.subtitle, size=8.5, color=FAINT, va="top")
    grid = canvas.subplots(rows, sheet.columns, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place < len(sheet.charts):
            _chart(axes, sheet.charts[place])
        else:
            axes.set_visible(False)
    if keys:
        canvas.legend(
            handles=keys, ncols=min(len(keys), 7), loc="upper left", frameon=False, fontsize=8.5,
            bbox_to_anchor=(0.005, 1 - (HEAD_IN - 0.08) / height), handlelength=1.6,
        )  # fmt: skip
    return canvas


def legend(charts: Sequence[Chart]) -> list[Artist]:
    """One key for each label of all charts, in the order of their first marks."""
    keys: dict[str, Artist] = {}
    for chart in charts:
        for mark in chart.marks:
            if mark.label and mark.label not in keys and not isinstance(mark, Heat):
                keys[mark.label] = _key(mark)
    return list(keys.values())


def _key(mark: Line | Box | Bar | Cloud) -> Artist:
    shade = colour(mark.colour).light
    if isinstance(mark, Cloud):
        return Line2D([], [], color=shade, linestyle="", marker="o", label=mark.label)
    if isinstance(mark, Line):
        return Line2D(
            [], [], color=shade, linestyle=DASHES[mark.dash], marker=mark.marker or None,
            linewidth=2.0, markersize=4, label=mark.label,
        )  # fmt: skip
    return Patch(facecolor=shade, alpha=0.75, label=mark.label)


def _chart(axes: Axes, chart: Chart) -> None:
    if chart.title:
        axes.set_title(chart.title, loc="left", size=8.5, weight="bold")
    axes.set_xlabel(chart.x_label)
    axes.set_ylabel(chart.y_label)
    axes.set_xscale(chart.x_scale)
    axes.set_yscale(chart.y_scale)
    for axis, scale in ((axes.xaxis, chart.x_scale), (axes.yaxis, chart.y_scale)):
        if scale == "log":  # powers of ten in matplotlib's own notation need its mathtext
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.set_minor_formatter(NullFormatter())
    axes.grid(axis="both", color=GRID, linewidth=0.7)
    axes.tick_params(length=2.5)
    for mark in chart.marks:
        _DRAW[type(mark)](axes, mark)
    if chart.ticks:
        axes.set_xticks([at for at, _ in chart.ticks], [words for _, words in chart.ticks])
        axes.minorticks_off()
    if chart.y_ticks:
        axes.set_yticks([at for at, _ in chart.y_ticks], [words for _, words in chart.y_ticks])
    axes.set_xlim(*chart.x_range)
    low = None if chart.y_scale == "log" and chart.y_range[0] == 0 else chart.y_range[0]
    axes.set_ylim(low, chart.y_range[1])
    for guide in chart.guides:
        _guide(axes, guide)


def _line(axes: Axes, line: Line) -> None:
    shade = colour(line.colour).light
    drawn: dict[str, Any] = {"color": shade, "alpha": line.opacity, "zorder": 2.5}
    if line.low is not None and line.high is not None:
        if line.band:
            axes.fill_between(
                line.x, line.low, line.high, color=shade, alpha=0.16, linewidth=0,
                step="post" if line.step else None,
            )  # fmt: skip
        else:
            reach = np.vstack([line.y - line.low, line.high - line.y]).clip(0)
            axes.errorbar(line.x, line.y, reach, fmt="none", ecolor=shade, elinewidth=0.9,
                          capsize=2.0, alpha=0.8, zorder=2.4)  # fmt: skip
    axes.plot(
        line.x, line.y, linestyle=DASHES[line.dash], linewidth=line.width, marker=line.marker,
        markersize=4, drawstyle="steps-post" if line.step else "default", **drawn,
    )  # fmt: skip


def _box(axes: Axes, box: Box) -> None:
    values = box.values[np.isfinite(box.values)]
    if not len(values):
        return
    shade = colour(box.colour).light
    axes.boxplot(
        [values], positions=[box.x], widths=0.32, patch_artist=True, manage_ticks=False,
        boxprops={"facecolor": shade, "alpha": 0.45, "edgecolor": shade},
        medianprops={"color": INK, "linewidth": 1.2},
        whiskerprops={"color": shade}, capprops={"color": shade},
        flierprops={"marker": ".", "markersize": 2.5, "markerfacecolor": shade,
                    "markeredgecolor": "none"},
    )  # fmt: skip


def _bar(axes: Axes, bar: Bar) -> None:
    axes.bar(bar.x, bar.y, width=bar.width, color=colour(bar.colour).light, alpha=0.75)
    if bar.interval is not None:
        low, high = bar.interval
        axes.errorbar(bar.x, bar.y, [[bar.y - low], [high - bar.y]], ecolor=INK, elinewidth=0.7,
                      capsize=1.5, fmt="none")  # fmt: skip


def _guide(axes: Axes, guide: Guide) -> None:
    rule = {"color": FAINT, "linewidth": 0.9, "linestyle": DASHES["dash"], "zorder": 1.5}
    words: dict[str, Any] = {"color": FAINT, "size": 7.5, "textcoords": "offset points"}
    words["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.6}
    if guide.upright:
        axes.axvline(guide.value, **rule)
        place = (guide.value, 1.0)
        axes.annotate(guide.label, place, xycoords=axes.get_xaxis_transform(), xytext=(3, -2),
                      va="top", **words)  # fmt: skip
    else:
        axes.axhline(guide.value, **rule)
        place = (1.0, guide.value)
        axes.annotate(guide.label, place, xycoords=axes.get_yaxis_transform(), xytext=(0, 2),
                      ha="right", va="bottom", **words)  # fmt: skip


_DRAW: dict[type, Callable[[Any, Any], None]] = {
    Line: _line,
    Box: _box,
    Bar: _bar,
    Heat: draw_heat,
    Cloud: draw_cloud,
}
