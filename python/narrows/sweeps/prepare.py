"""Turns a study into a list of runs, all checked before the first one begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from narrows.backends import Backend, get_backend
from narrows.plan import Cell, Grid, Selection, Trial, grid
from narrows.spec import Override, SpecificationText, load_study
from narrows.spec.located import with_lines
from narrows.store import RESULTS, Place, location, slug
from narrows.sweeps.checks import with_columns


@dataclass(frozen=True)
class SweepJob:
    """A checked study on a back end, and its selected combinations."""

    grid: Grid
    backend: Backend
    directory: Place
    cells: tuple[Cell, ...]
    filters: tuple[str, ...] = ()

    @property
    def runs(self) -> tuple[tuple[Cell, Trial], ...]:
        """The runs of these combinations: a new tuple, since it takes as much memory as a plan."""
        return tuple(replace(self.grid, cells=self.cells).runs())

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
    whole = grid(study, engine.engine_of, engine.name, engine.capabilities().ccas)
    wanted = Selection(study, filters, asked)
    cells = tuple(cell for cell in whole.cells if wanted.takes(cell.values))
    if not cells:
        raise wanted.none()
    with with_lines(spec):
        whole = with_columns(whole)
    directory = location(out) if out is not None else default_directory(study.name)
    return SweepJob(whole, engine, directory, cells, tuple(filters))
