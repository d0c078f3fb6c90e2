"""The chart of an answer: each metric over the place, with the bounds drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from narrows.answer.best import Ranking
from narrows.answer.bound import Bracket
from narrows.answer.judge import Point
from narrows.answer.question import BoundQuestion
from narrows.answer.study import AskedStudy, Case
from narrows.figures.axes import axis
from narrows.figures.looks import HUES, told_apart
from narrows.figures.model import Figure, Guide, Line, Panel, heights
from narrows.figures.sweeps.view import label_of
from narrows.words import counted

MOST_CASES = 7
"""More combinations of the other axes don't fit one chart."""
AIR = 0.06
"""Room around the values, as a part of their range."""


def chart(study: AskedStudy, found: Mapping[Case, Bracket | Ranking], runs: int) -> Figure:
    """A panel for each metric of the question, a line for each of the first seven cases."""
    panels = tuple(_panel(study, metric, found) for metric in study.question.metrics)
    left_out = len(found) - MOST_CASES
    more = f"; the first {MOST_CASES} of {len(found)} combinations" if left_out > 0 else ""
    subtitle = f"{study.question}; {counted(runs, 'run')}{more}"
    alt = f"The answer to the question: {study.question}."
    return Figure(study.name, subtitle, panels, alt, columns=1, height=3.0)


def _panel(study: AskedStudy, metric: str, found: Mapping[Case, Bracket | Ranking]) -> Panel:
    cases = list(found)[:MOST_CASES]
    points = {case: _ascending(study, found[case].points) for case in cases}
    values = dict.fromkeys(study.written(p.value) for case in cases for p in points[case])
    across = axis(study.question.place, values)
    looks = told_apart([(hue, 0) for hue in HUES[: len(cases)]])
    lines = []
    for case, look in zip(cases, looks, strict=True):
        known = [point for point in points[case] if point.mean(metric) is not None]
        x = np.array([across.positions[study.written(point.value)] for point in known])
        y = np.array([point.mean(metric) for point in known], dtype=float)
        ends = np.array([_finite(point, metric) for point in known], dtype=float).reshape(-1, 2)
        label = ", ".join(str(value) for _, value in case) or label_of(metric)
        kind = "line" if across.measured else "points"
        lines.append(
            Line(label, x, y, look.hue, ends[:, 0], ends[:, 1], marker="o", dash=look.dash,
                 kind=kind)  # type: ignore[arg-type]
        )  # fmt: skip
    guides = _bounds(study, metric) + tuple(
        Guide(across.positions[study.written(answer.found.value)], _note(study, case, answer.found),
              upright=True)
        for case in cases
        if isinstance(answer := found[case], Bracket) and answer.found is not None
    )  # fmt: skip
    return Panel(
        across.label_of_scale, label_of(metric), tuple(lines), "",
        x_range=(None, None) if across.measured else (-0.5, len(across.positions) - 0.5),
        y_range=_reach(lines, guides), x_scale=across.scale, guides=guides,
        ticks=across.ticks,
    )  # fmt: skip


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


def _reach(lines: Sequence[Line], guides: Sequence[Guide]) -> tuple[float | None, float | None]:
    """The ends of a y axis that shows all values and bounds, with some air around them."""
    level = [guide.value for guide in guides if not guide.upright]
    pool = np.concatenate([np.array(level), *(heights(line) for line in lines)])
    if not pool.size:
        return None, None
    low, high = float(pool.min()), float(pool.max())
    air = AIR * ((high - low) or abs(high) or 1.0)
    return (0.0 if low >= 0 > low - air else low - air), high + air


def _bounds(study: AskedStudy, metric: str) -> tuple[Guide, ...]:
    """The bounds of the conditions on a metric."""
    if not isinstance(study.question, BoundQuestion):
        return ()
    conditions = study.question.conditions
    return tuple(
        Guide(one.bound, f"{one.op} {one.bound:g}") for one in conditions if one.metric == metric
    )


def _note(study: AskedStudy, case: Case, found: Point) -> str:
    words = str(study.written(found.value))
    return f"{case[-1][1]}: {words}" if case else words
