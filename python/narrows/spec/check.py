"""Checks of a specification: bounds that its results have to meet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Condition:
    """A condition on the samples of a series; `series` alone only names the series."""

    series: str
    """A class, flow or link and a column or internal, such as "bbr.max_bw_mbps"."""
    is_: tuple[str, ...] | None = None
    """The sample has one of these values."""
    above: float | None = None
    """The sample is higher than this."""
    below: float | None = None
    """The sample is lower than this."""
    nth: int = 1
    """Which occurrence counts, from 1 on."""

    @property
    def asks(self) -> bool:
        """Returns True if the condition is about samples, and doesn't only name a series."""
        return not (self.is_ is None and self.above is None and self.below is None)

    @property
    def owner(self) -> str:
        """The class, flow or link that has the series."""
        return self.series.rpartition(".")[0]

    @property
    def name(self) -> str:
        """The column or internal of the series."""
        return self.series.rpartition(".")[2]

    def __str__(self) -> str:
        parts = [f"is {' or '.join(self.is_)}"] if self.is_ is not None else []
        parts += [f"is above {self.above:g}"] if self.above is not None else []
        parts += [f"is below {self.below:g}"] if self.below is not None else []
        time = f" (time {self.nth})" if self.nth > 1 else ""
        return f"{self.series} {' and '.join(parts)}".rstrip() + time


@dataclass(frozen=True)
class SeriesNumber:
    """A number computed from a series over a period.

    The period lasts from `from_s`, or the warm-up, to `to_s`, or the end of the run.
    """

    condition: Condition
    """The series, with a condition on its samples."""
    take: str
    """How the number is computed, such as "max", or "times" for a condition."""
    over: str | None = None
    """How the values of a class's flows are combined; by default their mean."""
    window_s: float | None = None
    """The series is first averaged over windows of this length."""
    from_s: float | None = None
    to_s: float | None = None
    after: Condition | None = None
    """The period begins once this has happened."""
    until: Condition | None = None
    """The period ends once this happens."""
    lasting_s: float | None = None
    """The period lasts at most this long."""
    lasting_rtts: float | None = None
    """The period lasts at most this many two-way delays of the path."""
    holding: Condition | None = None
    """Samples that don't meet this condition are left out."""

    def __str__(self) -> str:
        return " ".join([*self._words(), *self._period()])

    def conditions(self) -> Iterator[tuple[str, Condition]]:
        """Yields every condition with its key in a specification."""
        yield "series", self.condition
        named = (("after", self.after), ("until", self.until), ("while", self.holding))
        yield from ((key, one) for key, one in named if one is not None)

    @property
    def how(self) -> str:
        """How the number is computed, in words that precede its series: "median of"."""
        return _WORDS.get(self.take, self.take)

    def _words(self) -> Iterator[str]:
        yield self.how
        yield str(self.condition)
        if self.over is not None:
            yield f"({self.over} over flows)"
        if self.window_s is not None:
            yield f"in windows of {self.window_s:g} s"

    def _period(self) -> Iterator[str]:
        times = (("from", self.from_s), ("to", self.to_s))
        yield from (f"{word} {value:g} s" for word, value in times if value is not None)
        if self.after is not None:
            yield f"after {self.after}"
        if self.until is not None:
            yield f"until {self.until}"
        if self.lasting_s is not None:
            yield f"within {self.lasting_s:g} s"
        if self.lasting_rtts is not None:
            yield f"within {self.lasting_rtts:g} RTT"
        if self.holding is not None:
            yield f"while {self.holding}"


_WORDS = {
    "min": "lowest", "max": "highest", "p1": "1st percentile of", "p5": "5th percentile of",
    "p50": "median of", "p95": "95th percentile of", "p99": "99th percentile of",
    "mean": "mean of", "growth": "growth of", "times": "times that",
    "share": "share of samples where", "after_s": "seconds until", "after_rtts": "RTT until",
    "longest_s": "longest time (s) that", "longest_rtts": "longest time (RTT) that",
}  # fmt: skip


@dataclass(frozen=True)
class ResultCheck:
    """A bound on a metric or a series, which the mean over all trials has to meet.

    A specification with checks guards a change: `narrows run` ends with status 1 unless all checks
    are met.
    """

    metric: str | None
    """A column of the table `summary`, such as "utilization" or "bbr.share"."""
    at_least: float | None
    """The mean may not be lower."""
    at_most: float | None
    """The mean may not be higher."""
    where: Mapping[str, Any]
    """The check applies only where these places have these values; a list means any of its values.
    """
    taken: SeriesNumber | None = None
    """The number computed from a series, if the check isn't about a metric."""
    heading: str = ""
    """The heading in per cent that names the metric, such as "Loss rate (%)"; empty for a column.

    The bounds are fractions once `metric` is a column.
    """

    @property
    def name(self) -> str:
        """The metric, or the number computed from a series, in words."""
        return self.metric if self.metric is not None else str(self.taken)

    @property
    def bounds_text(self) -> str:
        """The bounds in words, such as "at least 0.4, at most 0.6"."""
        return self.words_of_bounds()

    def words_of_bounds(self, scale: float = 1) -> str:
        """Returns the bounds in words, multiplied by `scale` to match a displayed unit."""
        ends = (("at least", self.at_least), ("at most", self.at_most))
        return ", ".join(f"{word} {scale * value:g}" for word, value in ends if value is not None)


def read_check(entry: Mapping[str, Any]) -> ResultCheck:
    """Builds the check that the native module has read."""
    fields = dict(entry)
    taken = fields.pop("taken")
    return ResultCheck(**fields, taken=None if taken is None else _read_taken(taken))


def _read_taken(entry: Mapping[str, Any]) -> SeriesNumber:
    conditions = ("condition", "after", "until", "holding")
    made: dict[str, Any] = {
        key: _condition(entry[key]) for key in conditions if entry[key] is not None
    }
    plain: dict[str, Any] = {key: value for key, value in entry.items() if key not in conditions}
    return SeriesNumber(**plain, **made)


def _condition(entry: Mapping[str, Any]) -> Condition:
    fields: dict[str, Any] = dict(entry)
    values = fields.pop("is_")
    return Condition(**fields, is_=None if values is None else tuple(values))
