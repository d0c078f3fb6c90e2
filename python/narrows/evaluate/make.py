"""Evaluates controls: runs, judges, writes the record and the pages.

OUT/runs/                           a store of runs, which aren't repeated
OUT/site/index.html                 every evaluation, with the number of verdicts
OUT/site/CONTROL/evaluation.json    every verdict with its measurements
OUT/site/CONTROL/index.html         situations and controls, and a page for each situation
OUT/site/CONTROL/only/              the same for an evaluation of selected situations
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from narrows.backends import get_backend
from narrows.evaluate import site
from narrows.evaluate.commands import EvaluateArguments
from narrows.evaluate.index import INDEX, ONLY, RECORD, folder_of, write_index
from narrows.evaluate.runs import Contestant, attempts, contestants
from narrows.evaluate.suite import Suite, load_suite, select
from narrows.evaluate.verdicts import (
    AttemptResult,
    ExpectationVerdict,
    by_situation,
    judge,
    of_contestant,
)
from narrows.execute import BatchOutcome, Watcher, run_all
from narrows.metrics.intervals import explain_zero
from narrows.metrics.stored import StoreMeasurements
from narrows.store import RESULTS, open_store
from narrows.store.atomic import write_text
from narrows.version import __version__

OUT = Path(RESULTS) / "evaluate"
"""The default directory; each suite has a folder in it."""
BESIDE = ("cubic", "reno", "bbr3")
"""Controls that are run for comparison."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The verdicts of all controls in all situations of a suite."""

    suite: Suite
    contestants: tuple[Contestant, ...]
    judged: tuple[AttemptResult, ...]
    backend: str
    done: BatchOutcome
    out: Path

    @property
    def good(self) -> bool:
        """Whether every control under test ran and met its expectations."""
        return not any(
            one.verdict is ExpectationVerdict.NOT_MET
            or (one.verdict is ExpectationVerdict.UNDECIDED and one.trouble)
            for one in self.judged
            if one.attempt.contestant.tested
        )

    @property
    def page(self) -> Path:
        """The overview."""
        return self.out / INDEX

    def document(self) -> dict[str, Any]:
        """The evaluation as `--json` prints it and `evaluation.json` stores it."""
        return {
            "suite": self.suite.name,
            "backend": self.backend,
            "version": __version__,
            "controls": [one.key for one in self.contestants if one.tested],
            "situations": [_entry(one) for one in self.judged],
            "requirements": [asdict(one) for one in self.suite.requirements],
            "page": str(self.page),
        }

    def lines(self) -> list[str]:
        """The lines for a terminal: the suite, a row for each situation, counts, failures."""
        verdicts = [*_counts(self), *explain_zero(_not_met(self)), *_failures(self)]
        return [self.suite.title, "", *_matrix(self), "", *verdicts, f"page: {self.page}"]


def evaluate(
    controls: Sequence[str],
    *,
    suite: str | Path = "quick",
    only: Sequence[str] = (),
    beside: Sequence[str] | None = None,
    backend: str = "sim",
    stack: str | None = None,
    trials: int | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    watcher: Watcher | None = None,
    command: Sequence[str] = (),
) -> Evaluation:
    """Tests `controls` in the situations of a suite, `beside` others for comparison.

    By default those are the suite's own, or else `BESIDE`. `only` selects situations.
    A control is a name, or your own as a module and a class ("mine:Mine") or as a file ("mine.rs"),
    perhaps with options ("bbr3:rules=draft"); with `stack`, the controls under test are those of
    this transport stack of another project. Existing runs aren't repeated. `command` is the command
    line, for the pages. Raises InputError for a control, suite or directory that can't be used.
    """
    engine = get_backend(backend)
    whole = load_suite(suite, engine.capabilities().ccas)
    asked = select(whole, only) if only else whole
    others = asked.beside if beside is None else beside
    entrants = contestants(controls, BESIDE if others is None else others, stack)
    tried = attempts(asked, entrants, engine, trials)
    place = Path(out) if out is not None else OUT / asked.name
    runs = [job for one in tried for job in one.jobs(engine)]
    done = run_all(runs, place, jobs=jobs, watcher=watcher)
    found = StoreMeasurements(open_store(place / "runs"))
    judged = tuple(judge(one, found.of) for one in tried)
    tested = [one.key for one in entrants if one.tested]
    folder = folder_of(place / "site", tested, backend)
    made = Evaluation(asked, entrants, judged, backend, done, folder / ONLY if only else folder)
    how = EvaluateArguments(controls, str(suite), only, beside, trials, backend, stack, command)
    site.write(made.out, asked, entrants, judged, how, found.of)
    write_text(made.out / RECORD, json.dumps(made.document(), indent=1) + "\n")
    write_index(place / "site", asked)
    return made


def _entry(one: AttemptResult) -> dict[str, Any]:
    return {
        "situation": one.attempt.situation.name,
        "section": one.attempt.situation.section,
        "control": one.attempt.contestant.key,
        "tested": one.attempt.contestant.tested,
        "verdict": one.verdict,
        "trouble": one.trouble,
        "expectations": [
            {
                "metric": result.expected.name,
                "bound": result.expected.bounds_text,
                "values": result.values,
                "verdict": result.verdict,
                "more_trials": result.more,
            }
            for result in one.results
        ],
    }


def _matrix(made: Evaluation) -> list[str]:
    names = [one.title for one in made.contestants]
    widths = [max(len(name), len(ExpectationVerdict.UNDECIDED)) for name in names]
    first = max(len(one.name) for one in made.suite.situations)
    head = " ".join(f"{name:{width}}" for name, width in zip(names, widths, strict=True))
    lines = [f"{'':{first}} {head}".rstrip()]
    for situation, row in by_situation(made.judged):
        cells = (f"{one.verdict:{width}}" for one, width in zip(row, widths, strict=True))
        lines.append(f"{situation.name:{first}} {' '.join(cells)}".rstrip())
    return lines


def _counts(made: Evaluation) -> list[str]:
    lines = []
    for contestant in made.contestants:
        found = Counter(one.verdict for one in of_contestant(made.judged, contestant))
        counts = ", ".join(
            f"{found[verdict]} {verdict}" for verdict in ExpectationVerdict if found[verdict]
        )
        lines.append(f"{contestant.title}: {counts}")
    return lines


def _not_met(made: Evaluation) -> list[str]:
    """A sentence for each expectation of a control under test that isn't met or is undecided."""
    return [
        f"{contestant.title}: {line}"
        for contestant in made.contestants
        if contestant.tested
        for sentences in (site.failures, site.open_questions)
        for line in sentences(of_contestant(made.judged, contestant))
    ]


def _failures(made: Evaluation) -> Iterator[str]:
    """A sentence for each situation whose runs failed, with the first error."""
    for one in made.judged:
        attempt = one.attempt
        if not (
            attempt.contestant.tested
            and one.trouble
            and one.verdict is ExpectationVerdict.UNDECIDED
        ):
            continue
        errors = [one.error for one in made.done.failures if one.cell is attempt.cell]
        because = f": {errors[0]}" if errors else ""
        yield f"{attempt.contestant.title}: {attempt.situation.name}: {one.trouble}{because}"
