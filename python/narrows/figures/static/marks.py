"""Marks in images: lines with their spreads, boxes, bars, guides, and the keys of a legend."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from narrows.figures.model import WIDTH_OF_LABEL, Bar, BoxPlot, Cloud, Guide, Heat, Line, Mark
from narrows.figures.palette import colour
from narrows.figures.placing import LabelPlace
from narrows.figures.static.fields import draw_cloud, draw_heat
from narrows.figures.static.style import DASHES, FAINT, INK

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes


RULE = {"color": FAINT, "linewidth": 0.9, "linestyle": DASHES["dash"], "zorder": 1.5}
WORDS: dict[str, Any] = {
    "color": FAINT,
    "size": 7.5,
    "textcoords": "offset points",
    "zorder": 4,
    # Points behind the box show through. A halo would turn the label into outlines, which nobody
    # can search or select.
    "bbox": {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6},
}
FILLED = 0.13
"""The opacity of the area below a line."""


def draw(axes: Axes, mark: Mark, *, whole: bool = False) -> None:
    """Draws one mark of any kind; a line's markers at the ends of the axes `whole` on request."""
    if isinstance(mark, Line):
        _line(axes, mark, clip=not (whole and mark.marker))
    else:
        _DRAW[type(mark)](axes, mark)


def key(mark: Mark, label: str) -> Artist:
    """The key of a mark in a legend."""
    if isinstance(mark, Heat):
        return Patch(visible=False)
    shade = colour(mark.colour).light
    if isinstance(mark, Cloud):
        return Line2D([], [], color=shade, linestyle="", marker="o", label=label)
    if not isinstance(mark, Line):
        return Patch(facecolor=shade, alpha=0.75, label=label)
    if mark.fill:
        return Patch(facecolor=to_rgba(shade, FILLED), edgecolor=shade, linewidth=0.8, label=label)
    if mark.kind == "points":
        return Line2D(
            [], [], color=shade, marker=mark.marker or ".", linestyle="", label=label,
            fillstyle="none" if mark.hollow else "full",
        )  # fmt: skip
    return Line2D(
        [], [], color=shade, linestyle=DASHES[mark.dash], marker=mark.marker or None,
        linewidth=2.0, markersize=4, label=label,
    )  # fmt: skip


def _line(axes: Axes, line: Line, clip: bool) -> None:
    shade = colour(line.colour).light
    if line.kind == "points" and not line.marker:
        size = 2.0 if line.exact else 3.5
        axes.plot(
            line.x, line.y, ".", color=shade, markersize=size, zorder=3, rasterized=line.exact
        )
        return
    how: Any = "post" if line.kind == "step" else None
    _spread(axes, line, shade, how, clip)
    apart = line.kind == "points"
    axes.plot(
        line.x, line.y, color=shade, linewidth=0 if apart else line.width,
        linestyle=DASHES[line.dash], marker=line.marker,
        markersize=5 if apart else 2.5 + max(line.width, 1.5),
        alpha=line.opacity, zorder=3.1 if line.hollow else 2.5, clip_on=clip,
        markerfacecolor="white" if line.hollow else shade,
        drawstyle="steps-post" if how else "default", rasterized=line.exact,
    )  # fmt: skip
    if line.fill:
        axes.fill_between(line.x, line.y, color=shade, alpha=FILLED, linewidth=0, step=how)


def _spread(axes: Axes, line: Line, shade: str, how: Any, clip: bool) -> None:  # noqa: ANN401
    if line.low is None or line.high is None:
        return
    if line.band:
        axes.fill_between(
            line.x, line.low, line.high, color=shade, alpha=0.16, linewidth=0, step=how
        )
        return
    reach = np.vstack([line.y - line.low, line.high - line.y]).clip(0)
    axes.errorbar(
        line.x, line.y, reach, fmt="none", ecolor=shade, elinewidth=0.9, capsize=2.0, alpha=0.8,
        zorder=2.4, clip_on=clip,
    )  # fmt: skip


def _box(axes: Axes, box: BoxPlot) -> None:
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
        # The mean of equal values may be rounded beyond them.
        reach = [[max(bar.y - low, 0.0)], [max(high - bar.y, 0.0)]]
        axes.errorbar(bar.x, bar.y, reach, ecolor=INK, elinewidth=0.7, capsize=1.5, fmt="none")


def draw_upright_guide(axes: Axes, guide: Guide, end: int = 1) -> None:
    """An upright dashed line, with its label at the top (1) or the foot, on the side with room."""
    axes.axvline(guide.value, **RULE)
    up, anchor = (-2, "top") if end else (2, "bottom")
    on_axes = axes.transScale + axes.transLimits
    at, _ = on_axes.transform((guide.value, axes.get_ylim()[1]))
    before = at > 1 - WIDTH_OF_LABEL
    axes.annotate(guide.label, (guide.value, end), xycoords=axes.get_xaxis_transform(),
                  xytext=(-3 if before else 3, up), ha="right" if before else "left", va=anchor,
                  **WORDS)  # fmt: skip


def draw_guide(axes: Axes, guide: Guide, place: LabelPlace | float) -> None:
    """A dashed line with its label at a place, or outside the axes, this part of them above it."""
    axes.axhline(guide.value, **RULE)
    words = {**WORDS, "xycoords": axes.get_yaxis_transform()}
    if isinstance(place, float):
        on_axes = axes.transScale + axes.transLimits
        _, at = on_axes.transform((axes.get_xlim()[1], guide.value))
        words |= {"xycoords": axes.transAxes}
        axes.annotate(guide.label, (1, at + place), xytext=(3, 0), va="center", **words)
        return
    x = place.right if place.left is None else place.left
    gap = (0 if place.right else 3, -3 if place.below else 2)
    axes.annotate(guide.label, (x, guide.value), xytext=gap, ha="right" if place.right else "left",
                  va="top" if place.below else "bottom", **words)  # fmt: skip


_DRAW: dict[type, Callable[[Any, Any], None]] = {
    BoxPlot: _box,
    Bar: _bar,
    Heat: draw_heat,
    Cloud: draw_cloud,
}
