"""Makes the table of problems and versions: runs, measures and judges each."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from narrows.backends import get_backend
from narrows.errors import NarrowsError
from narrows.execute import Watcher, run_all
from narrows.late import pl
from narrows.metrics.bounds import decide
from narrows.metrics.intervals import interval
from narrows.reproduce.gather import FigureCondition, conditions
from narrows.reproduce.library import MEASURES, STILL_TRUE
from narrows.reproduce.make import OUT
from narrows.reproduce.paths import condition_on_varied_paths
from narrows.reproduce.study_code import load
from narrows.reproduce.today.problems import BbrProblem, BbrVersion, case, problems, versions
from narrows.store import Store, open_store
from narrows.store.atomic import write_text

RECORD = "still-true.json"
HAS, HAS_NOT, OPEN = "yes", "no", "undecided"


@dataclass(frozen=True, slots=True)
class ProblemCell:
    """The answer for a problem and a version, with the measurement."""

    problem: str
    version: str
    answer: str
    measured: str


@dataclass(frozen=True, slots=True)
class ProblemTable:
    """Every answer; `engine` and `trials` say how they were found."""

    cells: tuple[ProblemCell, ...]
    engine: str
    trials: int

    def of(self, problem: BbrProblem, version: BbrVersion) -> ProblemCell | None:
        """Returns one answer; None if it couldn't be run."""
        key = (problem.name, version.name)
        return next((c for c in self.cells if (c.problem, c.version) == key), None)

    @property
    def versions(self) -> list[BbrVersion]:
        """The versions with at least one run."""
        there = {cell.version for cell in self.cells}
        return [version for version in versions().values() if version.name in there]


def make(
    *,
    kernels: bool = True,
    out: str | Path | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
) -> ProblemTable:
    """Runs every problem with every version, those on real kernels only if `kernels` is set.

    Versions of a back end that isn't set up are left out; existing runs aren't repeated. Trials on
    real kernels, whose hosts have no noise, differ in their paths (decision 025). The table is kept
    in `out`. Raises StoreError for a directory that can't be used.
    """
    place = Path(out) if out is not None else OUT
    simulator = get_backend("sim")
    asked = [version for version in versions().values() if kernels or not version.backend]
    cases = [case(problem, version) for problem in problems().values() for version in asked]
    wanted = [distinguish_trials(condition) for condition in conditions(cases, simulator)]
    runs = [job for condition in wanted for job in condition.jobs()]
    run_all(runs, place, jobs=jobs, watcher=watcher)
    store = open_store(place / "runs")
    cells = tuple(_cell(condition, store) for condition in wanted)
    trials = max(len(condition.cell.plan.trials) for condition in wanted)
    table = ProblemTable(cells, simulator.engine, trials)
    write_text(place / RECORD, json.dumps(asdict(table), indent=1) + "\n")
    return table


def distinguish_trials(condition: FigureCondition) -> FigureCondition:
    """Returns the same condition, with own paths for all trials but the first on a real kernel."""
    return condition if condition.engine.name == "sim" else condition_on_varied_paths(condition)


def read(file: Path) -> ProblemTable:
    """Reads a kept table; raises OSError or ValueError if the file isn't one."""
    stored = json.loads(file.read_text(encoding="utf-8"))
    cells = tuple(ProblemCell(**cell) for cell in stored["cells"])
    return ProblemTable(cells, stored["engine"], stored["trials"])


def _cell(condition: FigureCondition, store: Store) -> ProblemCell:
    problem = problems()[str(condition.key["problem"])]
    outcome = load(STILL_TRUE, MEASURES).outcome
    rows = [outcome(trial) for trial in condition.stored_trials(store)]
    values = pl.concat(rows)[problem.value].drop_nulls().to_list()
    if not values:
        raise NarrowsError(f"{problem.name}, {condition.key['version']}: nothing was measured")
    told = interval(values, 3, problem.unit)
    return ProblemCell(problem.name, str(condition.key["version"]), answer(problem, values), told)


def answer(problem: BbrProblem, values: Sequence[float]) -> str:
    """Says, by the whole interval of the mean, if measurements show a problem."""
    low = problem.above if math.isfinite(problem.above) else -math.inf
    passed = decide(values, low, problem.below if math.isfinite(problem.below) else math.inf).passed
    return {True: HAS, False: HAS_NOT, None: OPEN}[passed]


def rows(
    table: ProblemTable,
) -> Iterator[tuple[BbrProblem, list[tuple[BbrVersion, ProblemCell | None]]]]:
    """Yields every problem with the answer for every version."""
    for problem in problems().values():
        yield problem, [(version, table.of(problem, version)) for version in table.versions]


def text(table: ProblemTable) -> Iterator[str]:
    """Yields the table for the terminal, problem by problem."""
    for problem, answers in rows(table):
        yield f"{problem.words}? {problem.how}; yes if {problem.limit}"
        for version, cell in answers:
            told = f"{cell.answer:9}  {cell.measured}" if cell else "not run"
            yield f"  {version.name:22} {told}"
        yield ""
    yield f"{table.trials} trials each; undecided: the 95 % interval reaches the limit"


def measured_text(table: ProblemTable, problem: BbrProblem) -> str:
    """Returns the measurements of a problem with every version, in words."""
    cells = ((version.name, table.of(problem, version)) for version in table.versions)
    return "; ".join(f"{name} {cell.measured}" for name, cell in cells if cell)
