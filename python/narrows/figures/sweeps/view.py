"""The options of a sweep's figure, and the parts that these figures share.

Every axis that is neither shown nor drawn as lines gives separate panels.
Points are means over trials with the 95 % interval of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Literal

import numpy as np

from narrows.errors import InputError
from narrows.figures.axes import ChartAxis, axis
from narrows.figures.frames import MOST_NAMED, in_words
from narrows.figures.hiding import has_rims, name_coinciding
from narrows.figures.looks import DASHES, HUES, Look, distinct_looks, looks_of
from narrows.figures.model import (
    Dash,
    Figure,
    Guide,
    Heat,
    Line,
    LineKind,
    Mark,
    Panel,
    Scale,
    heights,
)
from narrows.figures.names import axes_in_words, setting, settings
from narrows.figures.palette import COLOURS
from narrows.figures.sweeps.panels import share_axes
from narrows.figures.sweeps.unsettled import LAST, SPLIT, dots, is_unsettled, rings
from narrows.late import pl
from narrows.metrics.catalogue import find, scale_of
from narrows.metrics.groups import is_split
from narrows.metrics.headings import columns_named, heading_of, legend_words, unknown_metric, words
from narrows.metrics.intervals import half_width, mean
from narrows.metrics.settling import UNSETTLED
from narrows.spec.suggest import any_of, one_of, quote
from narrows.words import begin_upper, count_of, join_words, short_number

LENGTHS = ("run.duration", "run.warmup")
"""The axes that say how long is measured."""
MOST_PANELS = 120
"""The most panels of a figure, which may span several images."""
MOST_TICKS = 12
MOST_LINES = 7
WHOLE = 1.03
"""The upper end of an axis for shares."""
HOLLOW, DOTS = f" Hollow points: {UNSETTLED}.", f" Dots: {SPLIT}."
"""The ends of the description in words if there are some."""
RIMS = "; broad lines: below others"
"""The end of the subtitle if some lines cover others."""
AIR = 0.05
"""Room around the values if the y axis doesn't begin at zero, as a part of their range."""
FAR = 0.5
"""Where the least value is above this part of the largest, the y axis is around the values."""


@dataclass(frozen=True)
class View:
    """The choice of what a figure of a sweep shows.

    `axes` are the sweep's own, in order; `x`, `y` and `by` choose among them, and
    `metric` is a column. None is replaced by a choice: for x the buffer if it is an axis, otherwise
    the axis with the most values. `runs` is the sweep's total, so that a figure can say how many it
    leaves out. `ylim` are the ends of the y axis, `xscale` the scale of an x axis of numbers.
    `bounds` are those that the specification expects of metrics everywhere, drawn as lines.
    """

    title: str
    axes: tuple[str, ...]
    metric: str | None = None
    x: str | None = None
    y: str | None = None
    by: str | None = None
    runs: int = 0
    ylim: tuple[float, float] | Literal["auto"] | None = None
    xscale: Scale | None = None
    bounds: tuple[tuple[str, str, float], ...] = ()
    """Of each bound: the metric, "at least" or "at most", and the value."""
    whole: bool = False
    """True if the y axis begins at zero, whatever the data are."""
    conditions: str = ""
    """The path in words, as far as it isn't varied."""
    controls: Mapping[str, str | None] = field(default_factory=dict)
    """The control of each class; None where it has several. Without an entry the name tells."""
    readers: Collection[str] = ()
    """The classes that load web pages: each of their transfers is a page."""

    def words(self, group: str) -> str:
        """The name of a class in a legend."""
        return legend_words(group, self.controls)

    def phrase(self, column: str) -> str:
        """A column in a title: "Share of BBR"."""
        group, _, key = column.rpartition(".")
        metric = find(column)
        named = key.replace("_", " ") if metric is None else metric.title
        of = f" of {self.words(group)}" if group else ""
        return f"{begin_upper(named)}{of}"

    def label(self, column: str) -> str:
        """The label of a column as people read it: "Share of BBR (%)"."""
        return heading_of(column, self.controls)


def controls_of(flows: pl.DataFrame, study: str | None = None) -> dict[str, str | None]:
    """The control of each class, perhaps of one study, from the table `flows`; None for several."""
    found: dict[str, str | None] = {}
    mine = flows if study is None else flows.filter(pl.col("study") == study)
    rows = mine.select("class", "cca").unique()
    for group, cca in rows.sort("class", "cca").rows():
        found[str(group)] = None if group in found else str(cca)
    return found


def classes_of(frame: pl.DataFrame) -> list[str]:
    """The classes of flows of a summary."""
    names = [name for name in frame.columns if name.endswith(".share")]
    return [name.removesuffix(".share") for name in names]


def figure(
    frame: pl.DataFrame,
    view: View,
    used: Sequence[str],
    panel: Callable[[pl.DataFrame, str], Panel],
    what: str,
    alt: str,
    note: str = "",
) -> Figure:
    """A panel for every combination of the axes that aren't used, all on the same y axis.

    The title says `what` is shown over which axes, unless the study's own name is in words; the
    subtitle begins with the `note`.
    """
    free = [place for place in view.axes if place not in used and frame[place].n_unique() > 1]
    rest = [place for place in free if not any(follows(frame, place, other) for other in used)]
    groups = list(frame.group_by(rest, maintain_order=True)) if rest else [((), frame)]
    if len(groups) > MOST_PANELS:
        found = f"{len(groups)} panels, for every {join_words(rest)}"
        raise InputError.at("--where", found, f"at most {MOST_PANELS}; --where {rest[0]}=VALUE")
    panels = share_axes([panel(rows, _title(rest, key)) for key, rows in groups])
    ends = _ends(panels, view)
    panels = tuple(name_coinciding(replace(p, y_range=ends or p.y_range)) for p in panels)
    columns = {1: 1, 2: 2, 3: 3, 4: 2}.get(len(panels), 3 if len(panels) <= 12 else 4)
    height = {1: 3.2, 2: 2.5, 3: 2.1, 4: 1.9}[columns]
    varied: list[str] = []
    for place in (*(p for p in used if frame[p].n_unique() > 1), *rest):
        if not any(follows(frame, place, other) for other in varied):
            varied.append(place)
    over = f" by {axes_in_words(varied)}" if 0 < len(varied) <= MOST_NAMED else ""
    title = view.title if in_words(view.title) else f"{what}{over}"
    subtitle = _subtitle(frame, view, note) + RIMS * any(map(has_rims, panels))
    alt += DOTS * any(line.label == SPLIT for p in panels for line in p.lines)
    alt += HOLLOW * any(line.hollow for p in panels for line in p.lines)
    return Figure(title, subtitle, panels, alt, columns, height)


def follows(frame: pl.DataFrame, place: str, other: str) -> bool:
    """Returns True if each value of `other` goes with a single value of the axis `place`.

    And the other way round, unless `place` only says how long is measured: deep buffers may need
    longer runs.
    """
    if place == other or other not in frame.columns:
        return place == other
    pairs = frame.select(place, other).unique().height
    if pairs != frame[other].n_unique():
        return False
    return place in LENGTHS or pairs == frame[place].n_unique()


def _ends(panels: Sequence[Panel], view: View) -> tuple[float, float] | None:
    """The ends of all panels' y axes: those that the view asks for, or around values far from zero.

    None leaves the panels their own.
    """
    marks = [mark for panel in panels for mark in panel.marks]
    if view.ylim is not None and view.ylim != "auto":
        return _check_ends(view.ylim, panels, marks)
    levels = [guide.value for p in panels for guide in p.guides if not guide.upright]
    if any(isinstance(mark, Heat) for mark in marks):
        return None
    pool = np.concatenate([np.array(levels), *(heights(mark) for mark in marks)])
    known = pool[np.isfinite(pool)]
    if not known.size:
        return None
    low, high = float(known.min()), float(known.max())
    from_zero = any(panel.y_range[0] != 0 or panel.y_scale == "log" for panel in panels)
    if view.ylim is None and (view.whole or from_zero or low < FAR * high):
        return None
    return _around(low, high)


def _around(low: float, high: float) -> tuple[float, float]:
    """The ends of an axis around values."""
    air = AIR * ((high - low) or abs(high) or 1.0)
    return low - air, high + air


def _check_ends(
    ends: tuple[float, float], panels: Sequence[Panel], marks: Sequence[Mark]
) -> tuple[float, float]:
    """Returns the ends that somebody chose; raises InputError if they leave no value visible."""
    found = f'"{ends[0]:g}:{ends[1]:g}"'
    if any(isinstance(mark, Heat) for mark in marks):
        raise InputError.at("--ylim", f"{found} for a heat map", "no --ylim")
    pool = np.concatenate([np.array([]), *map(heights, marks)])
    known = pool[np.isfinite(pool)]
    if any(panel.y_scale == "log" for panel in panels):
        known = known[known > 0]
        if ends[0] <= 0:
            remedy = "a lower end above 0, since the axis is logarithmic,"
            raise InputError.at("--ylim", found, remedy)
    if known.size and (known.max() < ends[0] or known.min() > ends[1]):
        low, high = float(known.min()), float(known.max())
        shown = " to ".join(dict.fromkeys(map(short_number, (low, high))))
        least, most = (float(f"{end:.3g}") for end in _around(low, high))
        around = f"{max(least, 0.0) if low >= 0 else least:.12g}:{most:.12g}"
        raise InputError.at(
            "--ylim",
            f"{found}, which leaves out all values: {quote(panels[0].y_label)} is {shown}",
            f"ends around these, such as {around},",
        )
    return ends


def choose_lines(frame: pl.DataFrame, view: View, used: Sequence[str], classes: int = 1) -> View:
    """Chooses an axis for lines if the view has none, so that one panel compares its values.

    The choice is the axis of controls; without one, the axis with the most values that aren't
    quantities, or else with the most values of any kind. With several classes, an axis that needs
    more lines than people can tell apart isn't chosen.
    """
    free = [
        place
        for place in view.axes
        if place in frame.columns
        and 1 < frame[place].n_unique() * classes <= MOST_LINES
        and frame[place].n_unique() > 1
        and not any(follows(frame, place, other) for other in used)
    ]
    if view.by is not None or not free:
        return view
    words = [place for place in free if not axis(place, frame[place].to_list()).measured]
    controls = [place for place in words if place.endswith("cca")]
    best = max(controls or words or free, key=lambda place: frame[place].n_unique())
    return replace(view, by=best)


def bounds_of(
    view: View, columns: Iterable[str], *, upright: bool = False, of: str = ""
) -> tuple[Guide, ...]:
    """The expected bounds of these columns as lines across the y axis, or the x axis if `upright`.

    `of` says in the labels which statistic is bounded, where the axis doesn't.
    """
    wanted, head = set(columns), f"{of} " if of else ""
    return tuple(
        Guide(
            scale_of(name) * at,
            f"{head}{way} {scale_of(name) * at:g}",
            upright,
            below=way == "at least",
        )
        for name, way, at in view.bounds
        if name in wanted
    )


def fair_shares(
    frame: pl.DataFrame, groups: Iterable[str], controls: Mapping[str, str | None] | None = None
) -> tuple[Guide, ...]:
    """Lines at the shares that classes would have if all flows had the same, as far as constant."""
    fair: dict[float, list[str]] = {}
    for group in groups:
        known = frame.select(pl.col(f"{group}.flows") / pl.col("flows")).to_series().drop_nulls()
        parts = {round(100 * float(part), 6) for part in known if part < 1}
        if len(parts) == 1:
            fair.setdefault(parts.pop(), []).append(words(group, controls))
    if len(fair) == 1:
        return (Guide(next(iter(fair)), "fair"),)
    return tuple(Guide(level, f"fair for {', '.join(names)}") for level, names in fair.items())


def _title(places: Sequence[str], values: Sequence[object]) -> str:
    """The values of a panel; zipped axes with equal values are named once."""
    return ", ".join(settings(zip(places, values, strict=True)))


def _subtitle(frame: pl.DataFrame, view: View, note: str) -> str:
    fixed = [p for p in view.axes if frame[p].n_unique() == 1]
    words = settings((place, frame[place][0]) for place in fixed)
    count = runs_in(frame)
    runs = f"{count} of {view.runs} runs" if view.runs > count else count_of(count, "run")
    return "; ".join(filter(None, [note, view.conditions, *words, runs]))


def runs_in(frame: pl.DataFrame) -> int:
    """The number of runs with rows in a table."""
    return frame.select("study", "cell", "trial").unique().height if "trial" in frame else 0


def over(
    across: ChartAxis,
    label: str,
    marks: Sequence[Mark],
    title: str,
    ends: tuple[float | None, float | None],
    guides: tuple[Guide, ...],
) -> Panel:
    """A panel with the values of an axis as x, and a labelled y axis; rings are above all lines."""
    return Panel(
        across.label_of_scale,
        label,
        tuple(sorted(marks, key=lambda m: LAST.index(m.label) + 1 if m.label in LAST else 0)),
        title,
        x_range=(None, None) if across.measured else (-0.5, len(across.positions) - 0.5),
        y_range=ends,
        x_scale=across.scale,
        guides=guides,
        ticks=across.ticks if len(across.positions) <= MOST_TICKS or not across.measured else (),
    )


def means_line(
    rows: pl.DataFrame, across: ChartAxis, metric: str, label: str, look: Look, aside: float = 0.0
) -> list[Line]:
    """Means over the runs at each value, with intervals clipped to possible values, as people read.

    Values that aren't quantities get points, each `aside` from its tick. Rings are around the means
    of runs that haven't settled, and dots replace intervals where trials fall
    into two groups.
    """
    x, y, low, high, unsettled, scale = [], [], [], [], [], scale_of(metric)
    split_trials: list[tuple[float, float]] = []
    for value, position in across.positions.items():
        own = rows.filter(pl.col(across.place) == value)
        known = own[metric].cast(pl.Float64).to_list()
        if known:
            unsettled.append(is_unsettled(own, metric))
            x.append(position if across.measured else position + aside)
            y.append(scale * mean(known))
            least, most = interval_of(known, metric)
            if is_split(known, metric):
                split_trials += [(x[-1], scale * one) for one in known]
                least = most = mean(known)
            low.append(scale * least)
            high.append(scale * most)
    spread = low != high
    kind: LineKind = "line" if across.measured else "points"
    means = Line(
        label, np.array(x), np.array(y), look.hue, np.array(low) if spread else None,
        np.array(high) if spread else None, marker="o", dash=look.dash, kind=kind,
    )  # fmt: skip
    hollow = rings(compress(zip(x, y, strict=True), unsettled), look.hue)
    return [means, *dots(split_trials, look.hue), *hollow]


def interval_of(values: Sequence[float], metric: str) -> tuple[float, float]:
    """The 95 % interval of the mean, clipped to possible values; the mean twice without one."""
    middle, reach = mean(values), half_width(values)
    if not math.isfinite(reach):
        return middle, middle
    low, high = possible(metric)
    return max(middle - reach, min(low, *values)), min(middle + reach, max(high, *values))


def shades_of(frame: pl.DataFrame, view: View) -> dict[object, str]:
    """A colour for every value of the axis drawn as lines, the same in all panels."""
    if view.by is None:
        return {}
    require(frame, view.by, "--by", view.axes)
    values = axis(view.by, frame[view.by].to_list()).positions
    if len(values) > MOST_LINES:
        found = f"{len(values)} values at {view.by}"
        raise InputError.at("--by", found, f"at most {MOST_LINES}")
    return {
        value: str(value) if value in COLOURS else HUES[number]
        for number, value in enumerate(values)
    }


def split(
    rows: pl.DataFrame, by: str | None, values: Iterable[object]
) -> Iterator[tuple[object, pl.DataFrame]]:
    """The rows of every value of an axis; all of them without one."""
    if by is None:
        yield None, rows
        return
    for value in values:
        yield value, rows.filter(pl.col(by) == value)


def by_class(
    frame: pl.DataFrame, view: View
) -> Callable[[pl.DataFrame], Iterator[tuple[str, Look, pl.DataFrame]]]:
    """Splits a table with the column `class` into classes, each with label and look."""
    classes = frame["class"].unique(maintain_order=True).to_list()
    styled = styles(frame, view, classes)

    def split_rows(rows: pl.DataFrame) -> Iterator[tuple[str, Look, pl.DataFrame]]:
        for value, part in split(rows, view.by, styled.shades):
            for name in classes:
                own = part.filter(pl.col("class") == name)
                if own.height:
                    yield *styled.of(value, name), own

    return split_rows


@dataclass(frozen=True)
class Styles:
    """Labels and looks of classes, the same throughout a figure.

    Without an axis for lines (`by`) a class looks as in figures of runs; with one, every value
    of it has a colour, and classes differ in their dashes. With a single class, dashes tell apart
    values whose colours are easily confused.
    """

    by: str | None
    shades: Mapping[object, str]
    looks: Mapping[str, Look]
    dashes: Mapping[str, Look]
    controls: Mapping[str, str | None]

    def of(self, value: object, group: str) -> tuple[str, Look]:
        """The label and the look of a class at a value of `by`; the class may be ""."""
        look = self.looks.get(group, Look("neutral", "solid"))
        if self.by is None:
            return legend_words(group, self.controls) if group else "", look
        several = len(self.dashes) > 1
        named = legend_words(group, self.controls) if several else ""
        label = " ".join(word for word in (setting(self.by, value), named) if word)
        dash = self.dashes.get(group, look).dash if several else self._alone[value]
        return label, Look(self.shades[value], dash)

    @cached_property
    def _alone(self) -> Mapping[object, Dash]:
        """The dash of each value where there is one class."""
        looks = distinct_looks([(shade, 0) for shade in self.shades.values()])
        return {value: look.dash for value, look in zip(self.shades, looks, strict=True)}


def styles(frame: pl.DataFrame, view: View, classes: Sequence[str]) -> Styles:
    """The styles of these classes."""
    dashes = {name: Look("", DASHES[n % len(DASHES)]) for n, name in enumerate(classes)}
    own = looks_of(classes, view.controls)
    return Styles(view.by, shades_of(frame, view), own, dashes, view.controls)


def x_of(frame: pl.DataFrame, view: View) -> str:
    """The axis for x: the given one, or the buffer, or the one with the most values."""
    if view.x is not None:
        require(frame, view.x, "--x", view.axes)
        return view.x
    if not view.axes:
        raise InputError.at("--x", "a sweep without an axis", "a sweep with one")
    if "path.buffer" in view.axes:
        return "path.buffer"
    return max(view.axes, key=lambda place: frame[place].n_unique())


def require(frame: pl.DataFrame, name: str, option: str, known: Sequence[str]) -> None:
    """Raises InputError with similar names for an unknown name."""
    if name not in frame.columns or name not in known:
        raise InputError.at(option, f'"{name}", which is not there', one_of(name, list(known)))


def metrics(frame: pl.DataFrame, view: View, metric: str) -> dict[str, str]:
    """The columns of a metric by class: itself, or `share` of every class."""
    found = columns_named(metric, numbers(frame), view.controls)
    if len({column.rpartition(".")[2] for column in found}) != 1:
        raise unknown_metric(metric, numbers(valued_columns(frame)), "--metric", view.controls)
    return value_columns(frame, {column.rpartition(".")[0]: column for column in found}, metric)


def from_zero(view: View, metric: str) -> View:
    """The view, whose y axis begins at zero if it shows what flows get: a rate or a share."""
    found = find(metric)
    amount = found is not None and (found.unit == "Mbit/s" or found.name == "share")
    return replace(view, whole=view.whole or amount)


def shared_name(wanted: Mapping[str, str]) -> str:
    """The only column of these, or the metric that they are of several classes."""
    first, *more = wanted.values()
    return first.rpartition(".")[2] if more else first


def value_columns(frame: pl.DataFrame, wanted: Mapping[str, str], metric: str) -> dict[str, str]:
    """The columns with values; raises InputError, naming columns with values, if there are none."""
    found = {words: column for words, column in wanted.items() if frame[column].count()}
    if not found:
        known = numbers(valued_columns(frame))
        alike = [name for name in known if name.endswith(f".{metric.rpartition('.')[2]}")]
        empty = f'"{metric}", of which no run has a value'
        raise InputError.at("--metric", empty, any_of(alike or known))
    return found


def valued_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame without empty columns."""
    return frame.select(column for column in frame.get_columns() if column.count())


def numbers(frame: pl.DataFrame) -> list[str]:
    """The columns that can be drawn."""
    skip = ("cell", "trial", "seed")
    return [n for n, k in frame.schema.items() if k.is_numeric() and n not in skip]


def possible(column: str) -> tuple[float, float]:
    """The range of a metric's usual values, which holds for its mean, too."""
    metric = find(column)
    if metric is None or metric.centre is not None:
        return -math.inf, math.inf
    return 0.0, 1.0 if metric.part else math.inf


def limits(wanted: Mapping[str, str], marks: Iterable[Mark]) -> tuple[float, float | None]:
    """The ends of the y axis; for shares from 0 to all, if no mark reaches higher."""
    found = [find(column) for column in wanted.values()]
    part = all(metric is not None and metric.part for metric in found)
    whole = WHOLE * max(map(scale_of, wanted.values()), default=1)
    inside = all((heights(mark) <= whole).all() for mark in marks)
    return (0.0, whole if part and inside else None)
