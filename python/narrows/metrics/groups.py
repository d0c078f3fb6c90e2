"""Finds trials that fall into two groups, whose mean describes neither, or that differ widely.

BBR and CUBIC in a small buffer have such outcomes: one or the other gets nearly everything, and the
mean of ten trials is a share that no trial has. Few trials can't show that: they only differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from narrows.metrics.catalogue import find, scale_of
from narrows.metrics.equivalence import LEAST_TRIALS
from narrows.metrics.headings import heading_of
from narrows.metrics.intervals import deviation, half_width, mean, student
from narrows.metrics.metric import Entry, Row
from narrows.metrics.tables import summary_row
from narrows.words import short_number

FEWEST = 5
"""Fewer trials aren't divided: their gaps say too little."""
SMALLEST = 2
"""The fewest trials of a group: a single one may be an outlier."""
FEWEST_PART = 0.15
"""The smallest part of the trials that is a group: fewer may be the tail of one."""
NARROWEST, WIDEST = 1 / 3, 3 / 4
"""Bounds of the gap between groups, relative to the range of n trials; between them it is 6 / n.

Of 60,000 samples of one group such a gap has by chance at most, with 5 or more trials: 1.4 % if
they are normal, 3.1 % if they are uniform, 3.3 % if they are exponential.
"""
SHARE, RELATIVE = 0.1, 0.2
"""The smallest gap that matters: of shares and other parts of a whole, and relative to the larger
mean of other quantities."""
LOSS = 0.02
"""The smallest gap of a loss rate that matters: next to nothing, losses differ by a multiple."""
WIDE = 0.5
"""The widest half of an interval of other quantities, relative to the mean."""
MOST = 100
"""The most trials that are advised."""
TOLD = ("share", "jain", "utilization", "queue_mean_ms", "loss_rate")
"""The metrics that are looked at, in this order; the first with two groups is told."""


@dataclass(frozen=True, slots=True)
class TwoGroups:
    """The values of trials on both sides of a gap, the larger group first."""

    more: tuple[float, ...]
    fewer: tuple[float, ...]

    def words(self, scale: float = 1.0) -> str:
        """The means and sizes: "93 in 7 of 10 trials, 41 in 3"."""
        whole = len(self.more) + len(self.fewer)
        first, second = (short_number(scale * mean(its)) for its in (self.more, self.fewer))
        return f"{first} in {len(self.more)} of {whole} trials, {second} in {len(self.fewer)}"


@dataclass(frozen=True, slots=True)
class WideTrials:
    """The values of a metric in trials whose interval is so wide that it answers little."""

    metric: str
    values: tuple[float, ...]

    @property
    def limit(self) -> float:
        """The widest half of an interval that needs no remark."""
        return _that_matters(self.metric, WIDE * abs(mean(self.values)))

    @property
    def excess(self) -> float:
        """The half of the interval, relative to `limit`; 0 if the values are within its reach."""
        if max(self.values) - min(self.values) <= 2 * self.limit:
            return 0.0
        return half_width(self.values) / self.limit

    def words(self) -> str:
        """The smallest and the largest: "0.9 to 35.4 in 4 trials"."""
        low, high = (scale_of(self.metric) * end for end in (min(self.values), max(self.values)))
        decimals = max(2 - math.floor(math.log10(high)), 0)
        return f"{low:,.{decimals}f} to {high:,.{decimals}f} in {len(self.values)} trials"

    def remedy(self) -> str:
        """How many such trials halve the limit; empty if more than `MOST` do."""
        reach, spread = self.limit / 2, deviation(self.values)
        counts = range(FEWEST, MOST + 1, FEWEST)
        enough = next((n for n in counts if student(n - 1.0) * spread / n**0.5 <= reach), None)
        told = short_number(scale_of(self.metric) * reach, 2)
        return (
            f"; `--trials {enough}` would show two groups, or tell the mean to ± {told}"
            if enough
            else ""
        )


def _is_part(metric: str) -> bool:
    """Returns True for a share and other parts of a whole."""
    known = find(metric)
    return known is not None and known.part


def _that_matters(metric: str, relative: float) -> float:
    """Returns the difference that matters: that of a part of a whole, or else the `relative` one.

    That of a loss rate is `LOSS` or more.
    """
    if _is_part(metric):
        return SHARE
    return max(relative, LOSS) if metric.rpartition(".")[2] == "loss_rate" else relative


def two_groups(values: Sequence[float], metric: str) -> TwoGroups | None:
    """Returns the groups that the largest gap divides the values of a metric into.

    None unless the gap is wide for so many trials and matters, and each group has enough of them.
    """
    ordered, count = sorted(values), len(values)
    least = max(SMALLEST, math.ceil(FEWEST_PART * count))
    if count < FEWEST or ordered[0] == ordered[-1]:
        return None
    gaps = ((b - a, n) for n, (a, b) in enumerate(pairwise(ordered), 1))
    gap, at = max(one for one in gaps if least <= one[1] <= count - least)
    low, high = ordered[:at], ordered[at:]
    matters = _that_matters(metric, RELATIVE * max(map(abs, ordered)))
    part = min(max(6 / count, NARROWEST), WIDEST)
    if gap < max(part * (ordered[-1] - ordered[0]), matters):
        return None
    more, fewer = sorted((high, low), key=len, reverse=True)
    return TwoGroups(tuple(more), tuple(fewer))


def is_split(values: Sequence[float], metric: str) -> bool:
    """Returns True if the values of a metric that is looked at fall into two groups."""
    return metric.rpartition(".")[2] in TOLD and two_groups(values, metric) is not None


def columns_of(columns: Iterable[str]) -> list[str]:
    """Returns the columns that are looked at; of two shares the second follows from the first."""
    known = list(columns)
    shares = [name for name in known if name.endswith(".share")]
    ranked = {name: [name] for name in TOLD} | {"share": shares[:1] if len(shares) == 2 else shares}
    return [name for names in ranked.values() for name in names if name in known]


def _values(rows: Sequence[Row]) -> dict[str, tuple[float, ...]]:
    """Returns the known values of each column that is looked at."""
    names = columns_of(dict.fromkeys(name for row in rows for name in row))
    return {
        name: tuple(float(row[name]) for row in rows if row.get(name) is not None) for name in names
    }


def _first(values: Mapping[str, Sequence[float]]) -> tuple[str, TwoGroups] | None:
    found = ((name, two_groups(its, name)) for name, its in values.items())
    return next(((name, parts) for name, parts in found if parts is not None), None)


def note_of_run(
    runs: Sequence[Entry], groups: Sequence[str], controls: Mapping[str, str | None] | None = None
) -> str:
    """Returns a sentence on two groups of a run's trials, or wide differences; may be empty."""
    valid = [run for run in runs if "invalid" not in run]
    if len(valid) < LEAST_TRIALS:
        return ""
    return note_of_study([("", [summary_row(run, groups) for run in valid])], controls)


def note_of_study(
    combinations: Iterable[tuple[str, Sequence[Row]]],
    controls: Mapping[str, str | None] | None = None,
) -> str:
    """Returns sentences on the combinations whose trials fall into two groups or differ widely.

    `combinations` has the words of each with a row of `summary` for each run. Empty if none does.
    """
    split: dict[str, tuple[str, TwoGroups]] = {}
    wide: dict[str, WideTrials] = {}
    count = 0
    for words, rows in combinations:
        count += 1
        values = _values(rows)
        if found := _first(values):
            split[words] = found
        elif widest := _widest(values):
            wide[words] = widest
    told = (_split_note(split, count, controls), _wide_note(wide, count, controls))
    return " ".join(filter(None, told))


def _split_note(
    split: Mapping[str, tuple[str, TwoGroups]],
    count: int,
    controls: Mapping[str, str | None] | None,
) -> str:
    if not split:
        return ""
    where, (name, parts) = max(split.items(), key=lambda pair: _distance(pair[1][1]))
    words = parts.words(scale_of(name))
    head = f"The trials fall into two groups{_of_all(len(split), count)}"
    told = f"{heading_of(name, controls)}: {words}{_at(where)}"
    return f"{head}: {told}. The mean describes neither."


def _wide_note(
    wide: Mapping[str, WideTrials], count: int, controls: Mapping[str, str | None] | None
) -> str:
    if not wide:
        return ""
    where, widest = max(wide.items(), key=lambda pair: pair[1].excess)
    head = f"The trials differ widely{_of_all(len(wide), count)}"
    told = f"{heading_of(widest.metric, controls)}: {widest.words()}{_at(where)}"
    return f"{head}: {told}{widest.remedy()}."


def _of_all(some: int, count: int) -> str:
    return f" in {some} of {count} combinations" if count > 1 else ""


def _at(where: str) -> str:
    return f" ({where})" if where else ""


def _widest(values: Mapping[str, tuple[float, ...]]) -> WideTrials | None:
    """Returns the metric whose interval exceeds its limit most, a share if one does; or None."""
    found = (WideTrials(name, its) for name, its in values.items() if len(its) >= LEAST_TRIALS)
    wide = [one for one in found if one.excess > 1]
    shares = [one for one in wide if one.metric.endswith(".share")]
    return max(shares or wide, key=lambda one: one.excess, default=None)


def _distance(parts: TwoGroups) -> float:
    one, two = mean(parts.more), mean(parts.fewer)
    return abs(one - two) / max(abs(one), abs(two))
