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
from narrows.evaluate.conclusion import Conclusion, conclude
from narrows.evaluate.index import INDEX, ONLY, RECORD, folder_of, write_index
from narrows.evaluate.runs import Contestant, attempts, contestants
from narrows.evaluate.suite import SUBJECT, Suite, load_suite, select
from narrows.evaluate.verdicts import WORDS, AttemptResult, by_situation, judge, of_contestant
from narrows.execute import BatchOutcome, Watcher, run_all
from narrows.metrics.bounds import CheckVerdict
from narrows.metrics.checks import CheckOutcome
from narrows.metrics.headings import heading_of_check
from narrows.metrics.intervals import explain_zero, mean
from narrows.metrics.stored import StoreMeasurements
from narrows.store import RESULTS, open_store
from narrows.store.atomic import write_text
from narrows.version import __version__
from narrows.words import align, short_number

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
    part: bool = False
    """True if only some situations of the suite were asked for."""

    @property
    def good(self) -> bool:
        """Returns True if every control under test ran and met its expectations."""
        return not any(
            one.verdict == CheckVerdict.NOT_MET
            or (one.verdict == CheckVerdict.UNDECIDED and one.trouble)
            for one in self.judged
            if one.attempt.contestant.tested
        )

    @property
    def page(self) -> Path:
        """The overview page."""
        return self.out / INDEX

    def conclusions(self) -> list[Conclusion]:
        """Returns the answer for each control under test."""
        return conclude(self.contestants, self.judged, part=self.part)

    def document(self) -> dict[str, Any]:
        """Returns the evaluation as `--json` prints it and `evaluation.json` stores it."""
        return {
            "suite": self.suite.name,
            "backend": self.backend,
            "version": __version__,
            "controls": [one.key for one in self.contestants if one.tested],
            "situations": [_entry(one) for one in self.judged],
            "conclusions": [asdict(one) for one in self.conclusions()],
            "requirements": [asdict(one) for one in self.suite.requirements],
            "page": str(self.page),
        }

    def lines(self) -> list[str]:
        """Returns the lines for a terminal: suite, situations, counts, failures, conclusions."""
        verdicts = [*_counts(self), *explain_zero(_not_met(self)), *_failures(self)]
        found = self.conclusions()
        answers = [*filter(None, (one.shares for one in found)), *(one.sentence for one in found)]
        page = f"page: {self.page}"
        return [self.suite.title, "", *_matrix(self), "", *verdicts, page, "", *answers]


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

    By default the others are those of the suite, or else `BESIDE`. `only` selects situations. A
    control is a name, or your own as a module and a class ("mine:Mine") or as a file ("mine.rs"),
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
    pages = folder / ONLY if only else folder
    made = Evaluation(asked, entrants, judged, backend, done, pages, part=bool(only))
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
        "checks": [
            {
                "check": result.outcome.check.name,
                "bounds": result.outcome.check.bounds_text,
                "values": result.outcome.values,
                "verdict": result.verdict,
                "more_trials": result.outcome.more,
            }
            for result in one.results
        ],
    }


def _matrix(made: Evaluation) -> list[str]:
    """Returns a row for each situation: every verdict, with the mean of one quantity."""
    rows = [["", *(one.title for one in made.contestants), ""]]
    for situation, row in by_situation(made.judged):
        shown = _telling(row)
        outcome = next(filter(None, (_outcome(one, shown) for one in row)), None)
        what = "" if outcome is None else f"{_quantity(outcome)} {outcome.bounds_text}"
        rows.append([situation.name, *(_cell(one, shown) for one in row), what])
    elsewhere = any(cell.endswith(")") for row in rows[1:] for cell in row[1:-1])
    return [
        *align(rows, left=len(rows[0])),
        *["(number): another check decides the verdict"] * elsewhere,
    ]


def _telling(row: Sequence[AttemptResult]) -> int:
    """Returns the number of the check to show: one that a control under test fails, if any."""
    tested = [one for one in row if one.attempt.contestant.tested]
    for verdict in (CheckVerdict.NOT_MET, CheckVerdict.UNDECIDED):
        for one in tested:
            for number, result in enumerate(one.results):
                if result.verdict == verdict:
                    return number
    return 0


def _outcome(one: AttemptResult, shown: int) -> CheckOutcome | None:
    """Returns the outcome of the check with this number; None for a control that was refused."""
    return one.results[shown].outcome if shown < len(one.results) else None


def _cell(one: AttemptResult, shown: int) -> str:
    """Returns the verdict on all checks with the mean of one, in parentheses if another decides."""
    outcome = _outcome(one, shown)
    if outcome is None or not outcome.values:
        return str(one.verdict)
    value = short_number(outcome.scale * mean(outcome.values), 4)
    decides = one.results[shown].verdict == one.verdict
    return f"{one.verdict} {value}" if decides else f"{one.verdict} ({value})"


def _quantity(outcome: CheckOutcome) -> str:
    """Returns the quantity of a check, without the name of the class that all controls have."""
    return heading_of_check(outcome.check).replace(f" of {SUBJECT}", "", 1)


def _counts(made: Evaluation) -> list[str]:
    lines = []
    for contestant in made.contestants:
        found = Counter(one.verdict for one in of_contestant(made.judged, contestant))
        told = ", ".join(f"{found[verdict]} {verdict}" for verdict in WORDS if found[verdict])
        lines.append(f"{contestant.title}: {told}")
    return lines


def _not_met(made: Evaluation) -> list[str]:
    """Returns a sentence for each check of a control under test that isn't met or is undecided."""
    beside = [one for one in made.judged if not one.attempt.contestant.tested]
    lines = []
    for contestant in made.contestants:
        if contestant.tested:
            mine = of_contestant(made.judged, contestant)
            sentences = [*site.failures(mine, beside), *site.open_questions(mine)]
            lines += [f"{contestant.title}: {sentence}" for sentence in sentences]
    return lines


def _failures(made: Evaluation) -> Iterator[str]:
    """Yields a sentence for each error that ended runs of a control under test.

    It names the situation, or their number if there are several.
    """
    failed: dict[tuple[str, str], list[AttemptResult]] = {}
    for one in made.judged:
        attempt = one.attempt
        if not (
            attempt.contestant.tested and one.trouble and one.verdict == CheckVerdict.UNDECIDED
        ):
            continue
        errors = [one.error for one in made.done.failures if one.cell is attempt.cell]
        because = f": {errors[0]}" if errors else ""
        failed.setdefault((attempt.contestant.title, because), []).append(one)
    for (title, because), some in failed.items():
        first, *more = some
        where = f"{first.attempt.situation.name}: {first.trouble}"
        yield f"{title}: {f'runs failed in {len(some)} situations' if more else where}{because}"
