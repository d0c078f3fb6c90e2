"""Finds trials that fall into two groups, whose mean describes neither.

BBR and CUBIC in a small buffer have such outcomes: one or the other gets nearly everything, and the
mean of ten trials is a share that no trial has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from narrows.metrics.catalogue import find, scale_of
from narrows.metrics.headings import heading_of
from narrows.metrics.intervals import mean
from narrows.metrics.metric import Entry, Row
from narrows.metrics.tables import summary_row

FEWEST = 5
"""Fewer trials aren't divided: their gaps say too little."""
SMALLEST = 2
"""The fewest trials of a group: a single one may be an outlier."""
APART = 3.0
"""The smallest gap between the groups, relative to the wider one's range.

Of 100,000 samples of 5 values 3 % have such a gap by chance if they are normal, and 7 % if they are
uniform; of samples of 10 values 0.01 and 0.1 %.
"""
SHARE, RELATIVE = 0.1, 0.2
"""The smallest gap that matters: of shares and other parts of a whole, and relative to the larger
mean of other quantities."""
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
        first, second = (f"{scale * mean(its):.3g}" for its in (self.more, self.fewer))
        return f"{first} in {len(self.more)} of {whole} trials, {second} in {len(self.fewer)}"


def two_groups(values: Sequence[float], metric: str) -> TwoGroups | None:
    """Returns the groups that the largest gap divides the values of a metric into.

    None unless each has `SMALLEST` trials or more, and the gap is `APART` times as wide as either
    group and matters.
    """
    ordered = sorted(values)
    if len(ordered) < FEWEST:
        return None
    gap, at = max((b - a, n + 1) for n, (a, b) in enumerate(pairwise(ordered)))
    low, high = ordered[:at], ordered[at:]
    widest = max(low[-1] - low[0], high[-1] - high[0])
    known = find(metric)
    least = SHARE if known is not None and known.part else RELATIVE * max(map(abs, ordered))
    if min(len(low), len(high)) < SMALLEST or gap < max(APART * widest, least) or not gap:
        return None
    more, fewer = sorted((high, low), key=len, reverse=True)
    return TwoGroups(tuple(more), tuple(fewer))


def columns_of(columns: Iterable[str]) -> list[str]:
    """Returns the columns that are looked at; of two shares the second follows from the first."""
    known = list(columns)
    shares = [name for name in known if name.endswith(".share")]
    ranked = {name: [name] for name in TOLD} | {"share": shares[:1] if len(shares) == 2 else shares}
    return [name for names in ranked.values() for name in names if name in known]


def _first(rows: Sequence[Row]) -> tuple[str, TwoGroups] | None:
    for name in columns_of(dict.fromkeys(name for row in rows for name in row)):
        values = [float(row[name]) for row in rows if row.get(name) is not None]
        found = two_groups(values, name)
        if found is not None:
            return name, found
    return None


def note_of_run(
    runs: Sequence[Entry], groups: Sequence[str], controls: Mapping[str, str | None] | None = None
) -> str:
    """Returns a sentence on two groups of a run's trials; empty if there are none."""
    valid = [run for run in runs if "invalid" not in run]
    if len(valid) < FEWEST:
        return ""
    return note_of_study([("", [summary_row(run, groups) for run in valid])], controls)


def note_of_study(
    combinations: Iterable[tuple[str, Sequence[Row]]],
    controls: Mapping[str, str | None] | None = None,
) -> str:
    """Returns a sentence on the combinations whose trials fall into two groups; may be empty.

    `combinations` has the words of each with a row of `summary` for each run.
    """
    every = {words: _first(rows) for words, rows in combinations}
    split = {words: found for words, found in every.items() if found is not None}
    if not split:
        return ""
    where, (name, parts) = max(split.items(), key=lambda pair: _distance(pair[1][1]))
    counted = f" in {len(split)} of {len(every)} combinations" if len(every) > 1 else ""
    words = parts.words(scale_of(name))
    at = f" ({where})" if where else ""
    head = f"The trials fall into two groups{counted}"
    return f"{head}: {heading_of(name, controls)}: {words}{at}. The mean describes neither."


def _distance(parts: TwoGroups) -> float:
    one, two = mean(parts.more), mean(parts.fewer)
    return abs(one - two) / max(abs(one), abs(two))
