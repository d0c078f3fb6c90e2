"""From a specification to a complete results directory."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from narrows.backends import Backend, CaptureRequest, CapturingBackend, get_backend
from narrows.errors import InputError, InterruptedRunError
from narrows.plan import Plan, Trial, plan
from narrows.spec import Loaded, Override, Written, load
from narrows.spec.registry import also_known
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
from narrows.version import __version__

if TYPE_CHECKING:
    from narrows.backends import Progress
    from narrows.metrics.expect import Case, Unmet
    from narrows.store import RunResult

TICK_S = 0.1
"""How often a watcher hears of the progress, in seconds."""
MAX_SNAPLEN = 262_144
"""As tcpdump's."""


@dataclass(frozen=True)
class Job:
    """A checked specification with its plan and its back end: nothing can be misspelt any more."""

    loaded: Loaded
    plan: Plan
    backend: Backend


@dataclass(frozen=True)
class Outcome:
    """A complete result, and whether it was there before."""

    result: Result
    cached: bool


class Watcher(Protocol):
    """Is told about ten times a second how far all trials together are."""

    def __call__(self, sim_s: float, total_s: float, packets: int) -> None:
        """`sim_s` of at most `total_s` simulated seconds, `packets` out of the bottleneck."""


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
    spec: str | Path | Written, overrides: Iterable[str | Override] = (), backend: str = "sim"
) -> Job:
    """Reads and checks everything that a run needs; raises InputError."""
    engine = get_backend(backend)
    with also_known(engine.capabilities().ccas):
        loaded = load(spec, overrides)
    job = Job(loaded, plan(loaded.spec, engine.engine, engine.name), engine)
    if loaded.spec.expect:
        from narrows.metrics.expect import applicable

        applicable(loaded.spec.expect, [_case(job)])
    return job


def unmet(job: Job, result: Result) -> list[Unmet]:
    """The expectations of the specification that a result doesn't meet."""
    if not job.loaded.spec.expect:
        return []
    import polars as pl

    from narrows.metrics.expect import judge
    from narrows.metrics.tables import summary_tables

    rows = [summary_tables(run, result.groups)["summary"] for run in result.summary["runs"]]
    summary = pl.concat(rows).with_columns(pl.lit(1).alias("cell"))
    return list(judge(job.loaded.spec.expect, [_case(job)], summary))


def _case(job: Job) -> Case:
    """The specification as the only combination there is."""
    from narrows.metrics.expect import Case

    return Case(1, job.plan.name, values_in(job.loaded.text), job.plan.groups)


def execute(
    job: Job,
    *,
    out: str | Path | None = None,
    force: bool = False,
    watcher: Watcher | None = None,
    command: Sequence[str] = (),
    captures: CaptureOptions = NO_CAPTURES,
) -> Outcome:
    """Runs every trial of `job`, on all cores, into the results directory.

    The directory appears complete or not at all, whatever interrupts. A result
    without the `captures` is run again. Raises InputError if it can't be written,
    the engine refuses the scenario or can't make the captures.
    """
    _check_captures(job, captures)
    final = Path(out) if out is not None else default_directory(job.plan)
    found = None if force else find_result(final, job.plan.hash, __version__)
    if found is not None and (not captures or found.captured == captures):
        return Outcome(found, cached=True)
    force = force or found is not None
    with new_result(final, job.plan, __version__, command, force, captures) as draft:
        runs = _Trials(job, draft).run(watcher)
        written = draft.finish(job.loaded.text, {"runs": runs})
        _report(written)
        return Outcome(draft.publish(), cached=False)


def _check_captures(job: Job, captures: CaptureOptions) -> None:
    asked = [name for name, value in asdict(captures).items() if value not in (None, False)]
    known = job.backend.capabilities().captures
    for name in asked:
        if name not in known:
            can = ", ".join(f"--{option}" for option in known) or "a run without captures"
            raise InputError.at(f"--{name}", f"the back end {job.backend.name}, without it", can)
    if (captures.snaplen is not None or captures.ipv6) and not captures.pcap:
        option = "--ipv6" if captures.snaplen is None else "--snaplen"
        raise InputError.at(option, "no --pcap", "--pcap beside it")
    if captures.snaplen is not None and not 1 <= captures.snaplen <= MAX_SNAPLEN:
        raise InputError.at("--snaplen", str(captures.snaplen), f"bytes from 1 to {MAX_SNAPLEN}")


def _report(result: Result) -> None:
    """The page and the pictures of a result, into its directory."""
    from narrows.report import write_report

    write_report(result.path)


class _Trials:
    """The trials of a job, on a thread each, as many at once as there are cores."""

    def __init__(self, job: Job, draft: Draft) -> None:
        self._job = job
        self._draft = draft
        self._stop = threading.Event()
        self._progress = {trial.number: (0.0, 0) for trial in job.plan.trials}

    def run(self, watcher: Watcher | None) -> list[dict[str, Any]]:
        """Runs them all; gives their summaries in the order of their numbers."""
        with ThreadPoolExecutor(self._width(), thread_name_prefix="trial") as pool:
            try:
                futures = [pool.submit(self._one, trial) for trial in self._job.plan.trials]
                self._await(futures, watcher)
                return [future.result() for future in futures]
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise

    def _width(self) -> int:
        parallel = self._job.backend.capabilities().parallel
        return min(len(self._job.plan.trials), len(os.sched_getaffinity(0))) if parallel else 1

    def _await(self, futures: Sequence[Future[dict[str, Any]]], watcher: Watcher | None) -> None:
        """Waits for all, or until one fails."""
        total_s = sum(trial.scenario["run"]["duration_ns"] / 1e9 for trial in self._job.plan.trials)
        pending: set[Future[dict[str, Any]]] = set(futures)
        while pending:
            done, pending = wait(pending, timeout=TICK_S)
            for future in done:
                future.result()
            if watcher is not None:
                states = list(self._progress.values())
                watcher(sum(state[0] for state in states), total_s, sum(s[1] for s in states))

    def _one(self, trial: Trial) -> dict[str, Any]:
        """Runs and writes one trial; only its summary stays in memory."""
        from narrows.metrics import summarise

        progress: Progress = partial(self._note, trial.number)
        result = self._simulate(trial, progress)
        self._check()
        self._draft.add_trial(trial, result)
        duration_s = trial.scenario["run"]["duration_ns"] / 1e9
        self._progress[trial.number] = (duration_s, result.info.packets)
        return summarise(trial.scenario, result.tables, result.info)

    def _simulate(self, trial: Trial, progress: Progress) -> RunResult:
        if not self._draft.captures:
            return self._job.backend.run(trial.scenario, progress)
        request = CaptureRequest(self._draft.captures, self._draft.captures_directory(trial))
        backend = cast(CapturingBackend, self._job.backend)
        return backend.run(trial.scenario, progress, request)

    def _note(self, number: int, sim_s: float, packets: int) -> None:
        """Takes the progress of a trial, and stops it if the whole was stopped."""
        self._check()
        self._progress[number] = (sim_s, packets)

    def _check(self) -> None:
        if self._stop.is_set():
            raise InterruptedRunError("stopped")
