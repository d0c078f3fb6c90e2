"""Runs the specification of a published figure, draws it and judges it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from narrows.reproduce.registry import Entry, find

if TYPE_CHECKING:
    from narrows.report import Check, Report
    from narrows.runner import Watcher
    from narrows.store import Result


@dataclass(frozen=True, slots=True)
class Reproduction:
    """A figure made again: its run, its files, and the verdicts on it."""

    entry: Entry
    result: Result
    report: Report
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed; one that the back end's data can't decide doesn't fail."""
        return all(check.passed is not False for check in self.checks)


def run(
    identifier: str,
    *,
    backend: str = "sim",
    out: str | Path | None = None,
    force: bool = False,
    watcher: Watcher | None = None,
    command: Sequence[str] = (),
) -> Reproduction:
    """Makes the figure `identifier` again, on `backend`, into the directory `out`.

    A complete result of the same experiment isn't run again unless `force` is
    given; its report is written again in any case. Raises InputError for an
    unknown figure or back end, or a directory that can't be used.
    """
    from narrows.report import Verdicts, write_report
    from narrows.runner import execute, prepare

    entry = find(identifier)
    job = prepare(entry.path, (), backend)
    outcome = execute(job, out=out, force=force, watcher=watcher, command=command)
    checks = tuple(entry.judge()(outcome.result.trials[0]))
    verdicts = Verdicts(lead(entry, outcome.result), entry.show, checks)
    report = write_report(outcome.result.path, verdicts)
    return Reproduction(entry, outcome.result, report, checks)


def lead(entry: Entry, result: Result) -> str:
    """What the report says under its title."""
    run_s = result.trials[0].info.end_s
    start, end = entry.show
    return (
        f"{entry.source}, made again. The figures begin with {start:g} to {end:g} s of a run of "
        f"{run_s:g} s; the verdicts are on everything after the warm-up."
    )


def describe(made: Reproduction) -> Iterator[str]:
    """The lines to print: every check with its number and rule, and last the files."""
    yield f"{made.entry.identifier}: {made.entry.source}"
    yield lead(made.entry, made.result)
    for check in made.checks:
        yield ""
        yield f"{check.verdict}: {check.statement}"
        yield f"    measured {check.measured}; expected {check.expected}"
        yield f"    {check.rule}"
    yield ""
    yield f"page:   {made.report.page}"
    for picture in made.report.pictures[:1]:
        yield f"figure: {picture}"
