"""Turns a study into a list of runs, all checked before the first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from narrows.backends import Backend, get_backend
from narrows.errors import InputError
from narrows.plan import Cell, Grid, Trial, grid
from narrows.spec import Override, Written, load_study
from narrows.spec.located import with_lines
from narrows.spec.registry import also_known
from narrows.spec.suggest import one_of, quote
from narrows.spec.values import exact_value, spelled
from narrows.store import RESULTS, Place, location, slug
from narrows.sweeps.promises import check_promises

_EXAMPLE = "AXIS=VALUE, such as path.buffer=1bdp,"


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


def prepare(
    spec: str | Path | Written,
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
    with also_known(engine.capabilities().ccas):
        cells = grid(study, engine.engine_of, engine.name)
    wanted = _Filter(cells, filters, asked)
    runs = tuple((cell, trial) for cell, trial in cells.runs() if wanted.takes(cell))
    if not runs:
        remedy = "a filter that some combination meets"
        raise InputError.at(asked, "no combination that meets all", remedy)
    with with_lines(spec):
        check_promises(cells)
    directory = location(out) if out is not None else Path(RESULTS) / f"{slug(study.name)}.sweep"
    return SweepJob(cells, engine, directory, runs, tuple(filters))


class _Filter:
    """`path.buffer=1bdp,2bdp`: one of these values; several filters must all be met."""

    def __init__(self, cells: Grid, texts: Iterable[str], asked: str) -> None:
        self._cells, self._asked = cells, asked
        self._wanted = [self._read(text) for text in texts]

    def takes(self, cell: Cell) -> bool:
        """Whether a combination meets every filter."""
        return all(exact_value(cell.values[place]) in values for place, values in self._wanted)

    def _read(self, text: str) -> tuple[str, set[object]]:
        written, equals, values = text.partition("=")
        if not equals:
            raise InputError.at(self._asked, quote(text), _EXAMPLE)
        place = spelled(written)
        axes = [axis.place for axis in self._cells.study.axes]
        if place is None or place not in axes:
            found = f"{quote(written)}, which is no axis of the study"
            raise InputError.at(self._asked, found, one_of(written, axes))
        known = {exact_value(c.values[place]): str(c.values[place]) for c in self._cells.cells}
        wanted = [value.strip() for value in values.split(",")]
        for value in wanted:
            if exact_value(value) not in known:
                found = f"{quote(value)}, which is no value of {place}"
                raise InputError.at(self._asked, found, one_of(value, list(known.values())[:20]))
        return place, {exact_value(value) for value in wanted}
