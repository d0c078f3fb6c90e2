"""Does the runs that a search asks for, and keeps them in a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from narrows.answer.judge import Row
from narrows.answer.rounds import TrialRequest
from narrows.answer.study import AskedCase, AskedStudy
from narrows.errors import NarrowsError
from narrows.execute import Failure, Job, Pool, StoreCache, Watcher
from narrows.metrics.settling import UnsettledRuns
from narrows.spec.values import exact_value
from narrows.store import Store
from narrows.sweeps.run import note_study


class RunFailedError(NarrowsError):
    """A run failed that an answer needs."""

    @classmethod
    def of(cls, failure: Failure) -> RunFailedError:
        """Names the combination, the seed and the reason."""
        return cls(f"{failure.cell}, seed {failure.trial.seed}: {failure.error}")


@dataclass
class StoredRuns:
    """The runs of a search: those that are stored aren't done again."""

    study: AskedStudy
    store: Store
    jobs: int | None = None
    watcher: Watcher | None = None
    new: int = 0
    """The number of runs that were done."""
    _counts: dict[tuple[AskedCase, object], int] = field(default_factory=dict)
    _written: dict[object, object] = field(default_factory=dict)
    _rows: dict[tuple[AskedCase, object], list[Row]] = field(default_factory=dict)

    def __call__(self, asked: Sequence[TrialRequest]) -> list[list[Row]]:
        """The rows of `summary` of these trials; raises RunFailedError."""
        values = [self.study.spelling(value) for _, value, _ in asked]
        distinct = list({exact_value(value): value for value in values}.values())
        cells = self.study.cells(distinct, max(count for *_, count in asked))
        keys = [
            (self.study.cases[number], exact_value(value))
            for (number, *_), value in zip(asked, values, strict=True)
        ]
        trials = [
            (cells[key], trial)
            for key, (*_, count) in zip(keys, asked, strict=True)
            for trial in cells[key].plan.trials[:count]
        ]
        jobs = [Job(cell, trial, self.study.backend) for cell, trial in trials]
        done = Pool(jobs, StoreCache(self.store), self.jobs).run(self.watcher)
        self.new += done.new
        if done.failures:
            raise RunFailedError.of(done.failures[0])
        self._written.update({exact_value(value): value for value in distinct})
        for key, (*_, count) in zip(keys, asked, strict=True):
            self._counts[key] = max(count, self._counts.get(key, 0))
        known = {row["run"]: row for row in self.store.rows("summary").iter_rows(named=True)}
        found = iter([known[trial.hash] for _, trial in trials])
        rows: list[list[Row]] = [[next(found) for _ in range(count)] for *_, count in asked]
        self._rows.update(zip(keys, rows, strict=True))
        return rows

    def unsettled_runs(self) -> UnsettledRuns[tuple[AskedCase, object]]:
        """The combinations whose runs drift or are too short."""
        return UnsettledRuns.of(self._rows.items())

    @property
    def total(self) -> int:
        """The number of runs behind the answer, new and stored."""
        return sum(self._counts.values())

    def note(self) -> None:
        """Keeps the study with all values that were asked for, as a sweep does."""
        written = [self._written[value] for value in sorted(self._written, key=_order)]
        if not written:
            return
        whole = self.study.grid(written, max(self._counts.values()))
        counts = {
            cell.number: self._counts.get(self.study.key(cell, written), 0) for cell in whole.cells
        }
        question = str(self.study.question)
        note_study(self.store, whole, self.study.backend, counts, question=question)


def _order(exact: object) -> tuple[bool, float, str]:
    """Quantities by their size, then words."""
    number = exact[1] if isinstance(exact, tuple) else exact
    if isinstance(number, int | float):
        return False, float(number), ""
    return True, 0.0, str(exact)
