"""The chart of an answer: each metric over the place, with the bounds drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TypeAlias

import numpy as np

from narrows.answer.best import Ranking
from narrows.answer.bound import Bracket
from narrows.answer.judge import Point
from narrows.answer.question import BestQuestion, EqualQuestion, metrics_in
from narrows.answer.study import AskedCase, AskedStudy
from narrows.figures import label
from narrows.figures.axes import ChartAxis, axis
from narrows.figures.frames import in_words
from narrows.figures.looks import Look, looks
from narrows.figures.model import Figure, Guide, Line, Panel, heights
from narrows.figures.names import axes_in_words, settings, uncapitalize, value_words
from narrows.figures.sweeps.unsettled import rings
from narrows.metrics.catalogue import find, scale_of
from narrows.metrics.drifts import concerns
from narrows.metrics.headings import heading_of, legend_words
from narrows.metrics.settling import UnsettledRuns
from narrows.spec.values import exact_value
from narrows.words import begin_upper, count_of, join_words

MOST_CASES = 7
"""The largest number of combinations of the other axes in one chart."""
MARGIN = 0.06
"""The margin around the values, relative to their range."""


Unsettled: TypeAlias = UnsettledRuns[tuple[AskedCase, object]]
"""The runs of cases at exact values that haven't settled."""
_NONE: Unsettled = UnsettledRuns({}, {}, 0)


def chart(
    study: AskedStudy,
    found: Mapping[AskedCase, Bracket | Ranking],
    runs: int,
    unsettled: Unsettled = _NONE,
) -> Figure:
    """A panel for each metric of the question, a line for each case that there is room for."""
    first, *rest = (
        _panel(study, quantity, found, unsettled) for quantity in study.question.quantities
    )
    panels = (first, *map(_without_names, rest))
    shown = min(map(_most_cases, study.question.quantities))
    more = f"; the first {shown} of {len(found)} combinations" if len(found) > shown else ""
    bars = "means with intervals that hold together with 95 %"
    subtitle = f"{study.question}; {count_of(runs, 'run')}{more}; {bars}"
    alt = f"The answer to the question: {study.question}."
    metrics = [one for quantity in study.question.quantities for one in metrics_in(quantity)]
    what = join_words(dict.fromkeys(map(_title, metrics)))
    by = axes_in_words([study.question.place])
    title = study.name if in_words(study.name) else f"{begin_upper(what)} by {by}"
    return label(Figure(title, subtitle, panels, alt, columns=1, height=3.0), study.name)


def _title(column: str) -> str:
    """The title of a metric in a sentence."""
    metric = find(column)
    return column if metric is None else uncapitalize(metric.title)


def _most_cases(quantity: str) -> int:
    """The number of cases that a panel has room for; a difference has two lines for each."""
    return MOST_CASES // len(metrics_in(quantity))


def _panel(
    study: AskedStudy,
    quantity: str,
    found: Mapping[AskedCase, Bracket | Ranking],
    unsettled: Unsettled,
) -> Panel:
    """The panel of a metric over the place, or of the two metrics of a difference."""
    metrics = metrics_in(quantity)
    cases = list(found)[: _most_cases(quantity)]
    points = {case: _ascending(study, found[case].points) for case in cases}
    values = dict.fromkeys(study.spelling(p.value) for case in cases for p in points[case])
    across = axis(study.question.place, values)
    shown = [(case, metric) for case in cases for metric in metrics]
    looks_of_lines = looks([_control(study, case, metric) for case, metric in shown])
    lines = [
        _line(study, metric, points[case], _label(study, case, metric, metrics), across, look)
        for (case, metric), look in zip(shown, looks_of_lines, strict=True)
    ]
    for (case, metric), line in zip(shown, list(lines), strict=True):
        marked = (
            concerns(unsettled.quantities(_key(study, case, point)), metric)
            for point in _having(points[case], metric)
        )
        lines += rings(compress(zip(line.x, line.y, strict=True), marked), line.colour)
    guides = _bounds(study, quantity) + tuple(
        Guide(
            across.positions[study.spelling(end.value)],
            _note(study, case, end, what),
            upright=True,
            below=number > 0,  # the labels of two ends don't touch
        )
        for case in cases
        for number, (what, end) in enumerate(_answers(study, found[case]))
    )
    y_label = ", ".join(dict.fromkeys(heading_of(name.rpartition(".")[2]) for name in metrics))
    y_label = y_label if len(metrics) > 1 else heading_of(quantity, study.controls)
    return Panel(
        across.label_of_scale, y_label, tuple(lines), "",
        x_range=(None, None) if across.measured else (-0.5, len(across.positions) - 0.5),
        y_range=_y_range(lines, guides), x_scale=across.scale, guides=guides,
        ticks=_ticks(across),
    )  # fmt: skip


def _control(study: AskedStudy, case: AskedCase, metric: str) -> str | None:
    """The control that a line shows: that of its class, or the only one of its case or study."""
    group = metric.rpartition(".")[0]
    if study.controls.get(group) is not None:
        return study.controls[group]
    named = [str(value) for place, value in case if place.endswith("cca")]
    if not case:
        named = [cca for cca in dict.fromkeys(study.controls.values()) if cca]
    return named[0] if len(named) == 1 else None


def _ticks(across: ChartAxis) -> tuple[tuple[float, str], ...]:
    """The ticks: round numbers on a logarithmic axis, where the values tried are rarely round."""
    if not across.measured or across.scale != "log":
        return across.ticks if not across.measured else ()
    least, most = min(across.positions.values()), max(across.positions.values())
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    round_ = (digit * 10.0**power for power in powers for digit in (1, 2, 5))
    return tuple((at, f"{at:g}") for at in round_ if least <= at <= most)


def _without_names(panel: Panel) -> Panel:
    """The panel without the labels of its upright lines, which the first panel has."""
    return replace(
        panel, guides=tuple(replace(g, label="") if g.upright else g for g in panel.guides)
    )


def _answers(study: AskedStudy, found: Bracket | Ranking) -> list[tuple[str, Point]]:
    """The values that are marked, named: the bound, or both ends around values that are equal.

    Also around undecided values if there is one case; the labels of several would overlap.
    """
    if isinstance(found, Ranking) or found.answer is None:
        return []
    is_equal = isinstance(study.question, EqualQuestion)
    is_open = bool(found.between) and len(study.cases) == 1
    if not found.beyond or not (is_equal or is_open):
        return [("answer", found.answer)]
    names = ("end", "end") if is_equal else ("fails", "holds")
    return list(zip(names, (found.beyond, found.answer), strict=True))


def _label(study: AskedStudy, case: AskedCase, metric: str, metrics: Sequence[str]) -> str:
    """A line's label: its case, and the class, or the metric of two, or all classes."""
    values, group = settings(case), metric.rpartition(".")[0]
    if values and len(metrics) == 1:
        return ", ".join(values)
    if not group and len(metrics) > 1:
        return ", ".join([*values, heading_of(metric)])
    groups = [group] if group else study.controls
    names = (legend_words(name, study.controls) for name in groups)
    return ", ".join([*values, join_words(dict.fromkeys(names))])


def _line(
    study: AskedStudy,
    metric: str,
    points: Sequence[Point],
    label: str,
    across: ChartAxis,
    look: Look,
) -> Line:
    """The means of a metric with their intervals."""
    known = _having(points, metric)
    x = np.array([across.positions[study.spelling(point.value)] for point in known])
    scale = scale_of(metric)
    y = scale * np.array([point.mean(metric) for point in known], dtype=float)
    ends = scale * np.array([_finite(point, metric) for point in known], float).reshape(-1, 2)
    return Line(
        label, x, y, look.hue, ends[:, 0], ends[:, 1], marker="o", dash=look.dash,
        kind="line" if across.measured else "points",
    )  # fmt: skip


def _having(points: Sequence[Point], metric: str) -> list[Point]:
    return [point for point in points if point.mean(metric) is not None]


def _key(study: AskedStudy, case: AskedCase, found: Point) -> tuple[AskedCase, object]:
    return case, exact_value(study.spelling(found.value))


def _ascending(study: AskedStudy, points: Sequence[Point]) -> list[Point]:
    order = {str(value): number for number, value in enumerate(study.values)}
    if study.scale is None:
        return sorted(points, key=lambda point: order[str(point.value)])
    return sorted(points, key=lambda point: float(point.value))


def _finite(point: Point, metric: str) -> tuple[float, float]:
    """The ends of the interval; the mean itself if they aren't finite."""
    ends, middle = point.interval(metric), point.mean(metric)
    if ends is None or not np.isfinite(ends).all():
        return middle or 0.0, middle or 0.0
    return ends


def _y_range(lines: Sequence[Line], guides: Sequence[Guide]) -> tuple[float | None, float | None]:
    """The ends of a y axis that shows all values and bounds, with a margin around them."""
    level = [guide.value for guide in guides if not guide.upright]
    pool = np.concatenate([np.array(level), *(heights(line) for line in lines)])
    if not pool.size:
        return None, None
    low, high = float(pool.min()), float(pool.max())
    margin = MARGIN * ((high - low) or abs(high) or 1.0)
    return (0.0 if low >= 0 > low - margin else low - margin), high + margin


def _bounds(study: AskedStudy, quantity: str) -> tuple[Guide, ...]:
    """The bounds of the conditions on a metric; a difference has none."""
    question, scale = study.question, scale_of(quantity)
    if isinstance(question, BestQuestion) or len(metrics_in(quantity)) > 1:
        return ()
    if isinstance(question, EqualQuestion):
        return (Guide(scale * question.bound, f"asked: {scale * question.bound:g}"),)
    return tuple(
        Guide(scale * one.bound, f"asked: {one.op} {scale * one.bound:g}")
        for one in question.conditions
        if one.quantity == quantity
    )


def _note(study: AskedStudy, case: AskedCase, found: Point, what: str) -> str:
    """The label of a value that is marked: its case, or `what` it is if there is only one case."""
    value = value_words(study.question.place, study.spelling(found.value))
    return f"{value_words(*case[-1]) if case else what}: {value}"
