"""Terminal output of `narrows sweep` and `narrows store`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from narrows.execute.watcher import clock
from narrows.store import Garbage, StudyState
from narrows.sweeps.estimate import Estimate
from narrows.sweeps.run import SweepOutcome
from narrows.words import count_of

MOST_FAILURES = 20


def outcome_lines(outcome: SweepOutcome, table: Iterable[str] = ()) -> Iterator[str]:
    """Yields the outcome of a sweep, its failures, the `table` of its results and their path."""
    total = outcome.new + outcome.stored + len(outcome.failures)
    cells = len(outcome.job.cells)
    yield (
        f"{outcome.job.name}: {count_of(total, 'run')} of {count_of(cells, 'combination')}: "
        f"{outcome.new} new, "
        f"{outcome.stored} stored before, {len(outcome.failures)} failed"
    )
    if outcome.new:
        yield f"{clock(outcome.wall_s)} for {outcome.packets:,} packets"
    for failure in outcome.failures[:MOST_FAILURES]:
        yield f"failed: {failure.cell}, seed {failure.trial.seed}: {failure.error}"
    if len(outcome.failures) > MOST_FAILURES:
        yield f"and {len(outcome.failures) - MOST_FAILURES} more, in its failures directory"
    if outcome.reproducer is not None:
        yield f"{outcome.reproducer} repeats the first failure of the simulator; please report it"
    yield from table
    for one in outcome.unmet[:MOST_FAILURES]:
        yield str(one)
    if len(outcome.unmet) > MOST_FAILURES:
        yield f"and {len(outcome.unmet) - MOST_FAILURES} more checks that aren't met"
    if outcome.job.grid.checks:
        failing = len({one.case.number for one in outcome.unmet})
        yield f"{cells - failing} of {count_of(cells, 'combination')} met all checks"
        yield from outcome.smallest()
    yield str(outcome.job.directory)


def estimate_lines(estimate: Estimate) -> Iterator[str]:
    """Yields the size of a sweep."""
    rest = estimate.runs - estimate.stored
    yield (
        f"{count_of(estimate.runs, 'run')} of {count_of(estimate.combinations, 'combination')}: "
        f"{estimate.stored} already stored, {rest} to do"
    )
    if rest:
        yield (
            f"{estimate.simulated_s:,.0f} s to simulate, "
            f"about {clock(estimate.wall_s)} with {estimate.jobs} at once"
        )
    if estimate.more:
        yield f"then up to {estimate.more} more, until the interval is narrow enough"


def state_lines(states: Iterable[StudyState]) -> Iterator[str]:
    """Yields a line for every study of a store."""
    for state in states:
        failed = f", {state.failed} failed" if state.failed else ""
        yield (
            f"{state.name}: {state.stored} of {state.runs} runs{failed} "
            f"({state.backend} {state.engine})"
        )


def garbage_lines(garbage: Garbage, removed: bool) -> Iterator[str]:
    """Yields the result of a garbage collection."""
    verb = "removed" if removed else "would remove"
    yield (
        f"{verb} {count_of(len(garbage.runs), 'run')} of no study, "
        f"{count_of(len(garbage.failures), 'record')} of failures, "
        f"{count_of(len(garbage.leftovers), 'leftover')} of killed processes"
    )
