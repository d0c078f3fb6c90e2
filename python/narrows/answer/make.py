"""Answers a question: searches, sentences, a chart, and a record of all of it.

DIR/                a store of the runs, with the page of a sweep over all values that were tried
DIR/NAME-answer.*   the chart as page, PNG and SVG, and the answer for programs (JSON)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from narrows.answer.best import Ranking, rank
from narrows.answer.bound import Bracket, bracket, crossing
from narrows.answer.figure import chart
from narrows.answer.judge import Limits, Point
from narrows.answer.lengthening import is_unsettled, lengthen
from narrows.answer.question import OPTION, BestQuestion, EqualQuestion, metrics_in
from narrows.answer.rounds import Run, run_searches
from narrows.answer.runs import StoredRuns
from narrows.answer.study import AskedCase, AskedStudy, ask
from narrows.answer.text import sentence
from narrows.errors import InputError
from narrows.execute import Watcher
from narrows.metrics.intervals import explain_zero, half_width
from narrows.spec import Override, SpecificationText
from narrows.store import RESULTS, create_store, slug
from narrows.store.atomic import write_text, writing
from narrows.sweeps.figure import save
from narrows.sweeps.page import write_pages
from narrows.version import __version__
from narrows.words import begin_lower, begin_upper

PRECISION = 0.05
"""How far the two ends of a bound may be apart, as a part of the value."""


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """The answers to a question, one for each combination of the other axes."""

    study: AskedStudy
    found: Mapping[AskedCase, Bracket | Ranking]
    runs: int
    directory: Path
    paths: tuple[Path, ...]
    """The chart, and the page of all runs."""
    drifting: str = ""
    """A sentence, if something still changes within runs, or they are too short for shares."""
    is_early: bool = False
    """True if that is what the question is about."""
    longer_duration: str = ""
    """The duration of runs, if the study's own was too short."""

    @property
    def good(self) -> bool:
        """Returns True if every combination has an answer."""
        return all(one.answer is not None for one in self.found.values())

    def lines(self) -> list[str]:
        """The lines for a terminal."""
        return [*self.sentences(), *map(str, self.paths)]

    def sentences(self) -> list[str]:
        """The answers, with a reservation if runs are too short, and the length of runs."""
        told = [
            text if case else begin_upper(text)
            for case, one in self.found.items()
            for text in [sentence(self.study, case, one)]
        ]
        longer = (
            f"The runs last {self.longer_duration}; the study's own duration is too short for this."
        )
        return [
            *explain_zero(self._with_reservation(told) if self.is_early else told),
            *[longer] * bool(self.longer_duration),
        ]

    def _with_reservation(self, told: list[str]) -> list[str]:
        """Says why the answers are provisional: in the only one, or ahead of several."""
        why = f"provisional: {begin_lower(self.drifting)}"
        if len(told) > 1:
            return [f"These answers are {why}", *told]
        return [f"{told[0].removesuffix('.')}, but that is {why}"]

    def document(self) -> dict[str, Any]:
        """The answer as `--json` prints it and its file stores it."""
        return {
            "study": self.study.name,
            "question": str(self.study.question),
            "version": __version__,
            "runs": self.runs,
            "drifting": self.drifting,
            "too_early": self.is_early,
            "longer_duration": self.longer_duration,
            "answers": [self._entry(case, one) for case, one in self.found.items()],
            "directory": str(self.directory),
        }

    def _entry(self, case: AskedCase, one: Bracket | Ranking) -> dict[str, Any]:
        quantities = self.study.question.quantities
        metrics = tuple(name for one in quantities for name in metrics_in(one))
        entry: dict[str, Any] = {
            "where": dict(case),
            "says": sentence(self.study, case, one),
            "found": self._value(one.answer),
            "decided": one.is_decided,
        }
        if isinstance(one, Bracket):
            entry["beyond"] = self._value(one.beyond)
            entry["undecided"] = [self._value(point) for point in one.between]
            entry["ranges"] = [[self._value(a), self._value(b)] for a, b in one.ranges]
        else:
            entry["alike"] = [self._value(point) for point in one.beside]
        entry["values"] = [self._point(point, metrics) for point in one.points]
        return entry

    def _value(self, point: Point | None) -> object:
        return None if point is None else self.study.spelling(point.value)

    def _point(self, point: Point, metrics: Iterable[str]) -> dict[str, Any]:
        means = {name: point.mean(name) for name in metrics}
        return {
            "value": self._value(point),
            "trials": point.trials,
            "mean": means,
            "half_width": {
                n: _finite(half_width(v, point.level)) for n, v in point.values.items() if v
            },
        }


def _finite(value: float) -> float | None:
    return value if value != float("inf") else None


def answer(
    spec: str | Path | SpecificationText,
    text: str,
    overrides: Iterable[str | Override] = (),
    *,
    trials: int = 3,
    most_trials: int = 20,
    precision: float = PRECISION,
    backend: str = "sim",
    jobs: int | None = None,
    out: str | Path | None = None,
    watcher: Watcher | None = None,
) -> AnswerSet:
    """Answers the question in `text` about the study `spec`.

    Each value gets `trials`, and up to `most_trials` while the intervals can't decide. `precision`
    is how far the two ends of a bound may be apart, as a part of the value. Raises InputError for a
    question or a study that don't fit, RunFailedError if a run failed.
    """
    limits = _limits(trials, most_trials)
    asked = ask(spec, overrides, text, backend)
    directory = Path(out) if out is not None else Path(RESULTS) / f"{slug(asked.name)}.answer"
    store = create_store(directory)
    study = lengthen(asked) or asked
    while True:
        runs = StoredRuns(study, store, jobs, watcher)
        try:
            found = find(study, runs, limits, precision)
        finally:
            runs.note()
        unsettled = runs.unsettled_runs()
        longer = lengthen(study, unsettled, runs.total)
        if longer is None:
            break
        study = longer
    stem = directory / f"{slug(study.name)}-answer"
    pages = write_pages(directory, study.name)
    made = AnswerSet(
        study, found, runs.total, directory, (stem.with_name(f"{stem.name}.html"), *pages),
        " ".join(one.unsettled for one in pages.values()),
        is_unsettled(study, unsettled),
        study.longer_duration,
    )  # fmt: skip
    with writing(stem):
        figure = replace(chart(study, found, runs.total, unsettled), words=tuple(made.sentences()))
        save(figure, stem, ("html", "png", "svg"))
    write_text(stem.with_name(f"{stem.name}.json"), json.dumps(made.document(), indent=1) + "\n")
    return made


def find(
    study: AskedStudy, run: Run, limits: Limits, precision: float = PRECISION
) -> dict[AskedCase, Bracket | Ranking]:
    """The answer for every case; `run` does the trials that are asked for."""
    searches = {number: _search(study, limits, precision) for number in range(len(study.cases))}
    found = run_searches(searches, run)
    return {case: found[number] for number, case in enumerate(study.cases)}


def _search(study: AskedStudy, limits: Limits, precision: float) -> Any:  # noqa: ANN401
    question = study.question
    if isinstance(question, BestQuestion):
        values = study.values if study.scale is None else study.scale.given
        return rank(question, [v if isinstance(v, float) else str(v) for v in values], limits)
    if study.scale is None:
        found = f"{question.place}, whose values are words"
        raise InputError.at(OPTION, found, f'"{question.place} with the highest METRIC"')
    if isinstance(question, EqualQuestion):
        return crossing(question, study.scale, limits, precision)
    return bracket(question, study.scale, limits, precision)


def _limits(trials: int, most: int) -> Limits:
    if most < trials:
        raise InputError.at("--max-trials", str(most), f"at least --trials, {trials},")
    return Limits(trials, most)
