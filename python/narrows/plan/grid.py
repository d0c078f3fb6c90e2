"""Turns a study into runs: its combinations, each with the scenarios of its trials."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from narrows.errors import Problem, SpecError
from narrows.plan.build import MOST_FLOWS, EngineVersion, Plan, Trial, plan
from narrows.spec import ResultCheck, Study

MOST_PROBLEMS = 20
"""The largest number of problems that are reported."""


@dataclass(frozen=True)
class Cell:
    """A combination: its number from 1 on, its values by place, its trials."""

    number: int
    values: Mapping[str, object]
    plan: Plan
    least: int = 0
    """The number of trials that always run (0 means all); others run only if needed."""

    def __post_init__(self) -> None:
        """Replaces zero by the number of all trials."""
        object.__setattr__(self, "least", self.least or len(self.plan.trials))

    def __str__(self) -> str:
        written = ", ".join(f"{place}={value}" for place, value in self.values.items())
        return written or "the only combination"


@dataclass(frozen=True)
class Grid:
    """All combinations of a study for a back end."""

    study: Study
    cells: tuple[Cell, ...]
    checks: tuple[ResultCheck, ...] = ()

    def runs(self, counts: Mapping[int, int] | None = None) -> Iterator[tuple[Cell, Trial]]:
        """Yields the runs, combination by combination.

        These are the trials that always run, or the number in `counts` for each combination.
        """
        for cell in self.cells:
            count = cell.least if counts is None else counts[cell.number]
            for trial in cell.plan.trials[:count]:
                yield cell, trial


def grid(
    study: Study, engine: EngineVersion, backend: str = "sim", controls: Iterable[str] = ()
) -> Grid:
    """Returns the combinations of `study` on `backend`, whose engine has the version `engine`.

    `controls` are the controls that the back end has and the simulator lacks.

    Raises SpecError with the problems of all combinations that can't run, each problem once.
    """
    cells: list[Cell] = []
    problems: dict[Problem, None] = {}
    checks: tuple[ResultCheck, ...] = ()
    flows = 0
    for number, (values, spec) in enumerate(study.specs(controls), start=1):
        if isinstance(spec, SpecError):
            problems.update(dict.fromkeys(spec.problems))
            if len(problems) >= MOST_PROBLEMS:
                break
            continue
        least, checks = spec.trials, spec.checks
        most = least if study.until is None else max(least, study.until.max_trials)
        flows += most * len(spec.groups)
        if flows > MOST_FLOWS:
            found = f"{flows:,} flows in the runs of the first {number:,} combinations"
            remedy = f"at most {MOST_FLOWS:,} in all runs, by fewer combinations or trials,"
            raise SpecError.at("sweep", found, remedy)
        cells.append(Cell(number, values, plan(spec, engine, backend, most), least))
    if problems:
        raise SpecError(list(problems)[:MOST_PROBLEMS])
    return Grid(study, tuple(cells), checks)
