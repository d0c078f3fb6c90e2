"""Shows failed checks over time: the quantity of each, for every control, with its bounds.

Each control's line is the mean of its trials and its band their range, in windows. A quantity that
is a word, such as a state, is drawn for the first trial of each control that fails the check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from narrows.evaluate.runs import Contestant
from narrows.evaluate.verdicts import AttemptResult
from narrows.figures.frames import TIME
from narrows.figures.model import HEADROOM, Figure, Floats, Guide, Line, Panel
from narrows.figures.palette import COLOURS
from narrows.figures.trials import join
from narrows.metrics.catalogue import scale_of
from narrows.metrics.checks import RunMeasurements
from narrows.metrics.fairness import jain
from narrows.metrics.headings import heading_of_check
from narrows.metrics.series import BOTTLENECK, COMPLETION, RunSeries, Samples
from narrows.plan import Plan, Trial
from narrows.spec import ResultCheck

WINDOWS = 150
"""The number of windows in which a run is drawn, unless the check's own windows are longer."""
_OVER: Mapping[str, Callable[[Floats], Floats]] = {
    "mean": lambda values: np.mean(values, axis=0),
    "min": lambda values: np.min(values, axis=0),
    "max": lambda values: np.max(values, axis=0),
    "sum": lambda values: np.sum(values, axis=0),
}
_OF_CLASS = {"share": "share", "goodput_mbps": "goodput_mbps", "throughput_mbps": "throughput_mbps",
             "rtt_mean_ms": "rtt_ms", "rtt_p95_ms": "rtt_ms"}  # fmt: skip
"""The series of a class behind each metric."""
_BOUNDED = ("mean", "min", "max", "first", "last", "p1", "p5", "p50", "p95", "p99")
"""Numbers in the unit of their series, so that their bound can be drawn beside it."""


@dataclass(frozen=True, slots=True)
class _Series:
    """A series: its owner, how the flows of a class are combined, and its factor."""

    owner: str
    name: str
    over: str = "mean"
    scale: float = 1.0


def over_time(
    title: str,
    judged: Sequence[AttemptResult],
    found: Callable[[Plan, Trial], RunMeasurements | None],
) -> Figure | None:
    """Draws a panel for each failed check with a series; None if there is none."""
    unmet = {
        number: result.outcome.check
        for one in judged
        for number, result in enumerate(one.results)
        if result.outcome.passed is False
    }
    made = (_panel(number, unmet[number], judged, found) for number in sorted(unmet))
    panels = tuple(panel for panel in made if panel is not None)
    if not panels:
        return None
    alt = "Over time, with the bounds: " + ", ".join(panel.title for panel in panels) + "."
    return Figure(title, "", panels, alt, columns=1, height=3.0)


def colour_of(contestant: Contestant) -> str:
    """Returns the colour of a control; neutral for a user's control or one of another project."""
    return contestant.cca if contestant.cca in COLOURS and contestant.stack is None else "neutral"


def _panel(
    number: int,
    check: ResultCheck,
    judged: Sequence[AttemptResult],
    found: Callable[[Plan, Trial], RunMeasurements | None],
) -> Panel | None:
    lines, states, ends = [], list[str](), list[float]()
    for one in judged:
        if one.attempt.cell is None or number >= len(one.results):
            continue
        plan = one.attempt.cell.plan
        runs = [run.series() for trial in plan.trials if (run := found(plan, trial)) is not None]
        ends += [run.scenario["run"]["warmup_ns"] / 1e9 for run in runs]
        drawn = [line for run in runs for line in _lines(check, run, states)]
        if states:
            drawn = drawn[:1] if one.results[number].outcome.passed is False else []
        if drawn:
            who = one.attempt.contestant
            lines.append(replace(join(drawn), label=who.title, colour=colour_of(who)))
    if not lines:
        return None
    label, bounds = heading_of_check(check), check.words_of_bounds(scale_of(check.metric or ""))
    guides = () if states else tuple(_bounds(check))
    begin = [Guide(max(ends), "counts from here", upright=True)] if max(ends) > 0 else []
    return Panel(
        TIME, "" if states else label, tuple(lines), f"{label}: {bounds} expected",
        x_range=(0.0, None), y_range=(-0.5, len(states) - 0.5) if states else _ends(lines, guides),
        guides=(*guides, *begin),
        y_ticks=tuple((float(at), state) for at, state in enumerate(states)),
    )  # fmt: skip


def _ends(lines: Sequence[Line], guides: Sequence[Guide]) -> tuple[float, float]:
    values = [np.array([0.0, *(guide.value for guide in guides)])]
    values += [part for one in lines for part in (one.y, one.low, one.high) if part is not None]
    pool = np.concatenate(values)
    pool = pool[np.isfinite(pool)]
    return HEADROOM * float(pool.min()), (HEADROOM * float(pool.max())) or 1.0


def _bounds(check: ResultCheck) -> Iterator[Guide]:
    """Yields the bounds of the quantity itself, or those that a condition sets."""
    taken = check.taken
    ends: list[tuple[float | None, str]] = []
    if taken is not None and taken.condition.asks:
        ends = [(taken.condition.above, "above"), (taken.condition.below, "below")]
    elif taken is None or taken.take in _BOUNDED:
        ends = [(check.at_least, "at least"), (check.at_most, "at most")]
    for value, word in ends:
        if value is not None:
            shown = scale_of(check.metric or "") * value
            yield Guide(shown, f"{word} {shown:g}", below=word in ("at most", "below"))


def _lines(check: ResultCheck, run: RunSeries, states: list[str]) -> Iterator[Line]:
    """Yields the line of a run, if its quantity has a series; words are numbered in `states`."""
    if check.metric == "jain":
        yield from _fairness(run)
        return
    behind = _series_of(check, run)
    if behind is None:
        return
    series = [one for one in run.read(behind.owner, behind.name) if one.has_values]
    if not series:
        return
    if behind.name == COMPLETION:
        yield _points(series)
    elif series[0].values.dtype.kind != "f":
        yield _states(series[0], states)
    else:
        times = series[0].time_s
        values = np.array([np.interp(times, one.time_s, one.values) for one in series])
        window_s = check.taken.window_s if check.taken is not None else None
        yield _windows(times, _OVER[behind.over](values) * behind.scale, run, window_s or 0.0)


def _series_of(check: ResultCheck, run: RunSeries) -> _Series | None:
    """Returns the series behind a check; None for a metric without one."""
    if check.taken is not None:
        asked = check.taken.condition
        return _Series(asked.owner, asked.name, check.taken.over or "mean")
    owner, _, name = str(check.metric).rpartition(".")
    if not owner:
        return _of_bottleneck(name, run)
    if name.startswith(("slowdown", "completion")):
        return _Series(owner, COMPLETION) if name.startswith("completion") else None
    if name not in _OF_CLASS:
        return None
    over = "sum" if name.endswith("mbps") else "mean"
    return _Series(owner, _OF_CLASS[name], over, scale_of(name))


def _of_bottleneck(name: str, run: RunSeries) -> _Series | None:
    if name in ("utilization", "loss_rate"):
        return _Series(BOTTLENECK, name, scale=scale_of(name))
    if not name.startswith("queue_"):
        return None
    rtt_ms = run.scenario["path"]["rtt_ns"] / 1e6
    return _Series(BOTTLENECK, "queue_ms", scale=1 / rtt_ms if name.endswith("_bdp") else 1.0)


def _fairness(run: RunSeries) -> Iterator[Line]:
    """Yields Jain's index of the flows' goodputs in each window."""
    names = [str(flow["name"]) for flow in run.scenario["flows"]]
    series = [one for name in names for one in run.read(name, "goodput_mbps")]
    every = [_windows(one.time_s, one.values, run) for one in series]
    amounts = np.nan_to_num(np.array([one.y for one in every]))
    index = [jain(column) for column in amounts.T.tolist()]
    if every:
        yield replace(every[0], y=np.array([np.nan if one is None else one for one in index]))


def _windows(times: Floats, values: Floats, run: RunSeries, least_s: float = 0.0) -> Line:
    """Returns the means over windows, as steps from the start of each window."""
    end_s = run.scenario["run"]["duration_ns"] / 1e9
    window_s = max(end_s / WINDOWS, run.scenario["run"]["sample_interval_ns"] / 1e9, least_s)
    count = max(int(np.ceil(end_s / window_s - 1e-9)), 1)
    at = np.clip(np.ceil(times / window_s - 1e-9).astype(int) - 1, 0, count - 1)
    known = np.isfinite(values)
    total = np.bincount(at[known], values[known], count)
    number = np.bincount(at[known], minlength=count)
    means = np.full(count, np.nan)
    np.divide(total, number, out=means, where=number > 0)
    begins: Floats = window_s * np.arange(count, dtype=np.float64)
    return Line("", begins, means, "neutral", kind="step", width=1.4)


def _points(series: Sequence[Samples]) -> Line:
    """Returns transfers by the times at which they began."""
    times = np.concatenate([one.time_s for one in series])
    values = np.concatenate([one.values for one in series])
    order = np.argsort(times, kind="stable")
    return Line("", times[order], values[order], "neutral", kind="points")


def _states(series: Samples, states: list[str]) -> Line:
    """Returns a series of words as steps; new words are added to `states`."""
    states += [word for word in dict.fromkeys(series.values.tolist()) if word not in states]
    at = np.array([float(states.index(word)) for word in series.values.tolist()])
    return Line("", series.time_s, at, "neutral", kind="step", width=1.4)
