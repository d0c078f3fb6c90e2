"""A whole search: tries, findings, a specification and a page for each.

OUT/tries.jsonl   the tries, one per line
OUT/search.json   the findings, for programs
OUT/N/            finding N: finding.toml, and the results of running it
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from narrows.backends import NAMES, get_backend
from narrows.errors import InputError, Problem, SpecError
from narrows.evaluate.runs import modules_here
from narrows.report import write_report
from narrows.runner import Experiment, execute, prepare
from narrows.search.hunt import hunt
from narrows.search.log import Log
from narrows.search.minimise import FINAL, findings
from narrows.search.objectives import Objective, Row, find
from narrows.search.space import Point, departures, sentence, specification
from narrows.search.trying import PointResults, PointRunner
from narrows.spec.registry import title
from narrows.spec.suggest import one_of, quote
from narrows.store import RESULTS
from narrows.store.atomic import write_text, writing
from narrows.version import __version__
from narrows.words import count_of, join_words

OUT = Path(RESULTS) / "search"
SEARCH = "search.json"
"""The record of a search, in its directory."""
REFERENCES = ("reno", "cubic", "bbr")
"""The controls to compare with, unless there is a rival or another control."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """Conditions under which the control fails: in words and as a specification."""

    says: str
    tried: PointResults
    spec: Path
    page: Path | None
    confirmed: str
    """The result of another back end; empty if none was requested."""


@dataclass(frozen=True, slots=True)
class Search:
    """The findings of a search, and how many conditions it tried."""

    trying: PointRunner
    tried: tuple[PointResults, ...]
    findings: tuple[Counterexample, ...]
    out: Path

    def document(self) -> dict[str, Any]:
        """The search as `--json` prints it and `search.json` stores it."""
        objective = self.trying.objective
        return {
            "control": self.trying.subject,
            "objective": objective.name,
            "metric": objective.metric,
            "tries": len(self.tried),
            "failing": sum(one.fails for one in self.tried),
            "version": __version__,
            "findings": [_entry(objective, one) for one in self.findings],
        }

    def lines(self) -> list[str]:
        """The lines for a terminal."""
        failing = sum(one.fails for one in self.tried)
        tried = count_of(len(self.tried), "condition")
        head = f"{tried} tried, {self.trying.subject} fails in {failing or 'none'}"
        if not failing:
            return [f"{head}."]
        if not self.findings:
            return [f"{head}; none is left that fails with most seeds."]
        told = [
            line
            for number, one in enumerate(self.findings, start=1)
            for line in (
                f"{number}. {one.says}",
                *([f"   {one.confirmed}"] if one.confirmed else []),
                f"   {one.page or one.spec}",
            )
        ]
        return [f"{head}:", *told]


def _entry(objective: Objective, one: Counterexample) -> dict[str, Any]:
    return {
        "says": one.says,
        "departures": list(departures(objective.space, one.tried.point)),
        "point": dict(one.tried.point),
        "values": list(one.tried.values),
        "references": [list(row) for row in one.tried.references],
        "seeds": {"tried": len(one.tried.badness), "failing": one.tried.times},
        "confirmed": one.confirmed or None,
        "spec": str(one.spec),
    }


def search(
    subject: str,
    *,
    objective: str = "utilization",
    beside: str = "cubic",
    than: str | None = None,
    tries: int = 200,
    most: int = 3,
    confirm: str | None = None,
    jobs: int | None = None,
    out: str | Path | None = None,
    report: Callable[[str, float], None] = lambda *_: None,
    memory: dict[str, Row] | None = None,
    pages: bool = True,
) -> Search:
    """Looks for conditions in which the control `subject` fails by an objective.

    `beside` is the rival where the objective has one, `than` the other control of "slower".
    `tries` counts conditions, including those of an earlier search in `out`; `most` bounds the
    findings. With `confirm`, the name of another back end, each finding is run there, too. `memory`
    holds the metrics of runs by their hash, for several searches that share runs; without `pages`
    the findings are only written as specifications. Raises InputError for arguments that don't fit
    each other.
    """
    wanted = find(objective)
    if (than is not None) != (wanted.name == "slower"):
        found = "none" if than is None else f'"{than}"'
        raise InputError.at("--than", found, "a control for --objective slower, and only there")
    if confirm is not None and confirm not in NAMES:
        found = f'"{confirm}", which is not a back end'
        raise InputError.at("--confirm", found, one_of(confirm, NAMES))
    if confirm is not None:
        get_backend(confirm)  # before the search, since it may lack a kernel
    trying = settings(subject, wanted, beside, than, jobs, memory)
    place = Path(out) if out is not None else OUT / trying.name
    with modules_here():
        plain = {one.name: one.plain for one in wanted.space}
        try:
            trying.all([plain], [1])
        except SpecError as error:
            given = {"CONTROL": subject, "--beside": beside, "--than": than}
            raise SpecError([_of_argument(one, given) for one in error.problems]) from None
        report("trying conditions", 0.0)
        tried = hunt(trying, Log(_directory(place) / "tries.jsonl", trying), tries, report)
        report("reducing the findings", 1.0)
        small = findings(trying, tried, most)
        kept = [
            _keep(trying, one, place / str(number), confirm, pages)
            for number, one in enumerate(small, start=1)
        ]
    made = Search(trying, tuple(tried), tuple(kept), place)
    write_text(place / SEARCH, json.dumps(made.document(), indent=1) + "\n")
    return made


def _of_argument(problem: Problem, given: Mapping[str, str | None]) -> Problem:
    """The problem of a written specification as that of the argument which it came from."""
    named = (option for option, name in given.items() if name and quote(name) in problem.found)
    return Problem(next(named, "CONTROL"), problem.found, problem.remedy)


def settings(
    subject: str,
    objective: Objective,
    beside: str = "cubic",
    than: str | None = None,
    jobs: int | None = None,
    memory: dict[str, Row] | None = None,
) -> PointRunner:
    """The comparison of a search in the simulator: with the rival, if any, and the references."""
    rival = beside if objective.rivals else None
    others = tuple(name for name in REFERENCES if name != subject)
    references = (rival,) if rival else (than,) if than else others
    known = {} if memory is None else memory
    return PointRunner(subject, rival, references, objective, get_backend("sim"), jobs, known)


def _directory(place: Path) -> Path:
    """Makes the directory; raises StoreError if that isn't possible."""
    with writing(place):
        place.mkdir(parents=True, exist_ok=True)
    return place


def _keep(
    trying: PointRunner, tried: PointResults, place: Path, confirm: str | None, pages: bool = True
) -> Counterexample:
    """Writes a finding as a specification, and runs it."""
    says = _sentence(trying, tried)
    spec = _directory(place) / "finding.toml"
    write_text(spec, _specification(trying, tried, says))
    experiment = prepare(spec)
    for source in experiment.plan.trials[0].scenario.get("controls", {}).values():
        write_text(place / source["file"], source["text"])
    page = _page(experiment, place / "results") if pages else None
    confirmed = elsewhere(trying, tried.point, confirm) if confirm else ""
    return Counterexample(says, tried, spec, page, confirmed)


def _page(experiment: Experiment, results: Path) -> Path:
    """Runs a finding and writes its page."""
    result = execute(experiment, out=results, force=True).result
    return write_report(result.path).page


def _sentence(trying: PointRunner, tried: PointResults) -> str:
    """The finding in one sentence."""
    objective = trying.objective
    references = [value for row in tried.references for value in row if value is not None]
    values = [value for value in tried.values if value is not None]
    said = objective.says.format(
        subject=title(trying.subject),
        others=join_words([title(name) for name in trying.references]),
        value=objective.shown(median(values)),
        best=objective.shown(max(references)),
    )
    seeds = f"{tried.times} of {len(tried.badness)} seeds"
    return f"With {sentence(objective.space, tried.point)}: {said} ({seeds})."


def _specification(trying: PointRunner, tried: PointResults, says: str) -> str:
    """The conditions with the check that the control fails."""
    objective, middle = trying.objective, len(tried.references) // 2
    limits = [objective.limit_of(row, tried.point) for row in tried.references]
    known = sorted(limit for limit in limits if limit is not None)
    bound = "at_least" if objective.more else "at_most"
    text = specification(
        trying.name, tried.point, trying.subject, trying.rival, trials=5, seed=FINAL[0]
    )
    limit = known[min(middle, len(known) - 1)]
    check = f'[[check]]\nmetric = "{objective.metric}"\n{bound} = {limit:.4g}\n'
    return f"# {says}\n{text}\n{check}"


def elsewhere(trying: PointRunner, point: Point, name: str) -> str:
    """The outcome under some conditions on another back end, with three seeds, in words."""
    try:
        there = replace(trying, backend=get_backend(name))
        (again,) = there.all([point], FINAL[:3])
    except InputError as error:
        return f"{name}: can't be run there ({error.problems[0].found})"
    if not any(value is not None for value in again.values):
        return f"{name}: can't be run there"
    word = "fails there too" if again.fails else "does not fail there"
    shown = ", ".join(f"{value:.3g}" for value in again.values if value is not None)
    return f"{name}: {word} ({trying.objective.metric} {shown})"
