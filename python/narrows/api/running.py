"""Running from Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from narrows.api.results import RunResult, SweepResult, of_run
from narrows.api.tables import Scenario
from narrows.spec import Override, SpecificationText
from narrows.spec.permission import EVERYTHING, allowing

if TYPE_CHECKING:
    from narrows.execute import Watcher
    from narrows.store import Place

Source = Scenario | Mapping[str, Any] | str | Path
"""A scenario, the document of one as a mapping, or the path of a specification."""


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

    `overrides` are texts such as "path.buffer=4bdp". The results go to the
    directory `out`, or below `narrows-results`; the same experiment isn't run
    again unless `force` is given. `watcher` gets the progress. A file may name
    controls in Python whose code is in `allow_code`, files or directories. Raises
    InputError for bad input, with its place and what would be right.
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
    """Runs every combination of a study that isn't stored yet, and returns all results.

    A list or a `Range` in place of a value is an axis. The runs go to the store
    `out`, a directory or a URL; `filters` such as "path.buffer=1bdp,2bdp" choose
    combinations; `jobs` run at once (as many as there are cores), or on the Dask
    cluster at the address `cluster`. Runs that fail are in `failures` of the
    result and don't stop the others. `allow_code` is as for `run`. Raises InputError
    for bad input.
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
    """Controls that a program names in its own scenario are allowed; those in a file aren't."""
    written = isinstance(source, Scenario | Mapping)
    return allowing([EVERYTHING] if written else places)


def _name_overrides(overrides: Iterable[str | Override]) -> list[Override]:
    """Overrides whose errors name the argument of the call, not an option of the command."""
    return [o if isinstance(o, Override) else Override(o, "overrides") for o in overrides]


def _source(scenario: Source) -> str | Path | SpecificationText:
    if isinstance(scenario, Scenario):
        return SpecificationText.document(scenario.as_table())
    if isinstance(scenario, Mapping):
        return SpecificationText.document(scenario)
    return scenario
