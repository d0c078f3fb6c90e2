"""One figure for several trials of a run: the means of their lines, within the range of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from narrows.figures.model import Figure, Floats, Line, Panel
from narrows.words import count_of


def over_trials(trials: Sequence[Figure]) -> Figure:
    """One stack for all trials, from the same stack in each trial's figure.

    A line is the mean of the trials at each time, and its band reaches from the lowest to the
    highest of them. Lines that are the same in all trials, such as a capacity, have no band. Spans,
    such as stays in PROBE_RTT, differ between trials and are left out.
    """
    first = trials[0]
    titles = dict.fromkeys(panel.title for figure in trials for panel in figure.panels)
    panels = (
        _panel([panel for figure in trials for panel in figure.panels if panel.title == title])
        for title in titles
    )
    note = f"mean of {count_of(len(trials), 'trial')}, band from the lowest to the highest"
    ends = [figure.stack.x_range[1] for figure in trials if figure.stack is not None]
    stack = (
        None if first.stack is None else replace(first.stack, x_range=(0.0, max(ends)), spans=())
    )
    return replace(
        first, subtitle=f"{first.subtitle}; {note}", panels=tuple(panels), stack=stack,
        alt=f"{first.alt} Lines are the {note}.",
    )  # fmt: skip


def _panel(panels: Sequence[Panel]) -> Panel:
    lines: dict[str, list[Line]] = {}
    for panel in panels:
        for line in panel.lines:
            lines.setdefault(line.label, []).append(line)
    return replace(panels[0], marks=tuple(join(own) for own in lines.values()), spans=())


def join(lines: Sequence[Line]) -> Line:
    """The mean and the range of at least one line, at the times of the longest one."""
    first, times = lines[0], max((line.x for line in lines), key=len)
    values = np.array([_at(line, times) for line in lines])
    known = np.isfinite(values)
    if np.array_equal(values[0], values.min(axis=0), equal_nan=True) and np.array_equal(
        values[0], values.max(axis=0), equal_nan=True
    ):
        return replace(first, x=times, y=values[0])
    count = known.sum(axis=0)
    mean = np.full(len(times), np.nan)
    np.divide(np.where(known, values, 0.0).sum(axis=0), count, out=mean, where=count > 0)
    low = np.where(count > 0, np.where(known, values, np.inf).min(axis=0), np.nan)
    high = np.where(count > 0, np.where(known, values, -np.inf).max(axis=0), np.nan)
    return replace(first, x=times, y=mean, low=low, high=high, band=True, fill=False)


def _at(line: Line, times: Floats) -> Floats:
    """A line's values at these times; NaN before its first and after its last."""
    if np.array_equal(line.x, times):
        return line.y
    if line.kind == "step":
        at = np.searchsorted(line.x, times, side="right") - 1
        return np.where((at >= 0) & (times <= line.x[-1]), line.y[at], np.nan)
    return np.interp(times, line.x, line.y, left=np.nan, right=np.nan)
