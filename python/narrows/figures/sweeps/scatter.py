"""Throughput against delay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from narrows.figures.axes import axis
from narrows.figures.looks import looks_of
from narrows.figures.model import Cloud, Figure, Line, Mark, Panel
from narrows.figures.names import setting, value_words
from narrows.figures.sweeps.unsettled import is_unsettled, rings
from narrows.figures.sweeps.view import (
    MOST_LINES,
    View,
    bounds_of,
    classes_of,
    figure,
    require,
)
from narrows.late import pl
from narrows.metrics.headings import control_of

NEAR = 0.15
"""Points closer than this part of both axes don't get a note each."""
DELAY = "\N{LEFTWARDS ARROW} Queueing delay, mean over RTT samples (ms)"
"""Unlike the mean queue, which is a mean over time. The axis grows to the left."""
MARGIN = 1.08
"""How far the axes reach beyond the values."""


def scatter(frame: pl.DataFrame, view: View) -> Figure:
    """Throughput against queueing delay, an ellipse for each class; better is up and right.

    The points of a class at the values of an axis (`by`, or the buffer, or another one with few
    values) are in one panel; those of quantities are joined, and the ends say which they are.
    Controls of a single class have their own colours.
    """
    by, view = _overlay_of(frame, view), replace(view, whole=True)
    known = classes_of(frame)
    looks = looks_of(known, view.controls)
    ends = _ends(frame, known, view)
    across = axis(by, frame[by].to_list()) if by else None
    guides = bounds_of(view, [f"{group}.goodput_mbps" for group in known])
    guides += bounds_of(view, [f"{group}.delay_mean_ms" for group in known], upright=True)

    def panel(rows: pl.DataFrame, title: str) -> Panel:
        marks: list[Mark] = []
        unsettled: list[Line] = []
        for group in known:
            metrics = [f"{group}.delay_mean_ms", f"{group}.goodput_mbps"]
            hue, centres = looks[group].hue, []
            for value in across.positions if across else [None]:
                note, label = _note(by, value), view.words(group)
                if len(known) == 1 and control_of(str(value)) == value:
                    hue, label, note = str(value), note, ""
                part = rows if by is None else rows.filter(pl.col(by) == value)
                points = part.drop_nulls(metrics)
                if points.height:
                    x, y = (points[metric].to_numpy() for metric in metrics)
                    marks.append(Cloud(label, x, y, hue, note))
                    centres.append((x.mean(), y.mean()))
                    if is_unsettled(points, *metrics):
                        unsettled += rings(centres[-1:], hue)
            if across is not None and across.measured and len(centres) > 1:
                marks = _join_centres(marks, centres, hue, ends)
        return Panel(
            DELAY, "Goodput (Mbit/s)", (*marks, *unsettled),
            title, *ends, guides=guides,
        )  # fmt: skip

    note = "better is up and right, as delay grows to the left"
    if across is not None and across.measured:
        low, *_, high = (_note(by, value) for value in across.positions)
        note += f"; {setting(str(by), low)} to {high}"
    return figure(
        frame, view, () if by is None else (by,), panel, "Throughput and delay",
        "Goodput over queueing delay, the delay axis reversed; ellipses of one deviation.", note,
    )  # fmt: skip


def _note(by: str | None, value: object) -> str:
    return value_words(by, value) if by else ""


def _overlay_of(frame: pl.DataFrame, view: View) -> str | None:
    """The axis whose values share a panel."""
    if view.by is not None:
        require(frame, view.by, "--by", view.axes)
        return view.by
    free = [place for place in view.axes if 1 < frame[place].n_unique() <= MOST_LINES]
    if "path.buffer" in free:
        return "path.buffer"
    return max(free, key=lambda place: frame[place].n_unique(), default=None)


def _join_centres(
    marks: list[Mark],
    centres: list[tuple[float, float]],
    hue: str,
    ends: tuple[tuple[float, float], tuple[float, float]],
) -> list[Mark]:
    """The clouds of a class with a line through their centres.

    The first and the last keep their notes, unless these would overlap.
    """
    x, y = (np.array(one) for one in zip(*centres, strict=True))
    apart = [
        abs(float(one[-1] - one[0])) / abs(high - low)
        for one, (low, high) in zip((x, y), ends, strict=True)
    ]
    last = len(marks) - 1
    noted = {last, last - len(centres) + 1} if max(apart) > NEAR else set()
    thinned = [
        replace(mark, note="")
        if isinstance(mark, Cloud) and place > last - len(centres) and place not in noted
        else mark
        for place, mark in enumerate(marks)
    ]
    return [*thinned, Line("", x, y, hue, width=0.8, opacity=0.6, group="")]


def _ends(
    frame: pl.DataFrame, known: list[str], view: View
) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ends of both axes, the same in all panels, with all bounds inside; delays descend."""
    delays, goodputs = (
        [value for name in names for value in frame[name].drop_nulls().to_list()]
        + [guide.value for guide in bounds_of(view, names)]
        for names in (
            [f"{group}.{key}" for group in known] for key in ("delay_mean_ms", "goodput_mbps")
        )
    )
    least, most = min(delays, default=0.0), max(delays, default=1.0)
    high = max(goodputs, default=1.0)
    return (max(most, 0.1) * MARGIN, min(least, 0.0) * MARGIN), (0.0, max(high, 0.1) * MARGIN)
