"""Says which runs haven't settled or are too short, and the options that would do."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

from narrows.metrics.drifts import NEEDED, SHORT, Drift, drifts
from narrows.metrics.duration import LONGEST_S, ROUND_TRIPS, SHORTEST_S, lacking_s
from narrows.metrics.halves import may_drift_in, pass_s, passes_in, whole_passes
from narrows.metrics.metric import Entry, Row
from narrows.metrics.tables import summary_row
from narrows.spec.scenario import Scenario
from narrows.words import begin_upper

REASON = f"{ROUND_TRIPS} round trips over a full buffer"
UNSETTLED = "runs still drift or are too short"
"""Explains the mark of a value that hasn't settled."""


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
        return _too_short(scenario, needed) if needed else _note_of_measuring(scenario)
    middle = (begin + end) / 2
    spans = [f"in {a:g} to {b:g} s" for a, b in ((begin, middle), (middle, end))]
    told = "; ".join(f"{one.changing}: {one.words(*spans)}" for one in found)
    return f"{begin_upper(told)}; {_longer(scenario, needed)}."


def _too_short(scenario: Scenario, needed: float) -> str:
    run = scenario["run"]
    measured = (run["duration_ns"] - run["warmup_ns"]) / 1e9
    reason = _reason(scenario, needed, "take")
    return f"Measured for {measured:g} s, too short to tell shares: {reason}."


def _reason(scenario: Scenario | None, needed: float, take: str) -> str:
    """Says why runs are too short and which options would do; `take` is "take" or "take up to"."""
    options = _options(scenario, needed)
    if needed <= SHORTEST_S:
        least = f"{SHORTEST_S:g} s are the least that is asked for"
        return f"{least}; {options} would do for most controls"
    if needed >= LONGEST_S:
        return (
            f"{REASON} take {LONGEST_S:g} s or more, and {LONGEST_S:g} s are the most that is "
            f"asked for; {options} would measure for those, which may still be too short"
        )
    return f"{REASON} {take} {needed:.0f} s; {options} would do for most controls"


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


def _note_of_measuring(scenario: Scenario) -> str:
    """Returns a sentence on why nothing shows whether something still changes; empty if it does."""
    run = scenario["run"]
    end_s = run["duration_ns"] / 1e9
    if not may_drift_in(scenario, end_s):
        return ""
    if run["record"] == "summary":
        return (
            'With record = "summary" nothing shows whether shares or the queue still change '
            "within the run; `--set run.record=samples` would."
        )
    if scenario["path"]["service"]["kind"] == "trace" and not whole_passes(scenario, end_s):
        measured_s = end_s - run["warmup_ns"] / 1e9
        return (
            f"Measured for {measured_s:g} s of a trace that repeats after {pass_s(scenario):g} s: "
            f"other times may differ; {_pass_options(scenario)[0]} measures two passes."
        )
    return ""


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
        return _passes(scenario)
    return f"{_options(scenario, needed, drifting=True)} would show whether that settles"


def _passes(scenario: Scenario) -> str:
    """Says which whole passes of a trace would show whether a drift settles."""
    options, warmup = _pass_options(scenario)
    if whole_passes(scenario, scenario["run"]["duration_ns"] / 1e9):
        return f"{options} would show whether that settles"
    return (
        f"the trace's own rate may have changed; {options} compares pass {warmup + 1} with "
        f"pass {warmup + 2}"
    )


def _pass_options(scenario: Scenario) -> tuple[str, int]:
    """Returns options that measure whole passes of a trace, and how many pass before.

    Twice as many as now, all later, if those are whole; else two.
    """
    run, length_s = scenario["run"], pass_s(scenario)
    begin_s, end_s = run["warmup_ns"] / 1e9, run["duration_ns"] / 1e9
    whole = whole_passes(scenario, end_s)
    warmup = passes_in(scenario, end_s if whole else begin_s)
    asked = [f"{passes * length_s:g}s" for passes in (warmup + (2 * whole or 2), warmup)]
    return f"`--set run.duration={asked[0]} --set run.warmup={asked[1]}`", warmup


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
            return "" if scenario is None else _note_of_measuring(scenario)
        at = where(these) if len(these) > 1 else ""
        counted = f" in {len(these)} of {self.count} {called}{at and f' ({at})'}"
        counted = counted if self.count > 1 else ""
        needed = max(self.needed.values(), default=0.0)
        if not self.drifting:
            told = f"The runs are too short to tell shares{counted}"
            return f"{told}: {_reason(scenario, needed, 'take up to')}."
        most, its = max(self.drifting.items(), key=lambda pair: pair[1][0].size)
        told = its[0].words("in the first half", "in the second")
        example = f" ({words(most)})" if self.count > 1 else ""
        too_short = ", or they are too short to tell," * (
            not self.needed.keys() <= {*self.drifting}
        )
        head = f"{begin_upper(its[0].changing)} within the runs{too_short}{counted}"
        return f"{head}: {told}{example}; {_longer(scenario, needed)}."
