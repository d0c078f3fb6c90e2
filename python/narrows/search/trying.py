"""Runs a control and its references under given conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median

from narrows.backends import Backend
from narrows.errors import SpecError
from narrows.execute import FinishedJob, Job, run_each
from narrows.plan import Cell, canonical_json, content_hash, plan
from narrows.search.objectives import METRICS, Objective, Row
from narrows.search.space import Point, departures, specification
from narrows.spec import parse
from narrows.spec.host import MODELLED


@dataclass(frozen=True, slots=True)
class PointResults:
    """The results under some conditions: of the control and of each reference, by seed."""

    point: Point
    badness: tuple[float, ...]
    values: tuple[float | None, ...]
    references: tuple[tuple[float | None, ...], ...]

    @property
    def fails(self) -> bool:
        """Returns True if the control fails with most seeds."""
        return median(self.badness) >= 1.0

    @property
    def times(self) -> int:
        """The number of seeds with which it fails."""
        return sum(one >= 1.0 for one in self.badness)


@dataclass(frozen=True)
class PointRunner:
    """The fixed settings of a search."""

    subject: str
    rival: str | None
    references: tuple[str, ...]
    objective: Objective
    backend: Backend
    jobs: int | None = None
    memory: dict[str, Row] = field(default_factory=dict)
    """The metrics of earlier runs by their hash, so that equal runs are done once."""

    @property
    def name(self) -> str:
        """The search's name, for files."""
        return f"{self.subject.replace(':', '-')}-{self.objective.name}"

    def all(self, points: Sequence[Point], seeds: Iterable[int]) -> list[PointResults]:
        """Tries all points with all seeds, on all cores."""
        chosen = list(seeds)
        controls = (self.subject, *self.references)
        # Specifications are read here, as the threads lack the permissions of this one.
        asked = [
            self._job(point, control, seed)
            for point in points
            for seed in chosen
            for control in controls
        ]
        found = iter(self._values(asked))
        tried = []
        for point in points:
            rows = [[next(found) for _ in controls] for _ in chosen]
            badness = tuple(self.objective.badness(row[0], row[1:], point) for row in rows)
            values = tuple(row[0] for row in rows)
            tried.append(
                PointResults(point, badness, values, tuple(tuple(row[1:]) for row in rows))
            )
        return tried

    @cached_property
    def sources(self) -> dict[str, str]:
        """The digests of the sources of own controls: a changed one is another search."""
        plain = {one.name: one.plain for one in self.objective.space}
        asked = (self.subject, *self.references, self.rival)
        found: dict[str, str] = {}
        for control in filter(None, asked):
            job = self._job(plain, control, 1)
            controls = {} if job is None else job.trial.scenario.get("controls", {})
            found |= {name: content_hash([canonical_json(one)]) for name, one in controls.items()}
        return dict(sorted(found.items()))

    def fails(self, point: Point, seeds: Sequence[int]) -> bool:
        """Returns True if the control fails under some conditions with most seeds.

        What decides is run first: the references only if the control's own results are bad enough
        for a failure, and further seeds only while they could change the answer.
        """
        need, bad, good = len(seeds) // 2 + 1, 0, 0
        at = 0
        while bad < need and good < need:
            part = seeds[at : at + need - max(bad, good)]
            at += len(part)
            own = self._values([self._job(point, self.subject, seed) for seed in part])
            might = [
                seed
                for seed, value in zip(part, own, strict=True)
                if self.objective.might_fail(value, point)
            ]
            tried = self.all([point], might)[0].badness if might else ()
            failed = sum(one >= 1.0 for one in tried)
            bad, good = bad + failed, good + len(part) - failed
        return bad >= need

    def _job(self, point: Point, control: str, seed: int) -> Job | None:
        """A run; None for conditions that the back end refuses.

        Raises SpecError if it refuses plain conditions, too, because of the control.
        """
        text = specification("search", point, control, self.rival, trials=1, seed=seed)
        # Simulated hosts need noise, without which all seeds are alike; real ones have their own.
        real = self.backend.name != "sim"
        changes = [f"host.{key}=0s" for key in MODELLED] if real else []
        try:
            runs = plan(
                parse(text, "search", changes).spec, self.backend.engine_of, self.backend.name
            )
            self.backend.check(runs.trials[0].scenario)
        except SpecError:
            if not departures(self.objective.space, point):
                raise
            return None
        return Job(Cell(1, {}, runs), runs.trials[0], self.backend)

    def _values(self, asked: Sequence[Job | None]) -> list[float | None]:
        """The metric of each run, or None."""

        def take(job: Job, made: FinishedJob) -> None:
            row = made.tables["summary"].row(0, named=True)
            self.memory[job.key] = {name: row.get(name) for name in METRICS}

        missing = {job.key: job for job in asked if job is not None and job.key not in self.memory}
        run_each(missing.values(), take, self.jobs)
        return [
            None if job is None else self.memory[job.key][self.objective.metric] for job in asked
        ]
