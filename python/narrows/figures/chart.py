"""Charts over any x axis: lines with spreads, bands, boxes, distribution functions.

A chart is described with plain data and drawn by `narrows.figures.paper`. Time
series of one run have a model of their own, `narrows.figures.model`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from narrows.figures.model import Dash, Floats

Scale: TypeAlias = Literal["linear", "log"]


@dataclass(frozen=True, slots=True)
class Line:
    """Values over x. `low` and `high` are a spread: error bars, or a band if `band`.

    `colour` is a key of `narrows.figures.palette`. A `step` holds each value
    until the next x. Lines of the same label share an entry of the legend; an
    empty label has none.
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
    step: bool = False
    width: float = 1.5
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Box:
    """Quartiles, median and the reach of 1.5 interquartile ranges of `values`, at `x`."""

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

    Cells stand at whole numbers. With a `centre` the scale diverges from it, as
    far to one side as to the other.
    """

    label: str
    values: Floats
    centre: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Cloud:
    """Points, and the ellipse of one standard deviation around their mean, with a note there."""

    label: str
    x: Floats
    y: Floats
    colour: str
    note: str = ""


Mark: TypeAlias = Line | Box | Bar | Heat | Cloud


@dataclass(frozen=True, slots=True)
class Guide:
    """A straight dashed line across a chart with words, at a value of y or of x."""

    value: float
    label: str
    upright: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """One pair of axes. Ends of an axis that are None follow the data.

    `ticks` names places on the x axis and `y_ticks` on the y axis; without them
    they are numbers. A range whose first end is the larger one is reversed.
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


@dataclass(frozen=True, slots=True)
class Sheet:
    """Charts in rows of `columns`; `alt` says in words what is to be seen."""

    title: str
    subtitle: str
    charts: tuple[Chart, ...]
    alt: str
    columns: int = 1
    height: float = 2.6
    """Of a row, in inches."""
