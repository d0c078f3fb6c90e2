"""Heat maps and clouds of points in images."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Ellipse

from narrows.figures import shapes
from narrows.figures.model import Cloud, Heat
from narrows.figures.noting import NotePlace, centre
from narrows.figures.palette import colour
from narrows.figures.static.style import FAINT, INK
from narrows.words import short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_WORDS = 144
"""With more cells than this, they contain no numbers."""


def draw_heat(axes: Axes, heat: Heat) -> None:
    """Cells with their values, and the scale beside them."""
    low, high = heat.limits()
    tones = shapes.DIVERGING if heat.centre is not None else shapes.SEQUENTIAL
    steps = list(zip((0, heat.middle(), 1), tones, strict=True))
    shades = LinearSegmentedColormap.from_list("shades", steps)
    rows, columns = heat.values.shape
    axes.grid(visible=False)
    mesh = axes.pcolormesh(
        np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5,
        np.ma.masked_invalid(heat.values), cmap=shades, vmin=low, vmax=high, edgecolors="white",
        linewidth=0.8,
    )  # fmt: skip
    axes.set_facecolor("#e5e7eb")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.015, aspect=18)
    bar.outline.set_visible(False)
    bar.set_label(heat.label, color=FAINT)
    bar.ax.tick_params(length=2)
    if heat.values.size <= MOST_WORDS:
        _words(axes, heat)


def _words(axes: Axes, heat: Heat) -> None:
    (low, high), middle = heat.limits(), heat.middle()
    for (row, column), value in np.ndenumerate(heat.values):
        if math.isfinite(value):
            part = (value - low) / (high - low)
            side = middle if part < middle else 1 - middle
            strong = part > 0.55 if heat.centre is None else abs(part - middle) > 0.72 * side
            shade = "white" if strong else INK
            axes.text(
                column, row, short_number(value, 2), ha="center", va="center", size=7, color=shade
            )


def draw_note(axes: Axes, cloud: Cloud, place: NotePlace) -> None:
    """The note of a cloud beside its centre."""
    x, y = centre(cloud)
    across = "center" if place.right == 0 else "left" if place.right > 0 else "right"
    axes.annotate(cloud.note, (x, y), xytext=place, textcoords="offset points", size=7.5,
                  color=colour(cloud.colour).light, ha=across,
                  va="bottom" if place.up > 0 else "top")  # fmt: skip


def draw_cloud(axes: Axes, cloud: Cloud) -> None:
    """Points, their mean, and the ellipse of one standard deviation."""
    shade = colour(cloud.colour).light
    known = np.isfinite(cloud.x) & np.isfinite(cloud.y)
    x, y = cloud.x[known], cloud.y[known]
    if not len(x):
        return
    axes.plot(x, y, ".", color=shade, markersize=4, alpha=0.55, zorder=2.5)
    axes.plot([x.mean()], [y.mean()], "+", color=shade, markersize=8, zorder=3)
    shape = shapes.ellipse(x, y)
    if shape is not None:
        width, height, angle = shape
        axes.add_patch(
            Ellipse((x.mean(), y.mean()), width, height, angle=angle, facecolor=shade, alpha=0.18,
                    edgecolor=shade, zorder=2)
        )  # fmt: skip
