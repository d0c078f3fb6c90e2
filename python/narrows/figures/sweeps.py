"""Figures of a sweep: pure functions from its table `summary` or `flows` to a sheet.

Every axis that is neither shown nor drawn as lines gives charts of its own.
Points are means over trials with the 95 % interval of the mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from narrows.errors import InputError
from narrows.figures.axes import Axis, axis, short
from narrows.figures.chart import Box, Chart, Cloud, Guide, Heat, Line, Mark, Sheet
from narrows.figures.model import Dash
from narrows.figures.palette import COLOURS
from narrows.figures.palette import name as cca_name
from narrows.metrics.intervals import half_width, mean
from narrows.spec.suggest import one_of

MOST_CHARTS = 12
MOST_LINES = 7
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot")
HUES = tuple(f"flow:{number}" for number in range(7))
"""Keys of colours for lines that aren't classes of flows."""


@dataclass(frozen=True)
class View:
    """What to draw of a sweep.

    `axes` are the sweep's own, in order; `x`, `y` and `by` choose among them, and
    `metric` is a column. What is None is chosen: the buffer for x if it is an
    axis, else the axis with the most values.
    """

    title: str
    axes: tuple[str, ...]
    metric: str | None = None
    x: str | None = None
    y: str | None = None
    by: str | None = None


def classes_of(frame: pl.DataFrame) -> list[str]:
    """The classes of flows of a summary."""
    names = [name for name in frame.columns if name.endswith(".share")]
    return [name.removesuffix(".share") for name in names]


def share(frame: pl.DataFrame, view: View) -> Sheet:
    """The share of each class over an axis, usually the buffer, with the fair share."""
    several = frame.filter(_class_count(frame) > 1)
    if several.is_empty():
        raise InputError.at("DIR", "no combination with two classes", "a sweep with some")
    x = _x(several, view)

    def chart(rows: pl.DataFrame, title: str) -> Chart:
        across = axis(x, rows[x].to_list())
        marks: list[Mark] = []
        fair: dict[float, str] = {}
        for label in classes_of(rows):
            part = rows.drop_nulls(f"{label}.share")
            if part.height:
                marks.append(_line(part, across, f"{label}.share", cca_name(label), label))
                level = float(part[f"{label}.flows"][0] / part["flows"][0])
                fair[round(level, 6)] = "fair"
        guides = tuple(Guide(value, words) for value, words in fair.items())
        return _over(across, "Share of the goodput", marks, title, (0.0, 1.0), guides)

    return _sheet(several, view, (x,), chart, "Shares", "Share of each class, with the fair share.")


def lines(frame: pl.DataFrame, view: View) -> Sheet:
    """A metric over an axis, a line for each value of another, or for each class."""
    x = _x(frame, view)
    wanted = _metrics(frame, view.metric or "utilization")
    by = view.by
    shades = _shades(frame, view)

    def chart(rows: pl.DataFrame, title: str) -> Chart:
        across = axis(x, rows[x].to_list())
        marks: list[Mark] = []
        for value, part in _split(rows, by, shades):
            label = short(by, value) if by else ""
            for style, (words, metric) in enumerate(wanted.items()):
                known = part.drop_nulls(metric)
                hue = shades[value] if by else (words or "cubic")
                text = " ".join(t for t in (label, cca_name(words)) if t)
                if known.height:
                    dash = DASHES[style % len(DASHES)] if by else "solid"
                    marks.append(_line(known, across, metric, text, hue, dash))
        return _over(across, view.metric or "utilization", marks, title, _limits(wanted), ())

    used = (x,) if by is None else (x, by)
    what = _words(view.metric or "utilization")
    return _sheet(frame, view, used, chart, what, "A metric over an axis.")


def heatmap(frame: pl.DataFrame, view: View) -> Sheet:
    """A metric over two axes, usually rate and delay; a share diverges from the fair one."""
    x = view.x or ("path.rtt" if "path.rtt" in view.axes else _x(frame, view))
    _known(frame, x, "--x", view.axes)
    rest = [place for place in view.axes if place != x]
    y = view.y or ("path.rate" if "path.rate" in rest else (rest or [""])[0])
    _known(frame, y, "--y", rest)
    metric = view.metric or next((f"{c}.share" for c in classes_of(frame)), "utilization")
    _known(frame, metric, "--metric", _numbers(frame))
    known = frame.drop_nulls(metric)
    if metric.endswith(".share"):
        known = known.filter(pl.col(f"{metric.removesuffix('.share')}.flows") < pl.col("flows"))
    if known.is_empty():
        raise InputError.at("--metric", f"{metric} in no run of several classes", "another metric")
    low, high = (0.0, 1.0) if metric.endswith(".share") else _reach(known, metric, (x, y))

    def chart(rows: pl.DataFrame, title: str) -> Chart:
        across, up = axis(x, rows[x].to_list()), axis(y, rows[y].to_list())
        cells = {(row[0], row[1]): row[2] for row in _means(rows, (x, y), metric).rows()}
        values = np.array(
            [[cells.get((b, a), math.nan) for b in across.positions] for a in up.positions], float
        )
        heat = Heat(_words(metric), values, _centre(rows, metric), low, high)
        ticks = tuple((float(i), w) for i, w in enumerate(across.words.values()))
        y_ticks = tuple((float(i), w) for i, w in enumerate(up.words.values()))
        ends = (-0.5, len(ticks) - 0.5), (-0.5, len(y_ticks) - 0.5)
        return Chart(across.label, up.label, (heat,), title, *ends, ticks=ticks, y_ticks=y_ticks)

    return _sheet(known, view, (x, y), chart, _words(metric), "A metric over two axes, as colours.")


def scatter(frame: pl.DataFrame, view: View) -> Sheet:
    """Throughput against queueing delay, an ellipse for each class; better is up and right."""
    known = classes_of(frame)
    by = view.by
    shades = _shades(frame, view)

    def chart(rows: pl.DataFrame, title: str) -> Chart:
        marks: list[Mark] = []
        for value, part in _split(rows, by, shades):
            label = short(by, value) if by else ""
            for group in known:
                points = part.drop_nulls([f"{group}.delay_mean_ms", f"{group}.goodput_mbps"])
                if points.height:
                    x = points[f"{group}.delay_mean_ms"].to_numpy()
                    y = points[f"{group}.goodput_mbps"].to_numpy()
                    marks.append(Cloud(cca_name(group), x, y, group, label))
        clouds = [mark for mark in marks if isinstance(mark, Cloud)]
        most = max((float(cloud.x.max()) for cloud in clouds), default=1.0)
        high = max((float(cloud.y.max()) for cloud in clouds), default=1.0)
        return Chart(
            "Mean queueing delay (ms), less to the right",
            "Goodput (Mbit/s)",
            tuple(marks),
            title,
            (max(most, 0.1) * 1.08, 0.0),
            (0.0, max(high, 0.1) * 1.08),
        )

    return _sheet(
        frame, view, () if by is None else (by,), chart, "Throughput and delay",
        "Goodput over queueing delay, the delay axis reversed; ellipses of one deviation.",
    )  # fmt: skip


def box(frame: pl.DataFrame, view: View) -> Sheet:
    """A metric's quartiles over an axis, side by side for each class."""
    x = _x(frame, view)
    wanted = _metrics(frame, view.metric or "utilization")

    def chart(rows: pl.DataFrame, title: str) -> Chart:
        across = axis(x, rows[x].to_list())
        marks: list[Mark] = []
        step = 0.8 / len(wanted)
        for place, value in enumerate(across.positions):
            part = rows.filter(pl.col(x) == value)
            for number, (words, metric) in enumerate(wanted.items()):
                known = part[metric].drop_nulls().to_numpy().astype(float)
                at = place + (number - (len(wanted) - 1) / 2) * step
                if len(known):
                    marks.append(Box(cca_name(words), at, known, words or "cubic"))
        ticks = tuple((float(i), words) for i, words in enumerate(across.words.values()))
        ends = (-0.6, len(ticks) - 0.4)
        label = _words(view.metric or "utilization")
        low, high = _limits(wanted)
        return Chart(across.label, label, tuple(marks), title, ends, (low, high), ticks=ticks)

    what = _words(view.metric or "utilization")
    return _sheet(frame, view, (x,), chart, what, "Quartiles of a metric over an axis.")


def cdf(frame: pl.DataFrame, view: View) -> Sheet:
    """The distribution of a metric over flows, a line for each class; of the table `flows`."""
    metric = view.metric or ("fct_s" if frame["fct_s"].null_count() < frame.height else "share")
    _known(frame, metric, "--metric", _numbers(frame))
    by = view.by
    shades = _shades(frame, view)

    def chart(rows: pl.DataFrame, title: str) -> Chart:
        marks: list[Mark] = []
        for number, (value, part) in enumerate(_split(rows, by, shades)):
            label = short(by, value) if by else ""
            for group in part["class"].unique(maintain_order=True).to_list():
                values = part.filter(pl.col("class") == group)[metric].drop_nulls().sort()
                if values.len():
                    x = np.repeat(values.to_numpy().astype(float), 2)
                    steps = np.arange(values.len() + 1) / values.len()
                    y = np.repeat(steps, 2)[1:-1]
                    dash = DASHES[number % len(DASHES)]
                    text = " ".join(t for t in (label, cca_name(str(group))) if t)
                    marks.append(Line(text, x, y, str(group), dash=dash))
        return Chart(_words(metric), "Part of the flows", tuple(marks), title, y_range=(0.0, 1.02))

    used = () if by is None else (by,)
    return _sheet(
        frame, view, used, chart, f"Distribution of {_words(metric)}", "Distribution functions."
    )


@dataclass(frozen=True)
class Entry:
    """A figure of sweeps: the table it needs, and the function."""

    table: str
    function: Callable[[pl.DataFrame, View], Sheet]


CATALOGUE: Mapping[str, Entry] = {
    "share": Entry("summary", share),
    "lines": Entry("summary", lines),
    "heatmap": Entry("summary", heatmap),
    "scatter": Entry("summary", scatter),
    "box": Entry("summary", box),
    "cdf": Entry("flows", cdf),
}


def _sheet(
    frame: pl.DataFrame,
    view: View,
    used: Sequence[str],
    chart: Callable[[pl.DataFrame, str], Chart],
    what: str,
    alt: str,
) -> Sheet:
    """A chart for every combination of the axes that aren't used."""
    rest = [place for place in view.axes if place not in used and frame[place].n_unique() > 1]
    groups = list(frame.group_by(rest, maintain_order=True)) if rest else [((), frame)]
    if len(groups) > MOST_CHARTS:
        found = f"{len(groups)} charts, for every {' and '.join(rest)}"
        raise InputError.at("--where", found, f"at most {MOST_CHARTS}; --where {rest[0]}=VALUE")
    charts = tuple(chart(rows, _title(rest, key)) for key, rows in groups)
    columns = 1 if len(charts) == 1 else 2 if len(charts) <= 4 else 3
    height = {1: 3.2, 2: 2.5, 3: 2.1}[columns]
    return Sheet(view.title, _subtitle(frame, view, what), charts, alt, columns, height)


def _title(places: Sequence[str], values: Sequence[object]) -> str:
    """The values of a chart; axes that go together are named once if they are equal."""
    words = (short(place, value) for place, value in zip(places, values, strict=True))
    return ", ".join(dict.fromkeys(words))


def _subtitle(frame: pl.DataFrame, view: View, what: str) -> str:
    fixed = [p for p in view.axes if frame[p].n_unique() == 1]
    words = dict.fromkeys(short(place, frame[place][0]) for place in fixed)
    count = frame.select("study", "cell", "trial").unique().height if "trial" in frame else 0
    return "; ".join([what, *words, f"{count} runs"])


def _over(
    across: Axis,
    label: str,
    marks: Sequence[Mark],
    title: str,
    ends: tuple[float | None, float | None],
    guides: tuple[Guide, ...],
) -> Chart:
    return Chart(
        across.label,
        _words(label),
        tuple(marks),
        title,
        y_range=ends,
        x_scale=across.scale,
        guides=guides,
        ticks=across.ticks if len(across.positions) <= MOST_CHARTS else (),
    )


def _line(
    rows: pl.DataFrame, across: Axis, metric: str, label: str, hue: str, dash: Dash = "solid"
) -> Line:
    """Means over the runs at each value, with their intervals."""
    x, y, reach = [], [], []
    for value, position in across.positions.items():
        known = rows.filter(pl.col(across.place) == value)[metric].cast(pl.Float64).to_list()
        if known:
            x.append(position)
            y.append(mean(known))
            wide = half_width(known)
            reach.append(wide if math.isfinite(wide) else 0.0)
    middle, wide_ = np.array(y), np.array(reach)
    spread = {"low": middle - wide_, "high": middle + wide_} if any(reach) else {}
    return Line(label, np.array(x), middle, hue, marker="o", dash=dash, **spread)


def _shades(frame: pl.DataFrame, view: View) -> dict[object, str]:
    """A colour for every value of the axis that lines stand for, the same in all charts."""
    if view.by is None:
        return {}
    _known(frame, view.by, "--by", view.axes)
    values = axis(view.by, frame[view.by].to_list()).positions
    if len(values) > MOST_LINES:
        found = f"{len(values)} values at {view.by}"
        raise InputError.at("--by", found, f"at most {MOST_LINES}")
    return {
        value: str(value) if value in COLOURS else HUES[number]
        for number, value in enumerate(values)
    }


def _split(
    rows: pl.DataFrame, by: str | None, values: Iterable[object]
) -> Iterator[tuple[object, pl.DataFrame]]:
    """The rows of every value of an axis; all of them without one."""
    if by is None:
        yield None, rows
        return
    for value in values:
        yield value, rows.filter(pl.col(by) == value)


def _x(frame: pl.DataFrame, view: View) -> str:
    if view.x is not None:
        _known(frame, view.x, "--x", view.axes)
        return view.x
    if not view.axes:
        raise InputError.at("--x", "a sweep without an axis", "a sweep with one")
    if "path.buffer" in view.axes:
        return "path.buffer"
    return max(view.axes, key=lambda place: frame[place].n_unique())


def _known(frame: pl.DataFrame, name: str, option: str, known: Sequence[str]) -> None:
    if name not in frame.columns or name not in known:
        raise InputError.at(option, f'"{name}", which is not there', one_of(name, list(known)))


def _metrics(frame: pl.DataFrame, metric: str) -> dict[str, str]:
    """The columns of a metric by class: itself, or `share` of every class."""
    if metric in frame.columns and metric in _numbers(frame):
        return {metric.rpartition(".")[0]: metric}
    found = {c: f"{c}.{metric}" for c in classes_of(frame) if f"{c}.{metric}" in frame.columns}
    if not found:
        raise InputError.at("--metric", f'"{metric}"', one_of(metric, _numbers(frame)))
    return found


def _numbers(frame: pl.DataFrame) -> list[str]:
    skip = ("cell", "trial", "seed")
    return [n for n, k in frame.schema.items() if k.is_numeric() and n not in skip]


def _limits(wanted: Mapping[str, str]) -> tuple[float | None, float | None]:
    part = all(m.rpartition(".")[2] in ("share", "jain", "utilization") for m in wanted.values())
    return (0.0, 1.03) if part else (0.0, None)


def _means(rows: pl.DataFrame, keys: Sequence[str], metric: str) -> pl.DataFrame:
    return rows.group_by(keys).agg(pl.col(metric).mean()).select(*keys, metric)


def _reach(rows: pl.DataFrame, metric: str, keys: Sequence[str]) -> tuple[float, float]:
    known = _means(rows, keys, metric)[metric].drop_nulls()
    return float(str(known.min())), float(str(known.max()))


def _centre(rows: pl.DataFrame, metric: str) -> float | None:
    """What a metric diverges from: the fair share; none for what has no middle."""
    group, _, key = metric.rpartition(".")
    if key != "share":
        return 0.0 if key in ("harm", "rtt_bias") else None
    return float(rows[f"{group}.flows"][0] / rows["flows"][0])


def _words(metric: str) -> str:
    """A metric for a label: "share of BBR"."""
    group, _, key = metric.rpartition(".")
    units = {"mbps": "Mbit/s", "ms": "ms", "s": "s", "bdp": "BDP"}
    stem, _, unit = key.rpartition("_")
    words = f"{stem.replace('_', ' ')} ({units[unit]})" if unit in units else key.replace("_", " ")
    return f"{words} of {cca_name(group)}" if group else words


def _class_count(frame: pl.DataFrame) -> pl.Expr:
    parts = [pl.col(f"{c}.flows").is_not_null().cast(pl.Int64) for c in classes_of(frame)]
    return pl.sum_horizontal(parts) if parts else pl.lit(0)
