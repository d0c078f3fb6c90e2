"""Finds runs whose long flows haven't settled: both halves of the measured time differ.

A mean over a time in which shares still drift is no steady value, and trials don't show that, since
they all drift alike. A control's own cycles aren't a drift: BBR gives way every 10 s, CUBIC and
Reno have sawteeth, and BBR and CUBIC take turns every 20 s. So the halves must differ by more than
a quantity's ups and downs within them, and by an amount that changes what a reader concludes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Generic, Self, TypeAlias, TypeVar

import numpy as np

from narrows.columns import Floats, Tables
from narrows.metrics.duration import ROUND_TRIPS, SHORTEST_S, is_steady, lacking_s
from narrows.metrics.equivalence import LEAST_TRIALS
from narrows.metrics.intervals import half_width, mean
from narrows.metrics.metric import Entry, Row
from narrows.metrics.series import BOTTLENECK, RunSeries
from narrows.metrics.tables import summary_row
from narrows.metrics.windows import increments_by_key
from narrows.spec.scenario import Scenario
from narrows.words import begin_upper, short_number

CYCLE_S = 20.0
"""The longest cycle that is known: every second time that BBR probes, CUBIC's packets stay."""
PARTS = 5
"""The parts of each half, whose spread shows a quantity's ups and downs."""
BEYOND, BEYOND_OF_SHORT = 0.8, 1.5
"""How far halves are apart, in standard deviations of the parts within them; the second if a half
is shorter than `CYCLE_S`.

Of 103 runs of one to four flows, measured for 25 to 300 s, those that drifted by `SHARE` had 0.88
or more. Where flows only took turns, short halves were up to 18 points and 1.0 deviation apart.
"""
SHARE = 0.1
"""The smallest drift of a share: 10 points, as from 45 to 55 %, can turn who is ahead."""
SHARE_OF_ALL, LEVEL_OF_ALL = 0.03, 0.99
"""The smallest drift of a share that counts if the interval of all trials shows it, and its level.

BBRv3 beside CUBIC with 16 BDP takes 20 minutes to settle, a few points in each minute. Of 74
combinations of 3 or 5 trials, measured for 200 to 1,790 s, this finds that one each time, and no
other.
"""
RELATIVE = 0.2
"""The smallest drift of a goodput or a queue, as a part of the larger half."""
OF_RTT = 0.05
"""The smallest drift of a queue, as a part of the path's RTT: less changes no delay that counts."""

REASON = f"{ROUND_TRIPS} round trips over a full buffer"
HALF = re.compile(r"\b((goodput|queue|completion)_((early|late)_(mbps|ms|s)|drifts)|needed_s)$")
"""The columns of `summary` on halves and on short runs; the notes here show them."""
SHORT = "too short"
"""Stands for runs that are too short for shares among the quantities that drift."""
_OF_SHARES = ("share", "goodput_mbps", "jain", "rtt_bias")
CONCERNED = {
    "shares": _OF_SHARES,
    "goodput": ("goodput_mbps", "utilization"),
    "the queue": ("queue", "delay", "rtt_mean", "rtt_p95"),
    "completion times": ("completion", "fct", "slowdown", "late"),
    SHORT: _OF_SHARES,
}
"""The beginnings of the metrics that are wrong while a quantity drifts."""
UNSETTLED = "runs still drift or are too short"
"""Explains the mark of a value that hasn't settled."""
NEEDED = "needed_s"
"""The column with the time that shares must be measured, if the run had less."""

Pair: TypeAlias = tuple[float, float]
_GOODPUT, _COMPLETION = ".goodput_early_mbps", ".completion_early_s"


def halves(
    scenario: Scenario, groups: Sequence[str], tables: Tables, end_s: float
) -> dict[str, Any]:
    """Returns the goodputs of the classes and the queue in both halves of the measured time.

    `drifting` has the names of those that drift. Empty where nobody can tell: the time is short,
    flows come, go or pause, the path changes, or the run kept no samples. The queue is left out
    where the link's rate varies, and so is the sum of the goodputs where a trace tells it.
    """
    begin_s = scenario["run"]["warmup_ns"] / 1e9
    if not _may_drift_in(scenario, end_s) or not _is_sampled(scenario, end_s):
        return {}
    beyond = BEYOND if end_s - begin_s >= 2 * CYCLE_S else BEYOND_OF_SHORT
    borders = np.linspace(begin_s, end_s, 2 * PARTS + 1)
    received = increments_by_key(tables["flow_samples"], "flow", "received_bytes", borders)
    if any(not np.isfinite(its).all() for its in received.values()):
        return {}
    nothing = np.zeros(2 * PARTS)
    by_class = dict.fromkeys(groups, nothing)
    for flow, its in received.items():
        by_class[groups[flow]] = by_class[groups[flow]] + its
    total = sum(by_class.values(), nothing)
    scale = 8e-6 * 2 / (end_s - begin_s)
    sums = {group: its.reshape(2, PARTS).sum(axis=1) for group, its in by_class.items()}
    goodputs = {group: (scale * its).tolist() for group, its in sums.items()}
    found: dict[str, Any] = {"goodput_mbps": goodputs, "drifting": []}
    shares = [_ratio(its, total) for its in by_class.values()]
    service = scenario["path"]["service"]["kind"]
    if any(_drifts(one, SHARE, beyond) for one in shares) or (
        service != "trace" and _drifts(total, RELATIVE * _larger(total), beyond)
    ):
        found["drifting"].append("goodput_mbps")
    if service != "constant":
        return found
    queue = _queue(scenario, groups, tables, borders)
    found["queue_ms"] = queue.reshape(2, PARTS).mean(axis=1).tolist()
    least_ms = OF_RTT * scenario["path"]["rtt_ns"] / 1e6
    if _drifts(queue, max(RELATIVE * _larger(queue), least_ms), beyond):
        found["drifting"].append("queue_ms")
    return found


def _may_drift_in(scenario: Scenario, end_s: float) -> bool:
    """Returns True if the same long flows share the same path in a long enough measured time."""
    return end_s - scenario["run"]["warmup_ns"] / 1e9 >= SHORTEST_S and is_steady(scenario)


def _is_sampled(scenario: Scenario, end_s: float) -> bool:
    """Returns True if each part of the measured time has two samples or more."""
    run = scenario["run"]
    part_s = (end_s - run["warmup_ns"] / 1e9) / (2 * PARTS)
    return run["record"] != "summary" and run["sample_interval_ns"] / 1e9 <= part_s / 2


def _queue(scenario: Scenario, groups: Sequence[str], tables: Tables, borders: Floats) -> Floats:
    """Returns the mean queue in each part, in ms."""
    (samples,) = RunSeries(scenario, groups, tables).read(BOTTLENECK, "queue_ms")
    known = np.isfinite(samples.values)
    times, values = samples.time_s[known], samples.values[known]
    sums, _ = np.histogram(times, borders, weights=values)
    counts, _ = np.histogram(times, borders)
    return _ratio(sums.astype(np.float64), counts.astype(np.float64))


def _drifts(parts: Floats, limit: float, beyond: float) -> bool:
    """Returns True if the halves differ by the limit, and by so many deviations within them."""
    halves_ = parts.reshape(2, PARTS)
    apart = abs(float(np.diff(halves_.mean(axis=1))[0]))
    spread = float(np.sqrt(halves_.var(axis=1, ddof=1).mean()))
    return apart > 0 and apart >= limit and apart >= beyond * spread


def _larger(parts: Floats) -> float:
    return float(parts.reshape(2, PARTS).mean(axis=1).max())


def _ratio(part: Floats, whole: Floats) -> Floats:
    found: Floats = np.zeros(len(part))
    np.divide(part, whole, out=found, where=whole > 0)
    return found


@dataclass(frozen=True, slots=True)
class Drift:
    """A quantity that differs between the halves, in a unit for people; `owner` is a class."""

    quantity: str
    owner: str
    early: float
    late: float
    unit: str

    @property
    def size(self) -> float:
        """The difference, relative to the smallest that counts."""
        shares = self.unit == "%"
        least = 100 * SHARE if shares else RELATIVE * max(self.early, self.late)
        return abs(self.late - self.early) / least

    @property
    def changing(self) -> str:
        """The change as a clause: "shares still change"."""
        return f"{self.quantity} still {'change' if self.quantity.endswith('s') else 'changes'}"

    def words(self, early: str, late: str) -> str:
        """Returns the values with words for the halves: "bbr 61 % at first, 44 % at last"."""
        form = "{:.0f}".format if self.unit == "%" else short_number
        values = (f"{form(one)} {self.unit}" for one in (self.early, self.late))
        told = ", ".join(
            f"{value} {when}" for value, when in zip(values, (early, late), strict=True)
        )
        return f"{self.owner} {told}".lstrip()


def drifts(rows: Sequence[Row], trials: int) -> list[Drift]:
    """Returns the drifts of a condition, the largest of each quantity, from rows of `summary`.

    More than half of its trials must drift the same way: one that does alone shows chance. A share
    also drifts by less than `SHARE` where the interval of all trials shows it.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    groups = [name.removesuffix(_GOODPUT) for name in names if name.endswith(_GOODPUT)]
    goodputs = [_goodputs(row, groups) for row in rows]
    shares = [_shares(one) for one in goodputs] if len(groups) > 1 else []
    flags = [_may_drift(row, "goodput") for row in rows]
    found = [
        *(_drift("shares", group, [one.get(group) for one in compress(shares, flags)], trials)
          or _drift_of_all(group, [one.get(group) for one in shares])
          for group in reversed(groups) if shares),
        _drift("goodput", "", [_total(one) for one in compress(goodputs, flags)], trials),
        _drift("the queue", "", [_pair(row, "queue_early_ms", "queue_late_ms")
                                 if _may_drift(row, "queue") else None for row in rows], trials),
        *(_drift("completion times", name.removesuffix(_COMPLETION),
                 [_pair(row, name, name.replace("early", "late"))
                  if _may_drift(row, "completion") else None for row in rows], trials)
          for name in names if name.endswith(_COMPLETION)),
    ]  # fmt: skip
    known = sorted((one for one in found if one is not None), key=lambda one: round(one.size, 6))
    return list({one.quantity: one for one in known}.values())[::-1]


def concerns(quantities: Collection[str], metric: str) -> bool:
    """Returns True if a metric, of all flows or a class, is wrong while these quantities drift."""
    group, _, name = metric.rpartition(".")
    if name == "goodput_mbps" and not group:  # a share changes no sum
        return "goodput" in quantities
    own, all_ = (
        tuple(begin for one in some for begin in CONCERNED[one]) for some in (quantities, CONCERNED)
    )
    return name.startswith(own) or (bool({*quantities} - {SHORT}) and not name.startswith(all_))


def _may_drift(row: Row, quantity: str) -> bool:
    """Returns True if a run found a drift; earlier versions kept halves only then."""
    return row.get(f"{quantity}_drifts") != 0


def _pair(row: Row, early: str, late: str) -> Pair | None:
    known = [float(row[name]) for name in (early, late) if row.get(name) is not None]
    return (known[0], known[1]) if len(known) == 2 else None


def _goodputs(row: Row, groups: Sequence[str]) -> dict[str, Pair]:
    names = {group: (f"{group}{_GOODPUT}", f"{group}.goodput_late_mbps") for group in groups}
    pairs = ((group, _pair(row, *its)) for group, its in names.items())
    return {group: pair for group, pair in pairs if pair is not None}


def _total(goodputs: Mapping[str, Pair]) -> Pair | None:
    early, late = (sum(pair[half] for pair in goodputs.values()) for half in (0, 1))
    return (early, late) if early and late else None


def _shares(goodputs: Mapping[str, Pair]) -> dict[str, Pair]:
    total = _total(goodputs)
    if total is None:
        return {}
    return {
        group: (100 * pair[0] / total[0], 100 * pair[1] / total[1])
        for group, pair in goodputs.items()
    }


_UNITS = {"shares": "%", "goodput": "Mbit/s", "the queue": "ms", "completion times": "s"}


def _drift(quantity: str, owner: str, pairs: Sequence[Pair | None], trials: int) -> Drift | None:
    known = [pair for pair in pairs if pair is not None]
    ways = [[p for p in known if p[1] > p[0]], [p for p in known if p[1] < p[0]]]
    most = max(ways, key=len)
    if 2 * len(most) <= trials:
        return None
    drift = _mean_drift(quantity, owner, most)
    return drift if drift.size >= 1 else None


def _drift_of_all(owner: str, pairs: Sequence[Pair | None]) -> Drift | None:
    """Returns the drift of a share that the trials show together, though hardly one by itself."""
    known = [pair for pair in pairs if pair is not None]
    changes = [late - early for early, late in known]
    if len(known) < LEAST_TRIALS:
        return None
    least = max(100 * SHARE_OF_ALL, half_width(changes, LEVEL_OF_ALL))
    return _mean_drift("shares", owner, known) if abs(mean(changes)) > least else None


def _mean_drift(quantity: str, owner: str, pairs: Sequence[Pair]) -> Drift:
    early, late = (mean([pair[half] for pair in pairs]) for half in (0, 1))
    return Drift(quantity, owner, early, late, _UNITS[quantity])


def _needed_s(rows: Iterable[Row]) -> float:
    """Returns the measured time that runs need that are too short; 0 if none is."""
    return max((float(row.get(NEEDED) or 0.0) for row in rows), default=0.0)


def note_of_run(runs: Sequence[Entry], groups: Sequence[str]) -> str:
    """Returns a sentence on what still changes within a run's trials, or that they are too short.

    Empty if neither is so.
    """
    found = drifts([summary_row(run, groups) for run in runs if "halves" in run], len(runs))
    scenario = runs[0]["scenario"]
    needed = lacking_s(scenario) or 0.0
    run = scenario["run"]
    begin, end = run["warmup_ns"] / 1e9, run["duration_ns"] / 1e9
    if not found:
        return _too_short(scenario, needed) if needed else note_of_record(scenario)
    middle = (begin + end) / 2
    spans = [f"in {a:g} to {b:g} s" for a, b in ((begin, middle), (middle, end))]
    told = "; ".join(f"{one.changing}: {one.words(*spans)}" for one in found)
    return f"{begin_upper(told)}; {_longer(scenario, needed)}."


def _too_short(scenario: Scenario, needed: float) -> str:
    run = scenario["run"]
    measured = (run["duration_ns"] - run["warmup_ns"]) / 1e9
    return (
        f"Measured for {measured:g} s, too short to tell shares: {REASON} take {needed:.0f} s; "
        f"{_options(scenario, needed)} would do for most controls."
    )


def lasting_s(scenario: Scenario, needed: float, drifting: bool = False) -> float:
    """Returns a run's duration with so much measured time, twice the present one for a drift."""
    run = scenario["run"]
    least = run["warmup_ns"] / 1e9 + needed
    if drifting:
        least = max(least, 2 * run["duration_ns"] / 1e9)
    return _round_up(least)


def _round_up(seconds: float) -> float:
    step = 10.0 if seconds <= 100 else 50.0
    return step * math.ceil(seconds / step)


def note_of_record(scenario: Scenario) -> str:
    """Returns a sentence if a run is long enough to drift, but keeps nothing that would show it."""
    if scenario["run"]["record"] != "summary":
        return ""
    if not _may_drift_in(scenario, scenario["run"]["duration_ns"] / 1e9):
        return ""
    return (
        'With record = "summary" nothing shows whether shares or the queue still change within '
        "the run; `--set run.record=samples` would."
    )


def _options(scenario: Scenario | None, needed: float, drifting: bool = False) -> str:
    """Returns the options that make runs long enough, with a warm-up of half of them.

    BBRv3 and CUBIC at 16 BDP need 450 of 1,800 s, 650 round trips, until their shares stay.
    """
    if scenario is None:
        return "a longer `run.duration`"
    duration_s = max(lasting_s(scenario, needed, drifting), _round_up(2 * needed))
    warmup_s = max(scenario["run"]["warmup_ns"] / 1e9, duration_s / 2)
    return f"`--set run.duration={duration_s:g}s --set run.warmup={warmup_s:g}s`"


def _longer(scenario: Scenario | None, needed: float) -> str:
    """Says how to see whether a drift settles; a trace that is replayed has its own length."""
    if scenario is not None and scenario["path"]["service"]["kind"] == "trace":
        return "the trace's own rate may have changed, and a longer run would only repeat it"
    return f"{_options(scenario, needed, drifting=True)} would show whether that settles"


Combination = TypeVar("Combination", bound=Hashable)


@dataclass(frozen=True, slots=True)
class UnsettledRuns(Generic[Combination]):
    """The combinations of a study whose runs drift, and those whose runs are too short.

    `needed` has the time that shares must be measured in the latter; `count` is the number of all.
    """

    drifting: Mapping[Combination, Sequence[Drift]]
    needed: Mapping[Combination, float]
    count: int

    @classmethod
    def of(cls, combinations: Iterable[tuple[Combination, Sequence[Row]]]) -> Self:
        """Looks at combinations with a row of `summary` for each run."""
        drifting, needed, count = {}, {}, 0
        for one, rows in combinations:
            count += 1
            if found := drifts(rows, len(rows)):
                drifting[one] = found
            if lacking := _needed_s(rows):
                needed[one] = lacking
        return cls(drifting, needed, count)

    def quantities(self, one: Combination) -> list[str]:
        """Returns what drifts in a combination, and `SHORT` if its runs are too short."""
        found = {drift.quantity for drift in self.drifting.get(one, ())}
        return sorted(found | ({SHORT} if one in self.needed else set()))

    @property
    def combinations(self) -> list[Combination]:
        """All of these combinations."""
        return list(dict.fromkeys([*self.drifting, *self.needed]))

    def note(
        self,
        scenario: Scenario | None = None,
        words: Callable[[Combination], str] = str,
        where: Callable[[Collection[Combination]], str] = lambda _: "",
        called: str = "combinations",
    ) -> str:
        """Returns a sentence about them; empty if there are none.

        `words` describes a combination, `where` several; `scenario` is that of one run.
        """
        these = self.combinations
        if not these:
            return "" if scenario is None else note_of_record(scenario)
        at = where(these) if len(these) > 1 else ""
        counted = f" in {len(these)} of {self.count} {called}{at and f' ({at})'}"
        counted = counted if self.count > 1 else ""
        needed = max(self.needed.values(), default=0.0)
        if not self.drifting:
            told = f"The runs are too short to tell shares{counted}"
            reason = f"{REASON} take up to {needed:.0f} s"
            return f"{told}: {reason}; {_options(scenario, needed)} would do for most controls."
        most, its = max(self.drifting.items(), key=lambda pair: pair[1][0].size)
        told = its[0].words("in the first half", "in the second")
        example = f" ({words(most)})" if self.count > 1 else ""
        too_short = ", or they are too short to tell," * (
            not self.needed.keys() <= {*self.drifting}
        )
        head = f"{begin_upper(its[0].changing)} within the runs{too_short}{counted}"
        return f"{head}: {told}{example}; {_longer(scenario, needed)}."
