"""Writes the pictures and the page of a results directory."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrows import figures
from narrows.figures.names import value_words
from narrows.metrics.notes import notes_of_run
from narrows.metrics.trials import alike
from narrows.report.accounts import COUNTS, Account, Flow, accounts, unknown_capacity
from narrows.report.commands import as_typed, both_ways
from narrows.report.page import PageContents, Run, joint_timeline, render
from narrows.spec.estimates import PARTS, describe_estimates
from narrows.spec.measured import capacity_known, delay_known
from narrows.store import Result, open_result
from narrows.store.atomic import write_text
from narrows.words import begin_upper

PAGE = "report.html"
PICTURE = "figure"
GRAPH = "sequence"
"""The time-sequence graph, for captures."""
FINDINGS = "capture.json"
"""All findings, for captures."""
REPLAY = "replay.json"
"""The runs of a simulated capture, if they were asked for."""
_OBSERVED = {"capture": "analyze", "import": "import"}
"""The back ends of measurements, with the commands that make their results."""
_BLOCKS = (
    " iperf3 counts blocks of 128 kB when it has written them, so the throughput of an interval "
    "can exceed the path's rate."
)


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """The files of a report: the page, and the pictures (PNG first), if they were asked for."""

    page: Path
    pictures: tuple[Path, ...]


def write_report(directory: str | Path, pictures: bool = False) -> ReportFiles:
    """Writes the page, replacing an older one.

    With `pictures` the timeline of all trials is also drawn as an image, which can take longer than
    the run itself. Existing pictures are drawn again.

    Raises StoreError if `directory` holds no result and OSError if it can't be written.
    """
    result = open_result(directory)
    wanted = pictures or (result.path / f"{PICTURE}.png").is_file()
    drawn = _pictures(result) if wanted and has_samples(result) else []
    study = _study(result, [picture.name for picture in drawn])
    page = result.path / PAGE
    write_text(page, render(study))
    return ReportFiles(page, tuple(drawn))


def has_samples(result: Result) -> bool:
    """Returns True if the runs kept the samples from which figures are drawn."""
    return all(trial.scenario["run"]["record"] != "summary" for trial in result.trials)


def _pictures(result: Result) -> list[Path]:
    from narrows.figures import static

    first = result.trials[0]
    figure = joint_timeline(_runs(result), result.groups)
    if figure is None:
        figure = figures.describe("timeline", first.scenario, first.columns, result.groups)
    drawn = static.save(figure, result.path / PICTURE)
    graph = figures.describe("sequence", first.scenario, first.columns, result.groups)
    return [*drawn, *(static.save(graph, result.path / GRAPH) if graph.panels else [])]


def _study(result: Result, pictures: Sequence[str]) -> PageContents:
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
        lead=_lead(result),
        hosts=_hosts(result),
        accounts=captured,
        counts=COUNTS if any(one.has_losses for one in captured) else "",
        notes=_notes(result),
        replays=_replays(result),
    )


def _lead(result: Result) -> str:
    """Returns the sentences under the title of a measurement's page: what is estimated."""
    if result.manifest["backend"] not in _OBSERVED:
        return ""
    first = result.trials[0]
    known = capacity_known(first.scenario)
    without_rate = ["delay"] if delay_known(first.scenario) else []
    parts = [*PARTS, "queue"] if known else without_rate
    told = describe_estimates(parts, first.info.conditions.get("given", ()))
    estimated = f" The path's {told}" if told else ""
    unreached = "" if known else f" {begin_upper(unknown_capacity(_captured_flows(result)))}."
    blocks = _BLOCKS if result.manifest["engine"] == "iperf3" else ""
    return f"This is a measurement.{estimated}{unreached}{blocks}"


def _hosts(result: Result) -> str:
    """Returns the system that wrote a measurement, or "unknown"; "" for a run."""
    if result.manifest["backend"] not in _OBSERVED:
        return ""
    return ", ".join(result.trials[0].info.conditions.get("systems", ())) or "unknown"


def _accounts(result: Result) -> list[Account]:
    """Returns the accounts of captured flows; those of older versions lack parts."""
    try:
        return accounts(_captured_flows(result))
    except (ValueError, KeyError, TypeError):
        return []


def _captured_flows(result: Result) -> list[Flow]:
    """Returns the findings on captured flows; none for an import."""
    file = result.trials[0].path / FINDINGS
    try:
        flows = json.loads(file.read_text(encoding="utf-8"))["flows"]
        return [flow for flow in flows if isinstance(flow, dict)]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _replays(result: Result) -> list[dict[str, Any]]:
    """Returns the replays of captured flows, their runs in words; empty if there are none."""
    try:
        flows = json.loads((result.path / REPLAY).read_text(encoding="utf-8"))
        return [
            {
                **{name: str(flow[name]) for name in ("name", "verdict", "remark")},
                "runs": {_what_if(label): _numbers(run) for label, run in flow["runs"].items()},
            }
            for flow in flows
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def _what_if(label: str) -> str:
    """Returns the words for a run of a replay, which may be called by its control or queue."""
    return value_words("path.queue", value_words("flows[0].cca", label))


def _numbers(run: Mapping[str, Any]) -> dict[str, float | None]:
    """Returns the numbers of a run of a replay; None for what is none."""
    names = ("goodput_mbps", "rtt_ms", "retransmitted")
    return {name: run[name] if isinstance(run[name], int | float) else None for name in names}


def _notes(result: Result) -> list[str]:
    """Returns sentences on what a reader of the trials' means should know."""
    same_run = alike([[trial.info.digest for trial in result.trials]])
    return [*notes_of_run(result.summary["runs"], result.groups), same_run]


def _runs(result: Result) -> list[Run]:
    summaries: list[dict[str, Any]] = result.summary["runs"]
    return [
        Run(
            f"trial {t.number}, seed {t.scenario['seed']}",
            t.scenario,
            t.columns,
            summary,
            t.info.end_s,
        )
        for t, summary in zip(result.trials, summaries, strict=True)
    ]


def _command(words: Sequence[str], backend: str) -> str:
    """Returns the typed command, and one that repeats a run from the specification here."""
    if backend in _OBSERVED:
        return as_typed(words) or f"narrows {_OBSERVED[backend]} FILE"
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
    inputs = sorted(
        file.relative_to(result.path).as_posix() for file in result.path.glob("inputs/*")
    )
    files = ("spec.toml", *inputs, "summary.json", "summary.csv", REPLAY, "manifest.json")
    return [*pictures, *(file for file in files if (result.path / file).is_file()), *tables]
