"""Turns a study into a list of runs, all checked before the first one begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.backends import Backend, get_backend
from narrows.plan import Cell, Grid, Selection, Trial, grid
from narrows.spec import Override, SpecificationText, load_study
from narrows.spec.located import with_lines
from narrows.store import RESULTS, Place, location, slug
from narrows.sweeps.checks import with_columns


@dataclass(frozen=True)
class SweepJob:
    """A checked study on a back end, and its selected runs."""

    grid: Grid
    backend: Backend
    directory: Place
    runs: tuple[tuple[Cell, Trial], ...]
    filters: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The selected combinations."""
        return tuple({cell.number: cell for cell, _ in self.runs}.values())

    @property
    def name(self) -> str:
        """The name of the study."""
        return self.grid.study.name


def default_directory(name: str) -> Path:
    """Returns the directory for the results of a study if none is given."""
    return Path(RESULTS) / f"{slug(name)}.sweep"


def prepare(
    spec: str | Path | SpecificationText,
    overrides: Iterable[str | Override] = (),
    *,
    filters: Sequence[str] = (),
    backend: str = "sim",
    out: Place | None = None,
    asked: str = "--filter",
) -> SweepJob:
    """Reads a study and checks every combination; writes nothing.

    Raises InputError; `asked` is the name of the caller's filters.
    """
    engine = get_backend(backend)
    study = load_study(spec, overrides)
    cells = grid(study, engine.engine_of, engine.name, engine.capabilities().ccas)
    wanted = Selection(study, filters, asked)
    runs = tuple((cell, trial) for cell, trial in cells.runs() if wanted.takes(cell.values))
    if not runs:
        raise wanted.none()
    with with_lines(spec):
        cells = with_columns(cells)
    directory = location(out) if out is not None else default_directory(study.name)
    return SweepJob(cells, engine, directory, runs, tuple(filters))
