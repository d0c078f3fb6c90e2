"""Judges figures, adding trials until their checks are decided or a limit is reached.

Each look at the growing data uses its share of the allowed errors (`confidence_of_a_look`). A check
that the last look leaves open is undecided. In the simulator a condition whose trials are all the
same run gets its further trials on their own paths, because more of the same would decide nothing
(docs/decisions/025-equal-runs-are-one-trial.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from narrows.execute import BatchOutcome, RunProgress, Watcher
from narrows.report import Check
from narrows.reproduce.exhibit import CONFIDENCE, Data, Finding
from narrows.reproduce.gather import Work, gather, measurements
from narrows.reproduce.paths import judge_figure, on_varied_paths, repeated_conditions, with_factor

LOOKS = {False: 5, True: 3}
"""The number of looks at a whole and at a small grid (`quick`); each has twice the trials."""

Settled = Callable[[Finding], bool]
"""Returns True if more trials of a finding's figure are unnecessary."""


def looks_for(works: Sequence[Work], trials: int | None, *, quick: bool) -> int:
    """Returns the number of looks until each condition has `trials`, or the usual one for None."""
    if trials is None:
        return LOOKS[quick]
    fewest = min((len(c.cell.plan.trials) for item in works for c in item.cells), default=trials)
    return 1 + max(0, math.ceil(math.log2(trials / fewest)))


@dataclass(frozen=True, slots=True)
class SettledFigure:
    """A figure as it was finally run, its data and its findings."""

    work: Work
    data: Data
    findings: tuple[Finding, ...]


@dataclass(slots=True)
class LookProgress:
    """Reports one look to a watcher: its own runs, without the `earlier` ones, then judging."""

    watcher: Watcher
    step: str
    earlier: int = 0

    def __call__(self, state: RunProgress, /) -> None:
        """Reports the runs of this look."""
        own = {"done": state.done - self.earlier, "total": state.total - self.earlier}
        self.watcher(replace(state, step=self.step, after="judging the figures", **own))

    def judges(self, number: int, count: int) -> None:
        """Reports that a figure of this number is judged."""
        self.watcher(RunProgress.beyond_runs(f"judging figure {number} of {count}", self.step))


def every_check(finding: Finding) -> bool:
    """Returns True if no check is undecided that more trials could decide."""
    return not any(is_open(check) for check in finding.checks)


def verdict(finding: Finding) -> bool:
    """Returns True if more trials can't change the verdict: a check failed, or each is decided."""
    return any(check.passed is False for check in finding.checks) or every_check(finding)


def is_open(check: Check) -> bool:
    """Returns True if a check is undecided, and more trials could decide it."""
    return check.passed is None and any(mean is not None for mean, _ in check.values.values())


def settle(
    works: Sequence[Work],
    out: Path,
    *,
    looks: int = 1,
    trials: int | None = None,
    until: Settled = every_check,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> tuple[list[SettledFigure], BatchOutcome]:
    """Runs and judges figures, with up to `looks` looks at each; the trials double between two.

    Each condition gets at most `trials`, or the usual limit.
    Raises StoreError if `out` can't be used, NarrowsError if a run failed.
    """
    outcomes: dict[int, SettledFigure] = {}
    varied: dict[int, frozenset[int]] = {}
    known: set[str] = set()
    waiting, done = list(range(len(works))), BatchOutcome(0, 0, (), 0, 0.0)
    for look in range(looks):
        if not waiting:
            break
        grown = {
            i: _with_more_trials(works[i], 2**look, trials, varied.get(i, frozenset()))
            for i in waiting
        }
        wanted = {job.key for item in grown.values() for job in item.jobs()}
        step = f"look {look + 1} of up to {looks}" if looks > 1 else ""
        told = LookProgress(watcher, step, len(known & wanted)) if watcher else None
        known |= wanted
        more = gather(list(grown.values()), out, jobs=jobs, watcher=told)
        done += more if look == 0 else replace(more, stored=0)  # the first look stored them
        for number, (i, item) in enumerate(grown.items(), 1):
            if told:
                told.judges(number, len(grown))
            outcomes[i] = _judge(item, out, looks)
            varied[i] = varied.get(i, frozenset()) | _same(outcomes[i])
        waiting = [i for i in waiting if not all(map(until, outcomes[i].findings))]
    return [outcomes[i] for i in range(len(works))], done


def _judge(item: Work, out: Path, looks: int) -> SettledFigure:
    data = replace(
        measurements(item, out),
        confidence=confidence_of_a_look(looks),
        changed_path=item.changed_path,
    )
    return SettledFigure(item, data, judge_figure(item, data))


def confidence_of_a_look(looks: int) -> float:
    """Returns the confidence of each look, where trials are added until a check is decided.

    Each of the `looks` at the growing data gets an equal share of the errors that `CONFIDENCE`
    allows (Bonferroni), so that all of them together keep it.
    """
    return 1 - (1 - CONFIDENCE) / looks


def _same(outcome: SettledFigure) -> frozenset[int]:
    """Returns the places of the simulated conditions whose trials were all the same run."""
    keys = repeated_conditions(outcome.work, outcome.data)
    cells = enumerate(outcome.work.cells)
    return frozenset(n for n, cell in cells if cell.engine.name == "sim" and cell.key in keys)


def _with_more_trials(item: Work, factor: int, trials: int | None, varied: frozenset[int]) -> Work:
    if factor == 1:
        return item
    more = with_factor(factor, item, trials)
    cells = zip(more.cells, on_varied_paths(more).cells, strict=True)
    chosen = (other if n in varied else cell for n, (cell, other) in enumerate(cells))
    return replace(more, cells=tuple(chosen))
