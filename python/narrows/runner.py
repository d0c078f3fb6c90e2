"""Turns a specification into a complete results directory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.backends import Backend, CaptureRequest, Progress, get_backend
from narrows.errors import EngineError, InputError
from narrows.execute import Cache, FinishedJob, Job, Pool, Watcher, width
from narrows.execute.cost import LOAD_PER_CPU_S
from narrows.execute.cost import load as load_of
from narrows.execute.job import make
from narrows.execute.reproducer import write_reproducer
from narrows.plan import Cell, Plan, Trial, plan
from narrows.spec import CheckedSpecification, Override, ResultCheck, SpecificationText, load
from narrows.spec.located import with_lines
from narrows.spec.values import values_in
from narrows.store import (
    NO_CAPTURES,
    CaptureOptions,
    Draft,
    Result,
    default_directory,
    find_result,
    new_result,
)
from narrows.store.owned import remove_abandoned
from narrows.store.read import StoredTrial
from narrows.version import __version__

if TYPE_CHECKING:
    from narrows.metrics.checks import Combination, CombinationOutcome
    from narrows.metrics.series import RunSeries

MAX_SNAPLEN = 262_144
"""The limit of tcpdump, too."""


@dataclass(frozen=True)
class Experiment:
    """A checked specification with its plan and its back end."""

    loaded: CheckedSpecification
    plan: Plan
    backend: Backend
    checks: tuple[ResultCheck, ...] = ()
    """The checks of the results, with columns in place of headings."""


@dataclass(frozen=True)
class RunOutcome:
    """A complete result, and whether it existed before."""

    result: Result
    cached: bool


def run(
    spec: str | Path,
    overrides: Iterable[str | Override] = (),
    *,
    backend: str = "sim",
    out: str | Path | None = None,
    force: bool = False,
) -> Result:
    """Runs the specification in the file `spec` and returns its results.

    `overrides` are texts such as "path.buffer=4bdp". The same experiment isn't
    run again unless `force` is given. Raises InputError for bad input.
    """
    return execute(prepare(spec, overrides, backend), out=out, force=force).result


def prepare(
    spec: str | Path | SpecificationText,
    overrides: Iterable[str | Override] = (),
    backend: str = "sim",
) -> Experiment:
    """Reads and checks everything that a run needs; raises InputError."""
    engine = get_backend(backend)
    loaded = load(spec, overrides, engine.capabilities().ccas)
    experiment = Experiment(loaded, plan(loaded.spec, engine.engine_of, engine.name), engine)
    if not loaded.spec.checks:
        return experiment
    from narrows.metrics.checks import applicable

    with with_lines(spec):
        checks = applicable(loaded.spec.checks, [_case(experiment)])
    return replace(experiment, checks=checks)


def unmet(experiment: Experiment, result: Result) -> list[CombinationOutcome]:
    """Returns the checks of the specification that a result doesn't meet, or that are undecided."""
    if not experiment.checks:
        return []
    from narrows.metrics.checks import RunMeasurements, judge_all
    from narrows.metrics.series import RunSeries
    from narrows.metrics.tables import summary_row

    def series(trial: StoredTrial) -> Callable[[], RunSeries]:
        return lambda: RunSeries(trial.scenario, result.groups, trial.columns)

    rows = [summary_row(run, result.groups) for run in result.summary["runs"]]
    runs = [
        RunMeasurements(row, series(trial)) for row, trial in zip(rows, result.trials, strict=True)
    ]
    judged = judge_all(experiment.checks, [_case(experiment)], {1: runs})
    return [one for one in judged if not one.outcome.passed]


def _case(experiment: Experiment) -> Combination:
    """Returns the specification as the only combination."""
    from narrows.metrics.checks import Combination

    values = values_in(experiment.loaded.text)
    return Combination.of(experiment.plan, experiment.plan.name, values)


def execute(
    experiment: Experiment,
    *,
    out: str | Path | None = None,
    force: bool = False,
    watcher: Watcher | None = None,
    command: Sequence[str] = (),
    captures: CaptureOptions = NO_CAPTURES,
    begins: Callable[[], object] | None = None,
) -> RunOutcome:
    """Runs every trial of `experiment`, on all cores, into the results directory.

    The directory appears complete or not at all, whatever interrupts the run. A result without the
    `captures` is run again. `begins` is called before the first trial, unless the result is there
    already. Raises InputError if the directory can't be written, or if the engine refuses the
    scenario or can't make the captures.
    """
    _check_captures(experiment, captures)
    final = Path(out) if out is not None else default_directory(experiment.plan)
    remove_abandoned(final.parent)
    found = None if force else find_result(final, experiment.plan.hash, __version__)
    if found is not None and (not captures or found.capture_options == captures):
        return RunOutcome(found, cached=True)
    force = force or found is not None
    if begins is not None:
        begins()
    with new_result(final, experiment.plan, __version__, command, force, captures) as draft:
        cell, cache = Cell(1, {}, experiment.plan), _DraftCache(draft, experiment.loaded.text)
        wanted = [Job(cell, trial, experiment.backend) for trial in experiment.plan.trials]
        Pool(wanted, cache).run(watcher)
        written = draft.finish(
            experiment.loaded.text, {"runs": cache.runs}, experiment.loaded.spec.files
        )
        _report(written)
        return RunOutcome(draft.publish(), cached=False)


def expected_s(experiment: Experiment) -> float:
    """Estimates how long the simulator will take for all trials here."""
    trials = experiment.plan.trials
    workers = min(width(experiment.backend, None), len(trials))
    return sum(load_of(trial.scenario) for trial in trials) / LOAD_PER_CPU_S / workers


def _check_captures(experiment: Experiment, captures: CaptureOptions) -> None:
    asked = [name for name, value in asdict(captures).items() if value not in (None, False)]
    known = experiment.backend.capabilities().captures
    for name in asked:
        if name not in known:
            can = ", ".join(f"--{n.replace('_', '-')}" for n in known) or "a run without captures"
            raise InputError.at(
                f"--{name.replace('_', '-')}",
                f"the back end {experiment.backend.name}, without it",
                can,
            )
    if (captures.snaplen is not None or captures.ipv6) and not captures.pcap:
        option = "--ipv6" if captures.snaplen is None else "--snaplen"
        raise InputError.at(option, "no --pcap", "--pcap beside it")
    if captures.snaplen is not None and not 1 <= captures.snaplen <= MAX_SNAPLEN:
        raise InputError.at("--snaplen", str(captures.snaplen), f"bytes from 1 to {MAX_SNAPLEN}")


def _report(result: Result) -> None:
    """Writes the page and the pictures of a result into its directory."""
    from narrows.report import write_report

    write_report(result.path)


def _in_trial(error: InputError, trial: Trial) -> InputError:
    """Returns an error with the trial in which it came up."""
    where = f"in trial {trial.number} (seed {trial.seed})"
    problems = (replace(one, found=f"{one.found}, {where}") for one in error.problems)
    return type(error)(problems)


class _DraftCache(Cache):
    """Writes trials into a draft; only their summaries stay in memory."""

    def __init__(self, draft: Draft, text: str) -> None:
        self._draft, self._text = draft, text
        self._summaries: dict[int, dict[str, Any]] = {}

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The summaries in the order of the trials' numbers."""
        return [self._summaries[number] for number in sorted(self._summaries)]

    def make(self, job: Job, progress: Progress) -> FinishedJob:
        """Runs a trial, with the requested captures."""
        if not self._draft.captures:
            return make(job, progress)
        directory = self._draft.captures_directory(job.trial)
        return make(job, progress, CaptureRequest(self._draft.captures, directory))

    def fail(self, job: Job, error: Exception) -> str:
        """Ends the whole run; writes a specification that repeats a bug of the engine."""
        if isinstance(error, EngineError):
            file = write_reproducer(self._draft.final, self._text, job.trial, {}, error.words)
            raise EngineError(error.words, None if file is None else str(file)) from None
        if isinstance(error, InputError) and len(self._draft.plan.trials) > 1:
            raise _in_trial(error, job.trial) from error.__cause__
        raise error

    def keep(self, job: Job, made: FinishedJob) -> None:
        """Writes a trial."""
        self._draft.add_trial(job.trial, made.result)
        self._summaries[job.trial.number] = made.summary
