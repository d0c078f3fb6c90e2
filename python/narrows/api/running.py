"""Runs scenarios and studies from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.api.results import RunResult, SweepResult, of_run
from narrows.api.tables import Scenario
from narrows.spec import Override, SpecificationText
from narrows.spec.permission import EVERYTHING, allowing
from narrows.store import Place

if TYPE_CHECKING:
    from narrows.execute import Watcher

Source = Scenario | Mapping[str, Any] | str | Path
"""A scenario, its document as a mapping, or the path of a specification."""


def run(
    scenario: Source,
    overrides: Iterable[str | Override] = (),
    *,
    backend: str = "sim",
    out: str | Path | None = None,
    force: bool = False,
    watcher: Watcher | None = None,
    allow_code: Iterable[str | Path] = (),
) -> RunResult:
    """Runs every trial of a scenario and returns its results.

    `overrides` are texts such as "path.buffer=4bdp". The results go to the directory `out`, or
    below `narrows-results`; the same experiment isn't run again unless `force` is given. `watcher`
    is called with the progress. A specification file may only name Python controls that are in one
    of the files and directories of `allow_code`. Raises InputError for bad input, with its place
    and a remedy.
    """
    from narrows.runner import execute, prepare, unmet

    with _permission(scenario, allow_code):
        job = prepare(_source(scenario), _name_overrides(overrides), backend)
    result = execute(job, out=out, force=force, watcher=watcher).result
    return of_run(result, unmet(job, result))


def sweep(
    study: Source,
    overrides: Iterable[str | Override] = (),
    *,
    filters: Sequence[str] = (),
    backend: str = "sim",
    out: Place | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    watcher: Watcher | None = None,
    allow_code: Iterable[str | Path] = (),
) -> SweepResult:
    """Runs the combinations of a study that aren't stored yet, and returns all results.

    A list or a `Range` in place of a value is an axis. The runs go to the store `out`, a directory
    or a URL; `filters` such as "path.buffer=1bdp,2bdp" choose combinations. `jobs` is the number of
    parallel runs, by default the number of cores; `cluster` is the address of a Dask cluster to use
    instead. Runs that fail are in `failures` of the result and don't stop the others. `allow_code`
    is as for `run`. Raises InputError for bad input.
    """
    from narrows.sweeps import execute, prepare

    with _permission(study, allow_code):
        job = prepare(
            _source(study),
            _name_overrides(overrides),
            filters=filters,
            backend=backend,
            out=out,
            asked="filters",
        )
    done = execute(job, jobs=jobs, cluster=cluster, watcher=watcher)
    return SweepResult(job.directory, done)


def _permission(source: Source, places: Iterable[str | Path]) -> AbstractContextManager[None]:
    """Allows the controls that a program names in its own scenario, but not those of a file."""
    written = isinstance(source, Scenario | Mapping)
    return allowing([EVERYTHING] if written else places)


def _name_overrides(overrides: Iterable[str | Override]) -> list[Override]:
    """Returns overrides whose errors name the argument of the call, not a command-line option."""
    return [o if isinstance(o, Override) else Override(o, "overrides") for o in overrides]


def _source(scenario: Source) -> str | Path | SpecificationText:
    if isinstance(scenario, Scenario):
        return SpecificationText.document(scenario.as_table())
    if isinstance(scenario, Mapping):
        return SpecificationText.document(scenario)
    return scenario
