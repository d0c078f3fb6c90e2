"""Compares the files beside the runs of a result or a store with what they were derived from.

The specification determines the scenarios, and a run determines its summary and the tables derived
from it. Each is made again here, since a digest only shows that nothing has changed since the files
were sealed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from narrows.backends import get_backend
from narrows.errors import NarrowsError
from narrows.execute import FinishedJob
from narrows.plan import Plan, canonical_json, grid, plan
from narrows.spec import parse, parse_study
from narrows.store import Result, Store
from narrows.store.read import SUMMARY_TABLE
from narrows.store.studies import counts_in, runs_table
from narrows.store.write import summary_csv

_TIMED = "perf"
"""The part of a summary that another machine measures differently."""
_INFO = ("end_s", "packets", "invalid", "losses")
"""The parts of a run's record, beside its digest, that describe the run itself."""
NEVER = "when, where and with which command it ran"
"""The facts that no repetition can show."""


@dataclass
class Findings:
    """The differences beside the runs, and the parts that weren't compared."""

    differs: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=lambda: [NEVER])


def check_result(result: Result) -> Findings:
    """Compares a result's manifest, specification and summary.csv with its scenarios."""
    found = Findings()
    _check_manifest(result, found)
    engine = get_backend(str(result.manifest["backend"]))
    try:
        spec = parse(result.spec, result.name, controls=engine.capabilities().ccas).spec
        planned = plan(spec, engine.engine_of, engine.name)
    except NarrowsError as error:
        found.left_out.append(f"spec.toml, which can't be read here ({error})")
    else:
        found.differs.extend(_against_plan(result, planned))
    table = result.path / SUMMARY_TABLE
    if table.is_file() and table.read_bytes() != summary_csv(result.summary["runs"]).encode():
        found.differs.append("summary.csv: not the table of summary.json")
    present = [path.name for path in sorted(result.path.iterdir()) if path.suffix in _PICTURES]
    found.left_out.extend(present)
    found.left_out.extend(
        str(path.relative_to(result.path)) for trial in result.trials for path in trial.captures
    )
    return found


_PICTURES = (".html", ".png", ".svg")


def _check_manifest(result: Result, found: Findings) -> None:
    for entry, trial in zip(result.manifest["trials"], result.trials, strict=True):
        if entry["seed"] != trial.scenario["seed"]:
            found.differs.append(f"trial {trial.number}: the manifest's seed isn't the scenario's")
    if len(result.summary["runs"]) != len(result.trials):
        found.differs.append(f"summary.json: {len(result.summary['runs'])} runs")


def _against_plan(result: Result, planned: Plan) -> Iterator[str]:
    if len(planned.trials) != len(result.trials):
        yield f"spec.toml: {len(planned.trials)} trials, {len(result.trials)} kept"
        return
    for wanted, trial in zip(planned.trials, result.trials, strict=True):
        if canonical_json(wanted.scenario) != canonical_json(trial.scenario):
            yield f"spec.toml: a scenario that differs from that of trial {trial.number}"
    for name, value in (("name", planned.name), ("groups", list(planned.groups))):
        if result.manifest[name] != value:
            yield f"manifest.json: {name} {result.manifest[name]!r}, {value!r} in spec.toml"
    engines = {trial.info.engine for trial in result.trials}
    engine = get_backend(str(result.manifest["backend"]))
    same = engines == {engine.engine_of(planned.trials[0].scenario)}
    if same and result.manifest["hash"] != planned.hash:
        yield "manifest.json: a hash that differs from that of its scenarios"


def check_store(store: Store, folder: Path) -> Findings:
    """Compares the tables of the studies of a store in a `folder` with their specifications."""
    found = Findings()
    for stem, record in store.studies().items():
        try:
            found.differs.extend(_of_study(store, stem, record, found.left_out))
        except NarrowsError as error:
            found.left_out.append(f"study {stem}, which can't be read here ({error})")
    pages = sorted(path.name for path in folder.glob("*.html"))
    found.left_out.extend(pages)
    return found


def _of_study(
    store: Store, stem: str, record: Mapping[str, Any], left_out: list[str]
) -> Iterator[str]:
    kept = store.study_runs(stem)
    engine = get_backend(str(record["backend"]))
    study = parse_study(str(record["spec"]), str(record["name"]))
    cells = grid(study, engine.engine_of, engine.name, engine.capabilities().ccas)
    if record["engine"] != engine.engine:
        left_out.append(f"study {stem}: the hashes of its runs, which another engine made")
        return
    if not runs_table(cells, counts_in(kept)).equals(kept):
        yield f"study {stem}: runs that its specification does not have"
    missing = len(set(kept["run"]) - store.keys())
    if missing:
        left_out.append(f"study {stem}: {missing} of {kept.height} runs, which aren't there")


def check_run(
    info: Mapping[str, Any], summary: Mapping[str, Any] | None, made: FinishedJob
) -> Iterator[str]:
    """Yields what a run's record and summary say that its repetition doesn't."""
    repeated = made.result.info
    for name in _INFO:
        kept, now = info.get(name), getattr(repeated, name)
        if _as_json(kept) != _as_json(now):
            yield f"{name}: {kept} kept, {now} now"
    if summary is not None:
        yield from _different(_without_times(summary), _without_times(made.summary), "summary.json")


def _without_times(summary: Mapping[str, Any]) -> Any:  # noqa: ANN401 (any JSON)
    return _as_json({name: value for name, value in summary.items() if name != _TIMED})


def _as_json(value: object) -> Any:  # noqa: ANN401 (any JSON)
    return json.loads(json.dumps(value))


def _different(kept: Any, now: Any, place: str) -> Iterator[str]:  # noqa: ANN401 (any JSON)
    """Yields the first place where two documents differ."""
    if isinstance(kept, dict) and isinstance(now, dict):
        for name in sorted({*kept, *now}):
            inner = f"{place}.{name}" if "." in place else f"{place}: {name}"
            yield from _first(_different(kept.get(name), now.get(name), inner))
    elif isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        for number, (one, other) in enumerate(zip(kept, now, strict=True)):
            yield from _first(_different(one, other, f"{place}[{number}]"))
    elif kept != now:
        yield f"{place}: {kept} kept, {now} now"


def _first(found: Iterator[str]) -> Iterator[str]:
    one = next(found, None)
    if one is not None:
        yield one
