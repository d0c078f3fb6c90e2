"""One side of a diff: the runs of a results directory or of a sweep, as rows of numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from narrows.backends import OBSERVED
from narrows.errors import InputError
from narrows.figures.names import setting, title_of, value_words
from narrows.figures.sweeps.view import classes_of, controls_of
from narrows.late import pl
from narrows.spec import registry
from narrows.spec.values import same_value, values_in
from narrows.store import Place, Result, is_store, location, open_result, open_store
from narrows.sweeps.export import frame

RUN, SWEEP = "run", "sweep"
MOST_IN_TITLE = 3
"""With more changes, the title only gives their number."""


@dataclass(frozen=True)
class Side:
    """One side's results: `rows` has a row for each run.

    `axes` are the varying axes of a sweep; `classes` are the classes of flows, by the first flow of
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
    controls: Mapping[str, str | None] = field(default_factory=dict)
    """The control of each class; None where it has several."""

    @property
    def backend(self) -> str:
        """The name of the back end."""
        return self.engine.partition(" ")[0]

    @property
    def draws_transfers(self) -> bool:
        """True if the seed of a trial decides which transfers there are, and when."""
        return any(
            _WORKLOAD.fullmatch(place) and value in _DRAWN for place, value in self.spec.items()
        )

    @property
    def is_measurement(self) -> bool:
        """True for a measurement, which happened once."""
        return self.result is not None and self.result.manifest["backend"] in OBSERVED


def read(place: Place, label: str) -> Side:
    """Reads the results at a place as a side called `label`.

    Raises InputError if there are none.
    """
    return _sweep(place, label) if is_store(place) else _run(place, label)


def _run(place: Place, label: str) -> Side:
    result = open_result(str(location(place)))
    engine = f"{result.manifest['backend']} {result.manifest['engine']}"
    classes = list(dict.fromkeys(result.groups))
    rows, spec = frame(place, "summary"), values_in(result.spec)
    controls = controls_of(frame(place, "flows"))
    return Side(label, place, RUN, result.name, engine, spec, rows, (), classes, result, controls)


def _sweep(place: Place, label: str) -> Side:
    studies = list(open_store(place).studies().values())
    if len(studies) != 1:
        names = ", ".join(str(record["name"]) for record in studies) or "none"
        raise InputError.at(str(place), f"{len(studies)} studies ({names})", "a store with one")
    [record] = studies
    rows = frame(place, "summary")
    axes = [axis for axis in record["axes"] if rows[axis].n_unique() > 1]
    engine = f"{record['backend']} {record['engine']}"
    name, spec = str(record["name"]), values_in(record["spec"])
    controls = controls_of(frame(place, "flows"))
    return Side(
        label, place, SWEEP, name, engine, spec, rows, axes, classes_of(rows), controls=controls
    )


def changes(first: Side, second: Side) -> list[tuple[str, str, str]]:
    """Returns every place of the specification that differs, with both values or defaults."""
    places = list(dict.fromkeys([*first.spec, *second.spec]))
    measured = first.is_measurement != second.is_measurement
    found = [p for p in places if p != "name" and not (measured and _UNMEASURED.fullmatch(p))]
    pairs = ((p, _spell_value(p, first), _spell_value(p, second)) for p in found)
    written = [
        (p, one, two)
        for p, one, two in pairs
        if not same_value(_strip_remark(one), _strip_remark(two))
    ]
    if first.engine != second.engine:
        written.append(("engine", first.engine, second.engine))
    return written


_UNMEASURED = re.compile(r"run\.(trials|seed|sample_interval)|host\..*|flows\[\d+\]\.(name|stop)")
"""Places that say how a run was made, which no measurement has; a measured flow just ends."""


def title(first: Side, second: Side, found: Sequence[tuple[str, str, str]]) -> str:
    """Returns a title such as "Drop-tail → FQ-CoDel"; with many changes, it gives their number."""
    told = [(place, one, two) for place, one, two in found if place != "engine"] or list(found)
    if not told:
        return f"{first.name}: the same specification twice"
    if len(told) > MOST_IN_TITLE:
        return f"{first.name} \N{RIGHTWARDS ARROW} {second.name}: {len(told)} changes"
    return ", ".join(_change(*one) for one in told)


def _change(place: str, one: str, two: str) -> str:
    if place == "engine":
        return f"engine {one} \N{RIGHTWARDS ARROW} {two}"
    one, two = _strip_remark(one), _strip_remark(two)
    before, after = (value_words(place, value) for value in (one, two))
    plain = f"{before} \N{RIGHTWARDS ARROW} {after}"
    return plain if setting(place, one) == before else f"{title_of(place)}: {plain}"


_WORKLOAD = re.compile(r"flows\[\d+\]\.workload\.kind")
_DRAWN = ("poisson", "arrivals", "on_off", "requests", "web")
"""Workloads whose times or sizes are drawn from the seed."""
_BY_DEFAULT = " (default)"
_DEFAULTS = {
    "path.queue": "droptail", "path.loss": "0", "flows.count": "1", "flows.start": "0s",
}  # fmt: skip
"""Defaults that no registry has."""
_OF_FLOW = re.compile(r"flows\[\d+\]")


def _strip_remark(value: str) -> str:
    """A spelled value without the remark that it is the default."""
    return value.removesuffix(_BY_DEFAULT)


def _spell_value(place: str, side: Side) -> str:
    """Returns the value at a place in words; if it is left out there, the default."""
    value = side.spec.get(place)
    if value is not None:
        return str(value)
    default = _default(place, side.spec)
    return "default" if default is None else f"{default}{_BY_DEFAULT}"


def _default(place: str, spec: Mapping[str, object]) -> str | None:
    """Returns the default of a place; None if it isn't known."""
    owner, _, key = place.rpartition(".")
    if owner.endswith(".options"):
        entry = registry.ccas().get(str(spec.get(f"{owner.removesuffix('.options')}.cca")))
    elif owner == "path.queue" and key != "kind":
        entry = registry.queues().get(str(spec.get("path.queue.kind", spec.get("path.queue"))))
    else:
        return _DEFAULTS.get(_OF_FLOW.sub("flows", place.removesuffix(".kind")))
    known = (one for one in (entry or {}).get("parameters", ()) if one["name"] == key)
    return next((str(one["shown"]) for one in known), None)


def pair(first: Side, second: Side) -> list[tuple[str, str]]:
    """Returns the corresponding classes: those of the same name, then the others in order.

    A class whose control was changed has another name, but contains the same flows.
    """
    same = [name for name in first.classes if name in second.classes]
    rest = [[n for n in side.classes if n not in same] for side in (first, second)]
    others = dict(zip(rest[0], rest[1], strict=False)) if len(rest[0]) == len(rest[1]) else {}
    pairs = {name: name for name in same} | others
    return [(name, pairs[name]) for name in first.classes if name in pairs]
