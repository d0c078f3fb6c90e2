"""One side of a diff: the runs of a results directory or of a sweep, as rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from narrows.backends import BACKENDS
from narrows.errors import InputError
from narrows.figures.names import setting, title_of, value_words
from narrows.spec.values import values_in
from narrows.store import Place, Result, is_store, location, open_result, open_store

if TYPE_CHECKING:
    import polars as pl

RUN, SWEEP = "run", "sweep"
OBSERVED = tuple(entry.name for entry in BACKENDS.values() if entry.observed)
MOST_IN_TITLE = 3
"""More changes aren't listed in the title."""


@dataclass(frozen=True)
class Side:
    """The data of one side: `rows` has a row for each run.

    `axes` are the varying axes of a sweep; `classes` the classes of flows, by the first flow of
    each; `result` is given for a run.
    """

    label: str
    place: Place
    kind: str
    name: str
    engine: str
    spec: Mapping[str, object]
    rows: pl.DataFrame
    axes: Sequence[str]
    classes: Sequence[str]
    result: Result | None = None

    @property
    def is_measurement(self) -> bool:
        """Whether it is a measurement, which happened once."""
        return self.result is not None and self.result.manifest["backend"] in OBSERVED


def read(place: Place, label: str) -> Side:
    """The results at a place as a side called `label`; raises InputError if there are none."""
    return _sweep(place, label) if is_store(place) else _run(place, label)


def _run(place: Place, label: str) -> Side:
    from narrows.sweeps.export import frame

    result = open_result(str(location(place)))
    engine = f"{result.manifest['backend']} {result.manifest['engine']}"
    classes = list(dict.fromkeys(result.groups))
    rows, spec = frame(place, "summary"), values_in(result.spec)
    return Side(label, place, RUN, result.name, engine, spec, rows, (), classes, result)


def _sweep(place: Place, label: str) -> Side:
    from narrows.figures.sweeps.view import classes_of
    from narrows.sweeps.export import frame

    studies = list(open_store(place).studies().values())
    if len(studies) != 1:
        names = ", ".join(str(record["name"]) for record in studies) or "none"
        raise InputError.at(str(place), f"{len(studies)} studies ({names})", "a store with one")
    [record] = studies
    rows = frame(place, "summary")
    axes = [axis for axis in record["axes"] if rows[axis].n_unique() > 1]
    engine = f"{record['backend']} {record['engine']}"
    name, spec = str(record["name"]), values_in(record["spec"])
    return Side(label, place, SWEEP, name, engine, spec, rows, axes, classes_of(rows))


def changes(first: Side, second: Side) -> list[tuple[str, str, str]]:
    """Every place of the specification that differs, with both values; "default" if left out."""
    places = list(dict.fromkeys([*first.spec, *second.spec]))
    found = [(p, first.spec.get(p), second.spec.get(p)) for p in places if p != "name"]
    written = [(p, _word(one), _word(two)) for p, one, two in found if one != two]
    if first.engine != second.engine:
        written.append(("engine", first.engine, second.engine))
    return written


def title(first: Side, second: Side, found: Sequence[tuple[str, str, str]]) -> str:
    """A title for the difference, such as "Drop-tail → FQ-CoDel"; of many changes their number."""
    told = [(place, one, two) for place, one, two in found if place != "engine"] or list(found)
    if not told:
        return f"{first.name}: the same specification twice"
    if len(told) > MOST_IN_TITLE:
        return f"{first.name} \N{RIGHTWARDS ARROW} {second.name}: {len(told)} changes"
    return ", ".join(_change(*one) for one in told)


def _change(place: str, one: str, two: str) -> str:
    if place == "engine":
        return f"engine {one} \N{RIGHTWARDS ARROW} {two}"
    before, after = (value_words(place, value) for value in (one, two))
    plain = f"{before} \N{RIGHTWARDS ARROW} {after}"
    return plain if setting(place, one) == before else f"{title_of(place)}: {plain}"


def _word(value: object) -> str:
    return "default" if value is None else str(value)


def pair(first: Side, second: Side) -> list[tuple[str, str]]:
    """The corresponding classes: those of the same name, then the others in their order.

    A class whose control was changed has another name, but contains the same flows.
    """
    same = [name for name in first.classes if name in second.classes]
    rest = [[n for n in side.classes if n not in same] for side in (first, second)]
    others = dict(zip(rest[0], rest[1], strict=False)) if len(rest[0]) == len(rest[1]) else {}
    pairs = {name: name for name in same} | others
    return [(name, pairs[name]) for name in first.classes if name in pairs]
