"""Computes a number from a time series within a period, as `[[check]]` asks for.

Series are the samples of a run: events between two samples aren't seen. Both ends of a period
belong to it. At a sample where a value is unknown, no condition about it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from narrows.columns import Floats
from narrows.metrics.series import RunSeries, Samples
from narrows.spec import Condition, SeriesNumber

Flags: TypeAlias = NDArray[np.bool_]

_SLACK_S = 1e-9


@dataclass(frozen=True, slots=True)
class Reading:
    """A number, or why there is none."""

    value: float | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Period:
    """A period in s, which includes `end_s`."""

    begin_s: float
    end_s: float

    def holds(self, time_s: Floats) -> Flags:
        """Returns for each time whether it lies within the period."""
        return (time_s >= self.begin_s - _SLACK_S) & (time_s <= self.end_s + _SLACK_S)


class _NoValue(Exception):  # noqa: N818 (it is the answer, not an error)
    """There is no number, for this reason."""


def take(taken: SeriesNumber, run: RunSeries) -> Reading:
    """Returns the number of a run; its series must be among `series.owners`."""
    try:
        period = _period(taken, run)
        asked = taken.condition
        found = _require_series(run, asked)
        values = [_of_one(taken, one, period, run) for one in found]
    except _NoValue as reason:
        return Reading(None, str(reason))
    return Reading(float(_OVER[taken.over or "mean"](values)))


def _require_series(run: RunSeries, asked: Condition) -> list[Samples]:
    """Returns the series of a condition; raises _NoValue if the run hasn't any."""
    found = [one for one in run.read(asked.owner, asked.name) if one.has_values]
    if not found:
        told = ", ".join(run.internals(asked.owner))
        more = f"; the control tells {told}" if told else ""
        raise _NoValue(f"the run has no {asked.series}{more}")
    return found


def _period(taken: SeriesNumber, run: RunSeries) -> _Period:
    described = run.scenario["run"]
    begin_s = described["warmup_ns"] / 1e9 if taken.from_s is None else taken.from_s
    end_s = described["duration_ns"] / 1e9
    end_s = end_s if taken.to_s is None else min(end_s, taken.to_s)
    if taken.after is not None:
        begin_s = _when(taken.after, run, _Period(begin_s, end_s))
    if taken.lasting_s is not None:
        end_s = min(end_s, begin_s + taken.lasting_s)
    if taken.lasting_rtts is not None:
        end_s = min(end_s, begin_s + taken.lasting_rtts * _rtt_s(run))
    if taken.until is not None:
        end_s = _when(taken.until, run, _Period(begin_s, end_s), never=end_s)
    return _Period(begin_s, end_s)


def _rtt_s(run: RunSeries) -> float:
    return float(run.scenario["path"]["rtt_ns"] / 1e9)


def _when(
    condition: Condition, run: RunSeries, period: _Period, never: float | None = None
) -> float:
    """Returns when a condition begins to hold for the nth time; raises _NoValue without `never`."""
    time_s, holds = _holds_for_any(condition, run)
    within = period.holds(time_s)
    times = time_s[within][_begins(holds[within])]
    if len(times) >= condition.nth:
        return float(times[condition.nth - 1])
    if never is not None:
        return never
    raise _NoValue(f"{condition}: this never happened")


def _holds_for_any(condition: Condition, run: RunSeries) -> tuple[Floats, Flags]:
    """Returns where a condition holds for any flow of its class, at the times of the first flow."""
    found = _require_series(run, condition)
    time_s = found[0].time_s
    holds = [_as_of(one.time_s, _holds(condition, one.values), time_s) for one in found]
    return time_s, np.logical_or.reduce(holds)


def _holds(condition: Condition, values: NDArray[Any]) -> Flags:
    holds = np.ones(len(values), dtype=np.bool_)
    if condition.is_ is not None:
        wanted: list[Any] = list(condition.is_)
        if values.dtype.kind == "f":
            wanted = [_number(text) for text in wanted]
        return np.isin(values, np.array(wanted, dtype=values.dtype))
    if values.dtype.kind != "f":
        raise _NoValue(f"{condition.series} is a text, not a number")
    known = np.isfinite(values)
    if condition.above is not None:
        holds &= np.where(known, values, -np.inf) > condition.above
    if condition.below is not None:
        holds &= np.where(known, values, np.inf) < condition.below
    return holds


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _as_of(time_s: Floats, holds: Flags, wanted: Floats) -> Flags:
    """Returns the value of the latest sample at or before each time."""
    at = np.searchsorted(time_s, wanted + _SLACK_S, side="right") - 1
    return (at >= 0) & holds[np.maximum(at, 0)]


def _begins(holds: Flags) -> Flags:
    """Returns the samples at which a condition begins to hold; the first sample counts."""
    return holds & ~np.concatenate(([False], holds[:-1]))


def _of_one(taken: SeriesNumber, series: Samples, period: _Period, run: RunSeries) -> float:
    if taken.window_s is not None:
        series = _window_means(series, period, taken.window_s)
    within = period.holds(series.time_s)
    if taken.holding is not None:
        time_s, holds = _holds_for_any(taken.holding, run)
        within &= _as_of(time_s, holds, series.time_s)
    time_s, values = series.time_s[within], series.values[within]
    if taken.condition.asks:
        return _of_condition(taken, _holds(taken.condition, values), time_s, period, _rtt_s(run))
    if values.dtype.kind != "f":
        raise _NoValue(f"{taken.condition.series} is a text, not a number")
    known = values[np.isfinite(values)]
    if not len(known):
        raise _NoValue(f"no sample of {taken.condition.series} within the period")
    return float(_OF_NUMBERS[taken.take](known))


def _window_means(series: Samples, period: _Period, window_s: float) -> Samples:
    """Returns means over whole windows from the start of the period on, at the start of each."""
    if series.values.dtype.kind != "f":
        raise _NoValue("texts have no average")
    count = int((period.end_s - period.begin_s) / window_s + _SLACK_S)
    at = np.ceil((series.time_s - period.begin_s) / window_s - _SLACK_S).astype(int) - 1
    means: Floats = np.full(count, np.nan)
    for number in range(count):
        values = series.values[(at == number) & np.isfinite(series.values)]
        if len(values):
            means[number] = values.mean()
    begins: Floats = period.begin_s + np.arange(count, dtype=np.float64) * window_s
    return Samples(begins, means)


def _of_condition(
    taken: SeriesNumber, holds: Flags, time_s: Floats, period: _Period, rtt_s: float
) -> float:
    if not len(holds):
        raise _NoValue(f"no sample of {taken.condition.series} within the period")
    if taken.take == "times":
        return float(_begins(holds).sum())
    if taken.take == "share":
        return float(holds.mean())
    unit = rtt_s if taken.take.endswith("_rtts") else 1.0
    if taken.take.startswith("longest"):
        return _longest(holds, time_s, period) / unit
    if not holds.any():
        raise _NoValue(f"{taken.condition}: this never happened")
    return float((time_s[int(np.argmax(holds))] - period.begin_s) / unit)


def _longest(holds: Flags, time_s: Floats, period: _Period) -> float:
    """Returns the longest stretch of samples at which it holds, each lasting up to the next one."""
    ends = np.append(time_s[1:], min(period.end_s, time_s[-1] + 1e9))
    begins = np.flatnonzero(_begins(holds))
    lasts = np.flatnonzero(_begins(holds[::-1])[::-1])
    spans = ends[lasts] - time_s[begins]
    return float(spans.max()) if len(spans) else 0.0


def _percentile(share: float) -> Callable[[Floats], Any]:
    return lambda values: np.percentile(values, share)


def _growth(values: Floats) -> float:
    """Returns the last value divided by the first."""
    return float(values[-1] / values[0]) if values[0] else float("inf")


_OF_NUMBERS: Mapping[str, Callable[[Floats], Any]] = {
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "spread": lambda values: np.percentile(values, 95) - np.percentile(values, 5),
    "growth": _growth,
    **{f"p{share}": _percentile(share) for share in (1, 5, 50, 95, 99)},
}
_OVER: Mapping[str, Callable[[Sequence[float]], Any]] = {
    "mean": np.mean,
    "min": min,
    "max": max,
    "sum": sum,
}
