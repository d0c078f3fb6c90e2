"""Judges the changes between two sides: every common metric, with the interval of the difference.

The trials of a combination are paired if they have the same seeds on both sides and transfers that
are drawn from them, as both sides then carry the same ones. Otherwise they are independent samples
(Welch): jitter of the same seed soon meets other packets, so pairs have nothing in common but half
the degrees of freedom. The common combinations of two sweeps are paired. A measurement, which
happened once, is compared with the prediction interval of the other side's trials, which can't show
a change. A change is reported only if the 95 % interval of the difference doesn't contain zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from narrows.diff.side import Side, pair
from narrows.errors import InputError
from narrows.figures.names import settings
from narrows.late import pl
from narrows.metrics import equivalence, intervals
from narrows.metrics.catalogue import CLASS, COMPLETION, OF_APPLICATIONS, RUN, find, in_percent
from narrows.metrics.drifts import HALF
from narrows.metrics.equivalence import Difference
from narrows.metrics.headings import words
from narrows.metrics.leading import of_applications
from narrows.words import label_of

CONDITIONS = ("rate_mbps", "rtt_ms", "buffer_bdp", "flows")
"""Columns that describe the conditions, not the results."""
_ROUNDING = 1e-12
"""Sums of floats can differ by this, relatively, because of their order."""
PLACES = ("study", "cell", "trial", "seed", "run")
"""Columns that identify the run."""


class Effect(StrEnum):
    """The verdict on a difference."""

    BETTER = "better"
    WORSE = "worse"
    CHANGED = "changed"
    SAME = "equal"
    UNCLEAR = "no difference shown"
    UNKNOWN = "too few values"


TOLD = (Effect.BETTER, Effect.WORSE, Effect.CHANGED)
"""The verdicts that show a change."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A metric on both sides.

    `cells` counts the combinations; by their own intervals the metric got `better` in some of them
    and `worse` in others. `split` says so in words if they disagree: "better in 5, worse in 3 of 12
    combinations (worst: Buffer 8 BDP)".
    """

    metric: str
    label: str
    first: float
    second: float
    apart: Difference
    change: Effect
    cells: int = 1
    better: int = 0
    worse: int = 0
    split: str = ""

    @property
    def has_changed(self) -> bool:
        """Returns True if a change is shown on average, or several that disagree."""
        return self.change in TOLD or bool(self.split)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the difference; None if it isn't known."""
        return self.apart.interval

    @property
    def display(self) -> DiffRow:
        """The row as people read it: shares, losses and utilization in per cent."""
        if not in_percent(self.metric):
            return self
        apart = replace(
            self.apart, mean=100 * self.apart.mean, half_width=100 * self.apart.half_width
        )
        label, first, second = f"{self.label} (%)", 100 * self.first, 100 * self.second
        return replace(self, label=label, first=first, second=second, apart=apart)


@dataclass(frozen=True, slots=True)
class ComparedCombination:
    """The runs of both sides of a combination that both have."""

    name: str
    first: pl.DataFrame
    second: pl.DataFrame
    is_paired: bool
    """True if several trials have the same seeds and so the same transfers on both sides."""

    def values(self, one: str, two: str) -> tuple[list[float], list[float]]:
        """The values of a column of each side; of paired trials only those with both."""
        ours, theirs = self.first.drop_nulls(one), self.second.drop_nulls(two)
        if self.is_paired:
            ours, theirs = (rows.sort("seed") for rows in (ours, theirs))
            ours = ours.filter(pl.col("seed").is_in(theirs["seed"].to_list()))
            theirs = theirs.filter(pl.col("seed").is_in(ours["seed"].to_list()))
        return list(map(float, ours[one])), list(map(float, theirs[two]))


def judge(first: Side, second: Side) -> list[DiffRow]:
    """Judges every metric with values on both sides.

    Raises InputError if they have nothing in common.
    """
    cells = combinations(first, second)
    measured = (m for m in RUN if m.name not in CONDITIONS and not HALF.search(m.name))
    columns = [(m.name, m.name, label_of(m.title, "", m.unit)) for m in measured]
    for one, two in pair(first, second):
        before, after = words(one, first.controls), words(two, second.controls)
        label = before if before == after else f"{before} \N{RIGHTWARDS ARROW} {after}"
        columns += [
            (f"{one}.{m.name}", f"{two}.{m.name}", label_of(m.title, label, m.unit))
            for m in (*CLASS, *OF_APPLICATIONS, *COMPLETION)
            if m.name not in CONDITIONS and not HALF.search(m.name)
        ]
    rows = (_row(first, second, cells, *column) for column in columns)
    return [row for row in rows if row is not None]


def headline(rows: Sequence[DiffRow]) -> list[DiffRow]:
    """Returns the rows to read first: of classes, then losses, drops, utilization and fairness.

    Calls, videos and transfers come first, with their own metrics. Of the classes whose goodput
    changed most, relatively, it is the goodput; of the first also share, delay and retransmits.
    Without a second class there is no share, and a single flow has no fairness.
    """
    goodputs = [row for row in rows if row.metric.endswith(".goodput_mbps")]
    changed = sorted(goodputs, key=_relative, reverse=True)[:_MOST_CLASSES]
    group = changed[0].metric.rpartition(".")[0] if changed else ""
    wanted = [
        *of_applications([row.metric for row in rows])[:_MOST_OF_APPLICATIONS],
        *(row.metric for row in changed),
        *(f"{group}.{name}" for name in _HEADLINE_OF_CLASS),
        *_HEADLINE_OF_RUN,
    ]
    by_name = {row.metric: row for row in rows}
    found = [by_name[name] for name in wanted if name in by_name]
    return [row for row in found if not (row.change is Effect.SAME and _trivial(row))]


def _relative(row: DiffRow) -> float:
    return abs(_part(row.apart.mean, row.first, row.second))


def _part(apart: float, first: float, second: float) -> float:
    """Returns a difference relative to the larger value."""
    return apart / max(abs(first), abs(second), 1e-9)


def _trivial(row: DiffRow) -> bool:
    """Returns True for the share or fairness of one class or flow, or no retransmits at all."""
    if row.metric.endswith("retransmits"):
        return row.first == row.second == 0
    return row.first == row.second == 1 and row.metric.endswith(("share", "jain"))


_MOST_CLASSES = 3
_MOST_OF_APPLICATIONS = 3
_HEADLINE_OF_CLASS = ("share", "delay_mean_ms", "retransmits")
_HEADLINE_OF_RUN = ("loss_rate", "drops", "utilization", "jain")


def combinations(first: Side, second: Side) -> list[ComparedCombination]:
    """Returns the combinations that both sides have; raises InputError if there are none."""
    alike = first.draws_transfers and second.draws_transfers and first.backend == second.backend

    def combination(name: str, ours: pl.DataFrame, theirs: pl.DataFrame) -> ComparedCombination:
        ours, theirs = distinct(ours), distinct(theirs)
        return ComparedCombination(name, ours, theirs, alike and _have_equal_seeds(ours, theirs))

    if not first.axes and not second.axes:
        return [combination("", first.rows, second.rows)]
    axes = [axis for axis in first.axes if axis in second.axes]
    one_sided = {*first.axes, *second.axes} - {*axes}
    if not axes or one_sided:
        found = f"sweeps over {_list_axes(first.axes)} and over {_list_axes(second.axes)}"
        raise InputError.at("narrows diff", found, "two sweeps over the same axes")
    parts = [_by_values(side.rows, axes) for side in (first, second)]
    common = [values for values in parts[0] if values in parts[1]]
    if not common:
        raise InputError.at("narrows diff", "no combination that both have", "common values")
    return [
        combination(
            ", ".join(settings(zip(axes, values, strict=True))), parts[0][values], parts[1][values]
        )
        for values in common
    ]


def _have_equal_seeds(ours: pl.DataFrame, theirs: pl.DataFrame) -> bool:
    if "seed" not in ours or "seed" not in theirs:
        return False
    seeds = sorted(ours["seed"])
    return len(set(seeds)) == len(seeds) > 1 and seeds == sorted(theirs["seed"])


def distinct(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the trials, or only the first if all are the same run.

    They are if nothing in it is random. Identical trials say nothing about chance, and an interval
    of zero width would look like certainty.
    """
    measured = rows.select(name for name in rows.columns if name not in PLACES)
    return rows.head(1) if measured.n_unique() == 1 else rows


def _list_axes(axes: Sequence[str]) -> str:
    return ", ".join(axes) or "nothing"


def _by_values(rows: pl.DataFrame, axes: Sequence[str]) -> Mapping[tuple[str, ...], pl.DataFrame]:
    groups = rows.partition_by(list(axes), as_dict=True, maintain_order=True)
    return {tuple(str(value) for value in key): part for key, part in groups.items()}


def _row(
    first: Side,
    second: Side,
    cells: Sequence[ComparedCombination],
    one: str,
    two: str,
    label: str,
) -> DiffRow | None:
    if one not in first.rows.columns or two not in second.rows.columns:
        return None
    values = [(cell, *cell.values(one, two)) for cell in cells]
    names = [cell.name for cell, a, b in values if a and b]
    paired = [cell.is_paired for cell, a, b in values if a and b]
    known = [(a, b) for _, a, b in values if a and b]
    if not known:
        return None
    means = [(intervals.mean(a), intervals.mean(b)) for a, b in known]
    scale = max(abs(value) for a, b in known for value in (*a, *b))
    singles = [
        exact(_pair_difference(a, b) if by_seed else _difference(first, second, a, b), scale)
        for (a, b), by_seed in zip(known, paired, strict=True)
    ]
    apart = singles[0]
    if len(known) > 1:
        pairs = equivalence.of_pairs([b for _, b in means], [a for a, _ in means])
        apart = exact(pairs, scale)
    told = [_change(one, single) for single in singles]
    sizes = [_part(its.mean, *both) for its, both in zip(singles, means, strict=True)]
    return DiffRow(
        one, label,
        intervals.mean([a for a, _ in means]), intervals.mean([b for _, b in means]),
        apart, _change(one, apart), len(known), told.count(Effect.BETTER), told.count(Effect.WORSE),
        _split(list(zip(sizes, told, names, strict=True))),
    )  # fmt: skip


def _difference(
    first: Side, second: Side, ours: Sequence[float], theirs: Sequence[float]
) -> Difference:
    """Returns the second side's mean minus the first's."""
    if first.is_measurement == second.is_measurement:
        if sorted(ours) == sorted(theirs):  # the same runs, as of a control in two languages
            return equivalence.of_pairs(sorted(theirs), sorted(ours))
        return equivalence.of_means(theirs, ours)
    if first.is_measurement:
        return _leave_undecided(equivalence.of_observation(theirs, ours[0]))
    turned = equivalence.of_observation(ours, theirs[0])
    return _leave_undecided(replace(turned, mean=-turned.mean))


def _pair_difference(ours: Sequence[float], theirs: Sequence[float]) -> Difference:
    """Returns the mean difference of paired trials.

    Differences that happen to be equal, as of small counts, have no width, so they aren't used.
    """
    pairs = equivalence.of_pairs(theirs, ours)
    return pairs if pairs.spread or not pairs.mean else equivalence.of_means(theirs, ours)


def _leave_undecided(apart: Difference) -> Difference:
    """Returns a distance from a measurement; its interval is unknown if it would show a change.

    How much a measurement varies isn't known, and simulated trials may agree to the last digit.
    """
    return apart if abs(apart.mean) <= apart.half_width else replace(apart, half_width=math.inf)


def exact(apart: Difference, scale: float) -> Difference:
    """Returns the difference, or zero if it is only due to rounding."""
    if abs(apart.mean) + apart.half_width <= _ROUNDING * scale:
        return replace(apart, mean=0.0, half_width=0.0)
    return apart


def _split(cells: Sequence[tuple[float, Effect, str]]) -> str:
    """Says in how many combinations a metric rose and fell, if it did both.

    Of each combination: the change relative to the larger value, the verdict and the name.
    """
    shown = sorted(one for one in cells if one[1] in TOLD)
    falls = [one for one in shown if one[0] < 0]
    count, rises = f"{len(cells)} combinations", len(shown) - len(falls)
    if not falls or not rises:
        return ""
    if shown[0][1] is Effect.CHANGED:
        return f"higher in {rises}, lower in {len(falls)} of {count}"
    better, worse, worst = rises, len(falls), shown[0][2]
    if shown[0][1] is Effect.BETTER:
        better, worse, worst = worse, better, shown[-1][2]
    return f"better in {better}, worse in {worse} of {count} (worst: {worst})"


def _change(column: str, apart: Difference) -> Effect:
    if not math.isfinite(apart.half_width):
        return Effect.SAME if apart.mean == 0 else Effect.UNKNOWN
    if abs(apart.mean) <= apart.half_width:
        return Effect.SAME if apart.mean == apart.half_width == 0 else Effect.UNCLEAR
    metric = find(column)
    if metric is None or metric.better is None:
        return Effect.CHANGED
    more = apart.mean > 0
    return Effect.BETTER if more == (metric.better == "more") else Effect.WORSE


def pairing(first: Side, second: Side) -> str:
    """Says for which trials paired differences are used; empty if for none."""
    found = combinations(first, second)
    count = sum(one.is_paired for one in found)
    if not count:
        return ""
    if len(found) == 1:
        return (
            "Trials with equal seeds have the same transfers, so they are paired: the intervals "
            "are those of their differences."
        )
    where = f"{count} of {len(found)} combinations"
    return (
        f"In {where} trials with equal seeds have the same transfers, so they are paired to judge "
        "whether each is better or worse."
    )


def documents(rows: Sequence[DiffRow]) -> Iterator[dict[str, Any]]:
    """The rows as `--json` prints them."""
    for row in rows:
        yield {
            "metric": row.metric,
            "label": row.label,
            "first": row.first,
            "second": row.second,
            "difference": row.apart.mean,
            "interval": row.interval,
            "change": str(row.change),
            "combinations": row.cells,
            "better_in": row.better,
            "worse_in": row.worse,
            "split": row.split,
        }
