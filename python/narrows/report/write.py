"""Writes the pictures and the page of a results directory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from narrows import figures
from narrows.errors import StoreError
from narrows.metrics import groups
from narrows.metrics.settling import note_of_run
from narrows.metrics.trials import alike, same_trace
from narrows.report.accounts import COUNTS, Account, accounts
from narrows.report.commands import as_typed, both_ways
from narrows.report.page import Check, PageContents, Run, joint_timeline, render
from narrows.store import Result, open_result
from narrows.store.atomic import write_text

PAGE = "report.html"
PICTURE = "figure"
GRAPH = "sequence"
"""The time-sequence graph, for captures."""
FINDINGS = "capture.json"
"""All findings, for captures."""
VERDICTS = "checks.json"
"""The parts of the page that don't come from the data, kept so that the page can be rebuilt."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The additions of a reproduction to its report.

    `lead` is a sentence under the title, `show` the time span in seconds that the figures show
    first (all of it if None).
    """

    lead: str = ""
    show: tuple[float, float] | None = None
    checks: tuple[Check, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The files of a report: the page, and the pictures (PNG first), if they were asked for."""

    page: Path
    pictures: tuple[Path, ...]


def write_report(
    directory: str | Path, verdicts: Verdicts | None = None, pictures: bool = False
) -> ReportFiles:
    """Writes the page, replacing an older one.

    With `pictures` the timeline of all trials is also drawn as an image, which can take longer than
    the run itself. Existing pictures are drawn again.

    The directory keeps the verdicts, so they appear again when the
    report is written without any. Raises StoreError if `directory` holds no
    result and OSError if it can't be written.
    """
    result = open_result(directory)
    if verdicts is not None:
        write_text(result.path / VERDICTS, json.dumps(asdict(verdicts), indent=1) + "\n")
    known = _read_verdicts(result.path / VERDICTS)
    wanted = pictures or (result.path / f"{PICTURE}.png").is_file()
    drawn = _pictures(result, known.show) if wanted and has_samples(result) else []
    study = _study(result, known, [picture.name for picture in drawn])
    page = result.path / PAGE
    write_text(page, render(study))
    return ReportFiles(page, tuple(drawn))


def has_samples(result: Result) -> bool:
    """Returns True if the runs kept the samples from which figures are drawn."""
    return all(trial.scenario["run"]["record"] != "summary" for trial in result.trials)


def _pictures(result: Result, show: tuple[float, float] | None) -> list[Path]:
    from narrows.figures import static

    first = result.trials[0]
    figure = joint_timeline(_runs(result), result.groups)
    if figure is None:
        figure = figures.describe("timeline", first.scenario, first.columns, result.groups)
    drawn = static.save(figure.between(*show) if show else figure, result.path / PICTURE)
    graph = figures.describe("sequence", first.scenario, first.columns, result.groups)
    return [*drawn, *(static.save(graph, result.path / GRAPH) if graph.panels else [])]


def _study(result: Result, verdicts: Verdicts, pictures: Sequence[str]) -> PageContents:
    manifest, captured = result.manifest, _accounts(result)
    return PageContents(
        title=result.name,
        version=str(manifest["version"]),
        backend=f"{manifest['backend']} ({manifest['engine']})",
        command=_command(manifest["command"], str(manifest["backend"])),
        spec=result.spec.strip(),
        groups=tuple(result.groups),
        runs=_runs(result),
        drawable=has_samples(result),
        links=_links(result, pictures),
        checks=verdicts.checks,
        lead=verdicts.lead,
        accounts=captured,
        counts=COUNTS if any(one.has_losses for one in captured) else "",
        notes=_notes(result),
        show=verdicts.show,
    )


def _accounts(result: Result) -> list[Account]:
    """Returns the accounts of captured flows; those of older versions lack parts."""
    file = result.trials[0].path / FINDINGS
    try:
        return accounts(json.loads(file.read_text(encoding="utf-8"))["flows"])
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _notes(result: Result) -> str:
    """Returns sentences on trials: two groups, a drift, all the same run, or the same trace."""
    split = groups.note_of_run(result.summary["runs"], result.groups)
    drifting = note_of_run(result.summary["runs"], result.groups)
    same_run = alike([[trial.info.digest for trial in result.trials]])
    trace = same_trace(result.trials[0].scenario, len(result.trials))
    return " ".join(filter(None, (split, drifting, same_run, trace)))


def _runs(result: Result) -> list[Run]:
    summaries: list[dict[str, Any]] = result.summary["runs"]
    return [
        Run(f"trial {t.number}, seed {t.scenario['seed']}", t.scenario, t.columns, summary)
        for t, summary in zip(result.trials, summaries, strict=True)
    ]


def _command(words: Sequence[str], backend: str) -> str:
    """Returns the typed command, and one that repeats the result from the specification here."""
    if backend == "capture":
        return as_typed(words) or "narrows analyze FILE"
    return both_ways(words, f"narrows run spec.toml --backend {backend}")


def _links(result: Result, pictures: Sequence[str]) -> list[str]:
    """Returns everything beside the page, as addresses relative to it."""
    tables = [
        f"{trial.path.name}/{name}.parquet" for trial in result.trials for name in trial.columns
    ]
    tables += [
        f"{trial.path.name}/{FINDINGS}"
        for trial in result.trials
        if (trial.path / FINDINGS).is_file()
    ]
    files = ("spec.toml", "summary.json", "summary.csv", "manifest.json")
    return [*pictures, *(file for file in files if (result.path / file).is_file()), *tables]


def _read_verdicts(path: Path) -> Verdicts:
    if not path.is_file():
        return Verdicts()
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        show = tuple(stored["show"]) if stored["show"] else None
        return Verdicts(stored["lead"], show, tuple(Check(**check) for check in stored["checks"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        raise StoreError.at(
            str(path), "no verdicts", "the file that came with the result"
        ) from None
