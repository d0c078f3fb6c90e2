"""What a figure is, before anything draws it.

A figure is described once with these classes and drawn twice: by
`narrows.figures.static` for paper and by `narrows.figures.interactive` for the
page that a person can zoom.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["line", "step", "points"]
Dash: TypeAlias = Literal["solid", "dash", "dot"]

HEADROOM = 1.06
"""How far an automatic axis reaches above the largest value."""


@dataclass(frozen=True, slots=True)
class Series:
    """One run of values over the common x axis.

    Missing values are NaN and leave a gap. A `step` holds each value until the
    next x. With `fill`, the area down to zero is tinted. `colour` is a key of
    `narrows.figures.palette`, never a colour itself. Series with the same
    `group` share one entry of the legend; an empty group has none.
    """

    label: str
    x: Floats
    y: Floats
    colour: str
    kind: Kind = "line"
    dash: Dash = "solid"
    width: float = 1.6
    opacity: float = 1.0
    fill: bool = False
    group: str = ""
    exact: bool = False
    """Every point counts, with all its digits: nothing is thinned out on a page."""

    def __post_init__(self) -> None:
        """Refuse vectors that don't match."""
        if self.x.shape != self.y.shape or self.x.ndim != 1:
            raise ValueError(f"{self.label}: x has shape {self.x.shape} and y {self.y.shape}")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of the x axis to shade, such as a stay in PROBE_RTT."""

    start: float
    end: float
    colour: str
    label: str


@dataclass(frozen=True, slots=True)
class Level:
    """A horizontal reference line with words above or below it, such as the buffer's size."""

    value: float
    label: str
    below: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes.

    `spans` are drawn as a strip above; spans over the whole height
    belong to the figure. A `low` of None follows the data; the upper limit does
    so above `least_high`.
    """

    title: str
    y_label: str
    series: tuple[Series, ...]
    low: float | None = None
    least_high: float = -np.inf
    levels: tuple[Level, ...] = ()
    spans: tuple[Span, ...] = ()

    def limits(self, x_range: tuple[float, float] = (-np.inf, np.inf)) -> tuple[float, float]:
        """The ends of a y axis on which all that lies in a stretch of the x axis is seen."""
        start, end = x_range
        shown = [s.y[(s.x >= start) & (s.x <= end)] for s in self.series]
        pool = np.concatenate([*shown, [v.value for v in self.levels]])
        pool = pool[np.isfinite(pool)]
        least, most = (float(pool.min()), float(pool.max())) if pool.size else (0.0, 0.0)
        if least == most and self.low is None:
            least, most = least - 0.5, most + 0.5
        low = self.low if self.low is not None else least - (HEADROOM - 1) * (most - least)
        high = max(low + HEADROOM * (most - low), self.least_high)
        return (low, high) if high > low else (low, low + 1.0)


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels above each other that share one x axis.

    `spans` are shaded through every panel. `alt` says in words what the figure
    shows, for people who can't see it.
    """

    name: str
    title: str
    subtitle: str
    x_label: str
    x_range: tuple[float, float]
    panels: tuple[Panel, ...]
    spans: tuple[Span, ...] = ()
    alt: str = ""
    tall: float = 1.0
    """Height of a panel, of the usual."""

    def between(self, start: float, end: float) -> Figure:
        """The same figure with the x axis from `start` to `end`."""
        return replace(self, x_range=(start, end))

    def legend(self) -> list[Series]:
        """The first series of every group, in the order of appearance."""
        first: dict[str, Series] = {}
        for panel in self.panels:
            for series in panel.series:
                if series.group:
                    first.setdefault(series.group, series)
        return list(first.values())

    def span_legend(self) -> list[Span]:
        """The first span of every label, in the order of appearance."""
        first: dict[str, Span] = {}
        for span in (*self.spans, *(s for panel in self.panels for s in panel.spans)):
            first.setdefault(span.label, span)
        return list(first.values())
