"""The description of a figure, independent of how it is drawn.

A figure is described once with these classes and drawn by `narrows.figures.static` for images and
by `narrows.figures.interactive` for a zoomable page.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
LineKind: TypeAlias = Literal["line", "step", "points"]
Dash: TypeAlias = Literal["solid", "dash", "dot", "dashdot"]
Scale: TypeAlias = Literal["linear", "log"]

HEADROOM = 1.06
"""How far an automatic axis of a stack reaches above the largest value."""
HEADROOM_OF_LABEL = 0.12
WIDTH_OF_LABEL = 0.15
"""The room of a guide's label, as parts of the axes."""
PANEL_IN = 1.7
"""The least width of a panel in a paper."""
ROW_IN = 2.6
"""The usual height of a row of panels, in inches."""


@dataclass(frozen=True, slots=True)
class Line:
    """Values over x. Missing values are NaN and leave a gap.

    `colour` is a key of `narrows.figures.palette`, never a colour itself. A
    `step` holds each value until the next x; `points` aren't joined; with a
    `marker` they are few and large, and may have a spread. `low` and
    `high` are a spread: error bars, or a band if `band`. With `fill`, the area
    down to zero is tinted. Lines with the same entry share it in the legend.
    """

    label: str
    x: Floats
    y: Floats
    colour: str
    low: Floats | None = None
    high: Floats | None = None
    band: bool = False
    marker: str = ""
    dash: Dash = "solid"
    kind: LineKind = "line"
    width: float = 1.5
    opacity: float = 1.0
    fill: bool = False
    group: str | None = None
    """The entry in the legend if it differs from the label; empty for no entry."""
    hollow: bool = False
    """Markers are rings, which cover the markers of another line."""
    exact: bool = False
    """Keeps every point with all its digits: a page doesn't thin the line."""

    def __post_init__(self) -> None:
        """Refuse vectors that don't match."""
        if self.x.shape != self.y.shape or self.x.ndim != 1:
            raise ValueError(f"{self.label}: x has shape {self.x.shape} and y {self.y.shape}")


@dataclass(frozen=True, slots=True)
class BoxPlot:
    """A box plot of `values` at `x`, with whiskers up to 1.5 interquartile ranges."""

    label: str
    x: float
    values: Floats
    colour: str


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a `width` from zero to `y` at `x`, with an interval if there is one."""

    label: str
    x: float
    y: float
    colour: str
    interval: tuple[float, float] | None = None
    width: float = 0.34


@dataclass(frozen=True, slots=True)
class Heat:
    """A value for every pair: `values[row, column]`, with NaN where there is none.

    Cells are at whole numbers. With a `centre` the colour scale diverges from it towards both ends.
    The label belongs to the colour scale.
    """

    label: str
    values: Floats
    centre: float | None = None
    low: float | None = None
    high: float | None = None

    def limits(self) -> tuple[float, float]:
        """The ends of the colour scale."""
        known = self.values[np.isfinite(self.values)]
        least, most = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        least = least if self.low is None else self.low
        most = most if self.high is None else self.high
        return (least, most) if most > least else (least, least + 1.0)

    def middle(self) -> float:
        """Where the middle colour is on the scale, from 0 to 1."""
        low, high = self.limits()
        return 0.5 if self.centre is None else (self.centre - low) / (high - low)


@dataclass(frozen=True, slots=True)
class Cloud:
    """Points, the ellipse of one standard deviation around their mean, and a note there."""

    label: str
    x: Floats
    y: Floats
    colour: str
    note: str = ""


Mark: TypeAlias = Line | BoxPlot | Bar | Heat | Cloud


def entry_of(mark: Mark) -> str:
    """A mark's text in the legend; empty for one without an entry."""
    if isinstance(mark, Heat):
        return ""
    return mark.label if not isinstance(mark, Line) or mark.group is None else mark.group


@dataclass(frozen=True, slots=True)
class Span:
    """An interval of the x axis to shade, such as a stay in PROBE_RTT."""

    start: float
    end: float
    colour: str
    label: str


@dataclass(frozen=True, slots=True)
class Guide:
    """A straight dashed line across a panel at a value of y, or of x if `upright`.

    Its label is above the line, or `below`; of an upright line at the top, or at the foot.
    """

    value: float
    label: str
    upright: bool = False
    below: bool = False


def _on_scale(values: Floats, scale: Scale) -> Floats:
    return np.log(np.maximum(values, 1e-12)) if scale == "log" else values


def _clear_end(taken: Floats, ends: tuple[float, float], length: float) -> int:
    """1, the upper end, or 0, the lower one, if only that has no `taken` value within `length`."""
    first, last = np.any(taken <= ends[0] + length), np.any(taken >= ends[1] - length)
    return 0 if last and not first else 1


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes. Ends of an axis that are None follow the data.

    `ticks` labels positions on the x axis and `y_ticks` on the y axis; without them labels are
    numbers. A range whose first end is the larger one is reversed.
    """

    x_label: str
    y_label: str
    marks: tuple[Mark, ...]
    title: str = ""
    x_range: tuple[float | None, float | None] = (None, None)
    y_range: tuple[float | None, float | None] = (0.0, None)
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    guides: tuple[Guide, ...] = field(default=())
    ticks: tuple[tuple[float, str], ...] = field(default=())
    y_ticks: tuple[tuple[float, str], ...] = field(default=())
    spans: tuple[Span, ...] = field(default=())
    """In a stack, these are shaded as a strip above the panel."""
    least_high: float = -np.inf
    """In a stack, the y axis reaches at least up to this."""

    @property
    def lines(self) -> tuple[Line, ...]:
        """The marks that are lines."""
        return tuple(mark for mark in self.marks if isinstance(mark, Line))

    @property
    def y_ends(self) -> tuple[float | None, float | None]:
        """`y_range`, without a lower end of 0 if something lies below it."""
        low, high = self.y_range
        if low != 0 or self.y_scale == "log":
            return (low, high)
        pool = np.concatenate([np.array([]), *(heights(mark) for mark in self.marks)])
        return (None if np.any(pool[np.isfinite(pool)] < 0) else low, high)

    def holds(self, line: Line) -> bool:
        """Returns True if all points of a line are within the given ends of both axes.

        Markers on the ends of an axis are then drawn whole.
        """
        return all(
            not np.any(values < (-np.inf if low is None else low))
            and not np.any(values > (np.inf if high is None else high))
            for values, (low, high) in ((line.x, self.x_range), (heights(line), self.y_ends))
        )

    def clear_end(self, guide: Guide) -> int:
        """The end of a guide where its label covers no curve: 1, right or top, or else 0."""
        if guide.upright and guide.below:
            return 0
        x = np.concatenate([np.array([]), *(line.x for line in self.lines)])
        y = np.concatenate([np.array([]), *(line.y for line in self.lines)])
        if not x.size:
            return 1
        x, (low, high) = _on_scale(x, self.x_scale), self.limits()
        width, height = WIDTH_OF_LABEL * (x.max() - x.min()), HEADROOM_OF_LABEL * (high - low)
        if guide.upright:
            at = float(_on_scale(np.array([guide.value]), self.x_scale)[0])
            return _clear_end(y[(x >= at) & (x <= at + width)], (low, high), height)
        return _clear_end(x[np.abs(y - guide.value) < height], (x.min(), x.max()), width)

    def limits(self, x_range: tuple[float, float] = (-np.inf, np.inf)) -> tuple[float, float]:
        """The ends of a y axis that shows all lines, spreads and guides in an interval of x."""
        start, end = x_range
        shown = [
            values[(line.x >= start) & (line.x <= end)]
            for line in self.lines
            for values in (line.y, line.low, line.high)
            if values is not None
        ]
        pool = np.concatenate([*shown, [guide.value for guide in self.guides]])
        pool = pool[np.isfinite(pool)]
        least, most = (float(pool.min()), float(pool.max())) if pool.size else (0.0, 0.0)
        given_low, given_high = self.y_ends
        if least == most and given_low is None:
            least, most = least - 0.5, most + 0.5
        low = given_low if given_low is not None else least - (HEADROOM - 1) * (most - least)
        high = max(low + HEADROOM * (most - low), self.least_high)
        high = given_high if given_high is not None else high
        return (low, high) if high > low else (low, low + 1.0)


def heights(mark: Mark) -> Floats:
    """The values of a mark along y, with the ends of its spread."""
    if isinstance(mark, Line):
        ends = [part for part in (mark.low, mark.high) if part is not None]
        return np.concatenate([mark.y, *ends])
    if isinstance(mark, BoxPlot):
        return mark.values
    if isinstance(mark, Bar):
        return np.array([mark.y, *(mark.interval or ())])
    return mark.y if isinstance(mark, Cloud) else np.array([])


@dataclass(frozen=True, slots=True)
class Stack:
    """The common parts of stacked panels: the x axis, and spans through all of them."""

    x_range: tuple[float, float]
    spans: tuple[Span, ...] = ()

    def clip(self, span: Span) -> Span:
        """The part of a span on the x axis; it ends before it starts if there is none."""
        start, end = self.x_range
        return replace(span, start=max(span.start, start), end=min(span.end, end))


@dataclass(frozen=True, slots=True)
class Figure:
    """Panels in rows of `columns`, or stacked on one x axis if there is a `stack`.

    `alt` says in words what the figure shows, for people who can't see it.
    """

    title: str
    subtitle: str
    panels: tuple[Panel, ...]
    alt: str
    columns: int = 1
    height: float = ROW_IN
    """Height of a row in inches, including its text; in a stack, of the axes alone."""
    name: str = ""
    stack: Stack | None = None
    paper_in: float | None = None
    """The width of an image in inches for a paper, whose caption replaces title and subtitle."""
    study: str = ""
    """The name of the run or the study, after which files are named."""
    words: tuple[str, ...] = ()
    """Sentences that a page shows above the panels."""

    def between(self, start: float, end: float) -> Figure:
        """The same stack with the x axis from `start` to `end`; other figures are unchanged."""
        if self.stack is None:
            return self
        return replace(self, stack=replace(self.stack, x_range=(start, end)))

    def for_paper(self, width_in: float) -> Figure:
        """The figure as an image of this width, with as many panels in a row as fit."""
        fitting = max(1, int(width_in / PANEL_IN))
        return replace(self, paper_in=width_in, columns=min(self.columns, fitting))

    def legend(self) -> dict[str, Mark]:
        """The first mark of every entry, in the order of appearance.

        Lines of one entry in several colours, such as those of one of two runs, are shown in ink.
        """
        first: dict[str, Mark] = {}
        for mark in (mark for panel in self.panels for mark in panel.marks):
            shown = first.setdefault(entry_of(mark), mark)
            if isinstance(shown, Line) and isinstance(mark, Line) and shown.colour != mark.colour:
                first[entry_of(mark)] = replace(shown, colour="ink")
        first.pop("", None)
        return first

    def span_legend(self) -> list[Span]:
        """The first span of every label, in the order of appearance."""
        through = self.stack.spans if self.stack is not None else ()
        first: dict[str, Span] = {}
        for span in (*through, *(s for panel in self.panels for s in panel.spans)):
            first.setdefault(span.label, span)
        return list(first.values())
