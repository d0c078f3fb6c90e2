"""The runs of a study on all cores, each stored as soon as it is done."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from narrows.errors import InterruptedRunError, NarrowsError
from narrows.plan import Cell, Trial
from narrows.store import RunResult, RunStore, create_store, unwritable
from narrows.sweep.estimate import load, width
from narrows.sweep.prepare import SweepJob
from narrows.sweep.rows import summary_tables

if TYPE_CHECKING:
    import polars as pl

TICK_S = 0.1
"""How often a watcher hears of the progress, in seconds."""
_LATER_S = 0.3
"""A run that another process computes is looked at again after this time."""

Run = tuple[Cell, Trial]


@dataclass(frozen=True)
class State:
    """How far a sweep is: `done` and `failed` of `total` runs; `part` of the work, 0 to 1."""

    done: int
    failed: int
    total: int
    packets: int
    part: float


class Watcher(Protocol):
    """Is told about ten times a second how far a sweep is; may raise to stop it."""

    def __call__(self, state: State, /) -> None:
        """The state of now."""


@dataclass(frozen=True)
class Failure:
    """A run that failed, and why."""

    cell: Cell
    trial: Trial
    error: str


@dataclass(frozen=True)
class SweepOutcome:
    """What a sweep did: `new` runs, those `stored` before or by another process, failures."""

    job: SweepJob
    new: int
    stored: int
    failures: tuple[Failure, ...]
    packets: int
    wall_s: float

    def document(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "study": self.job.name,
            "directory": str(self.job.directory),
            "combinations": len({cell.number for cell, _ in self.job.runs}),
            "runs": self.new + self.stored + len(self.failures),
            "new": self.new,
            "stored": self.stored,
            "failed": [
                {
                    "cell": failure.cell.number,
                    "values": dict(failure.cell.values),
                    "trial": failure.trial.number,
                    "seed": failure.trial.seed,
                    "error": failure.error,
                }
                for failure in self.failures
            ],
            "packets": self.packets,
            "wall_s": self.wall_s,
        }


def execute(
    job: SweepJob, *, jobs: int | None = None, watcher: Watcher | None = None
) -> SweepOutcome:
    """Runs what isn't stored yet, `jobs` at once (as many as there are cores by default).

    A run that fails is recorded and doesn't stop the others. Whatever stops the
    sweep, every finished run stays. Raises StoreError if the store can't be
    written.
    """
    store = create_store(job.directory)
    try:
        store.add_study(job.name, _record(job), runs_table(job))
        return _Sweep(job, store, width(job, jobs)).run(watcher)
    except OSError as error:
        raise unwritable(error, job.directory) from error


def _record(job: SweepJob) -> dict[str, Any]:
    study = job.grid.study
    return {
        "name": study.name,
        "backend": job.backend.name,
        "engine": job.backend.engine,
        "axes": [axis.place for axis in study.axes],
        "combinations": len(job.grid.cells),
        "spec": study.text,
    }


def runs_table(job: SweepJob) -> pl.DataFrame:
    """Every run of the whole study, with a column for each axis.

    The values are as they are written, numbers where all of an axis are numbers.
    """
    import polars as pl

    runs = list(job.grid.runs())
    columns: dict[str, list[Any]] = {
        "study": [job.name] * len(runs),
        "cell": [cell.number for cell, _ in runs],
        "trial": [trial.number for _, trial in runs],
        "seed": [trial.seed for _, trial in runs],
        "run": [trial.hash for _, trial in runs],
    }
    kinds: dict[str, Any] = {"seed": pl.UInt64()}
    for axis in job.grid.study.axes:
        values = [cell.values[axis.place] for cell, _ in runs]
        columns[axis.place], kinds[axis.place] = _column(values)
    return pl.DataFrame(columns, schema_overrides=kinds)


def _column(values: list[object]) -> tuple[list[Any], Any]:
    import polars as pl

    types = {type(value) for value in values}
    if types == {bool}:
        return values, pl.Boolean()
    if types == {int}:
        return values, pl.Int64() if max(map(abs, values)) < 2**63 else pl.UInt64()  # type: ignore[arg-type]
    if types <= {int, float}:
        return [float(str(value)) for value in values], pl.Float64()
    return [str(value) for value in values], pl.String()


@dataclass
class _Waiting:
    """A run that is to be done, not before a moment of the monotonic clock."""

    cell: Cell
    trial: Trial
    not_before: float = 0.0


@dataclass
class _Tally:
    """What happened so far; changed under a lock."""

    new: int = 0
    stored: int = 0
    packets: int = 0
    work: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    going: dict[str, tuple[float, int]] = field(default_factory=dict)


class _Sweep:
    """Threads that take one run after the other; the native module lets them run at once."""

    def __init__(self, job: SweepJob, store: RunStore, workers: int) -> None:
        self._job, self._store = job, store
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._broken: BaseException | None = None
        self._began, self._began_at = time.monotonic(), time.time()
        runs = {trial.hash: (cell, trial) for cell, trial in reversed(job.runs)}
        present = store.keys()
        waiting = [_Waiting(*run) for key, run in reversed(runs.items()) if key not in present]
        # The longest first, so that no core ends up with one while the others rest.
        waiting.sort(key=lambda item: -load(item.trial))
        self._waiting = deque(waiting)
        self._total, self._work = len(runs), sum(load(item.trial) for item in waiting)
        self._tally = _Tally(stored=len(runs) - len(waiting))
        self._workers = min(workers, len(waiting))

    def run(self, watcher: Watcher | None) -> SweepOutcome:
        """Runs everything; returns when it is done."""
        threads = [
            threading.Thread(target=self._take, name=f"run-{number}")
            for number in range(self._workers)
        ]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                self._await(threads)
                if watcher is not None:
                    watcher(self._state())
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()
        if self._broken is not None:
            raise self._broken
        return self._outcome()

    def _await(self, threads: list[threading.Thread]) -> None:
        """Lets a tick pass, or less if a thread ends."""
        for thread in threads:
            if thread.is_alive():
                thread.join(TICK_S)
                return

    def _state(self) -> State:
        with self._lock:
            tally = self._tally
            done, failed = tally.new + tally.stored, len(tally.failures)
            work = tally.work + sum(work for work, _ in tally.going.values())
            packets = tally.packets + sum(packets for _, packets in tally.going.values())
        part = work / self._work if self._work else 1.0
        return State(done, failed, self._total, packets, part)

    def _outcome(self) -> SweepOutcome:
        tally = self._tally
        failures = sorted(tally.failures, key=lambda f: (f.cell.number, f.trial.number))
        wall_s = time.monotonic() - self._began
        return SweepOutcome(
            self._job, tally.new, tally.stored, tuple(failures), tally.packets, wall_s
        )

    def _take(self) -> None:
        """A thread's work: runs, as long as there are any."""
        try:
            while not self._stop.is_set():
                with self._lock:
                    item = self._waiting.popleft() if self._waiting else None
                if item is None:
                    return
                self._stop.wait(max(0.0, item.not_before - time.monotonic()))
                self._one(item)
        except InterruptedRunError:
            return
        except BaseException as error:
            self._broken = self._broken or error
            self._stop.set()

    def _one(self, item: _Waiting) -> None:
        """Computes a run, unless it is there by now or another process is at it."""
        key = item.trial.hash
        with self._store.claim(key) as ours:
            if not ours:
                item.not_before = time.monotonic() + _LATER_S
                with self._lock:
                    self._waiting.append(item)
            elif key in self._store:
                self._count(item, stored=1)
            elif (error := self._failed_elsewhere(key)) is not None:
                self._count(item, failure=Failure(item.cell, item.trial, error))
            else:
                self._compute(item)

    def _failed_elsewhere(self, key: str) -> str | None:
        """Why a run failed in another process since this sweep began."""
        file = self._store.failure_path(key)
        if not file.is_file() or file.stat().st_mtime < self._began_at:
            return None
        return str(self._store.failures()[key]["error"])

    def _compute(self, item: _Waiting) -> None:
        """Runs and stores one trial; only what can't be stored ends the whole sweep."""
        trial = item.trial
        try:
            result, tables = self._run(item.cell, trial)
        except InterruptedRunError:
            raise
        except Exception as error:
            text = str(error) if isinstance(error, NarrowsError) else _words(error)
            self._store.fail(trial, str(item.cell), text)
            self._count(item, failure=Failure(item.cell, trial, text))
        else:
            self._store.add(trial, result, tables)
            self._count(item, new=1, packets=result.info.packets)

    def _run(self, cell: Cell, trial: Trial) -> tuple[RunResult, dict[str, pl.DataFrame]]:
        """A trial's result, and its summary as tables."""
        from narrows.metrics import summarise

        def note(sim_s: float, packets: int) -> None:
            if self._stop.is_set():
                raise InterruptedRunError("stopped")
            part = sim_s * 1e9 / trial.scenario["run"]["duration_ns"]
            with self._lock:
                self._tally.going[trial.hash] = (part * load(trial), packets)

        result = self._job.backend.run(trial.scenario, note)
        summary = summarise(trial.scenario, result.tables, result.info)
        return result, summary_tables(summary, cell.plan.groups)

    def _count(
        self,
        item: _Waiting,
        *,
        new: int = 0,
        stored: int = 0,
        packets: int = 0,
        failure: Failure | None = None,
    ) -> None:
        with self._lock:
            tally = self._tally
            tally.going.pop(item.trial.hash, None)
            tally.new += new
            tally.stored += stored
            tally.packets += packets
            tally.work += load(item.trial)
            if failure is not None:
                tally.failures.append(failure)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
