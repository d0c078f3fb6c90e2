"""A study: a specification in which some places have several values.

A list anywhere in a specification is an axis, and so is a range; the study is
every combination, unless `[sweep]` says otherwise:

    [sweep]
    design = "lhs"                      # or "random"; "grid" by default
    budget = 200                        # combinations of a random or Latin-hypercube design
    seed = 1                            # of the design, not of the runs
    zip = [["path.rate", "path.rtt"]]   # these go together, value by value

    until = { metric = "bbr.share", within = 0.02, max_trials = 30 }   # more trials as needed

    [sweep.axes]                        # axes that don't fit in their place
    "path.loss" = {from = 1e-5, to = 0.1, count = 9, scale = "log"}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrows.errors import Problem, SpecError
from narrows.spec import models
from narrows.spec.expect import Until, parse_until
from narrows.spec.fields import MAX_SEED, describe
from narrows.spec.overrides import (
    Key,
    Override,
    apply_overrides,
    dotted,
    parse_override,
    parse_place,
)
from narrows.spec.ranges import Range, is_range, parse_range
from narrows.spec.reading import Written, parse_toml, read_file, validate
from narrows.spec.suggest import nearest, one_of
from narrows.spec.toml import to_toml
from narrows.spec.units import quote

DESIGNS = ("grid", "random", "lhs")
SWEEP_KEYS = ("design", "budget", "seed", "zip", "axes", "until")
MAX_CELLS = 1_000_000
"""More combinations than this are a slip."""
_SINGLE: dict[Key, str] = {
    ("name",): "one name",
    ("run", "trials"): "one number of trials for every combination",
}


@dataclass(frozen=True)
class Axis:
    """A place with its values; without any, they are drawn from the range."""

    key: Key
    values: tuple[object, ...]
    range: Range | None = None

    @property
    def place(self) -> str:
        """As people write it: `flows[0].cca`."""
        return dotted(self.key)


@dataclass(frozen=True)
class Study:
    """A specification with axes: `groups` holds those that go together.

    `budget` is the number of combinations of a design that draws them.
    """

    name: str
    base: Mapping[str, Any]
    groups: tuple[tuple[Axis, ...], ...]
    design: str
    budget: int
    seed: int
    text: str
    file: str | None
    changes: tuple[Override, ...]
    until: Until | None = None

    @property
    def axes(self) -> tuple[Axis, ...]:
        """All axes in their order."""
        return tuple(axis for group in self.groups for axis in group)

    def spec(self, values: Mapping[Key, object]) -> models.Spec:
        """The specification of one combination; raises SpecError if it can't run."""
        chosen = [Override(key, value, "sweep") for key, value in values.items()]
        raw = apply_overrides(dict(self.base), chosen)
        return validate(raw, self.file, list(self.changes))


def load_study(path: str | Path | Written, overrides: Iterable[str | Override] = ()) -> Study:
    """Reads the study in the file at `path`, or in a text; raises SpecError with every problem.

    The values themselves are checked when combinations are made of them.
    """
    if isinstance(path, Written):
        return parse_study(path.text, path.name, overrides)
    file = Path(path)
    return parse_study(read_file(file), file.stem, overrides, file=str(path))


def parse_study(
    text: str, name: str, overrides: Iterable[str | Override] = (), file: str | None = None
) -> Study:
    """Reads a study given as TOML text; `name` stands in for a missing `name`."""
    original = parse_toml(text, file)
    changes = [parse_override(o) if isinstance(o, str) else o for o in overrides]
    raw = apply_overrides(original, changes)
    raw = raw if "name" in raw else {"name": name, **raw}
    return _Reader(raw, file, changes).study(text if raw == original else to_toml(raw))


class _Reader:
    """Reads a study, and gathers what is wrong with it."""

    def __init__(self, raw: dict[str, Any], file: str | None, changes: list[Override]) -> None:
        self._raw, self._file, self._changes = raw, file, changes
        self._problems: list[Problem] = []

    def study(self, text: str) -> Study:
        sweep = self._raw.get("sweep", {})
        if not isinstance(sweep, Mapping):
            self._wrong("sweep", describe(sweep), "a table, [sweep],")
            self._stop()
        base = {key: value for key, value in self._raw.items() if key != "sweep"}
        self._sweep_keys(sweep)
        design, budget, seed = self._design(sweep)
        axes = self._axes(base, sweep.get("axes", {}))
        self._drawn(axes, design)
        groups = self._groups(axes, sweep.get("zip", []))
        until = None
        if "until" in sweep:
            until, wrong = parse_until(sweep["until"], "sweep.until", self._file)
            self._problems.extend(wrong)
        self._stop()
        name = str(base["name"])
        changes = tuple(self._changes)
        return Study(name, base, groups, design, budget, seed, text, self._file, changes, until)

    def _wrong(self, place: str, found: str, remedy: str) -> None:
        self._problems.append(Problem(place, found, remedy, self._file))

    def _stop(self) -> None:
        if self._problems:
            raise SpecError(self._problems)

    def _sweep_keys(self, sweep: Mapping[str, Any]) -> None:
        for key in sweep:
            if key not in SWEEP_KEYS:
                self._wrong(f"sweep.{key}", "an unknown key", _sweep_key(key))

    def _design(self, sweep: Mapping[str, Any]) -> tuple[str, int, int]:
        design = sweep.get("design", "grid")
        if design not in DESIGNS:
            self._wrong("sweep.design", describe(design), one_of(str(design), DESIGNS))
            design = "grid"
        if design == "grid" and "budget" in sweep:
            self._wrong("sweep.budget", "a budget for a grid", '`design = "lhs"` or "random"')
        elif design != "grid" and "budget" not in sweep:
            self._wrong("sweep.budget", "nothing", "the number of combinations, such as 100,")
        budget = self._whole(sweep, "budget", 1, MAX_CELLS)
        return design, budget, self._whole(sweep, "seed", 1, MAX_SEED, least=0)

    def _whole(
        self, sweep: Mapping[str, Any], key: str, default: int, most: int, least: int = 1
    ) -> int:
        value = sweep.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            self._wrong(f"sweep.{key}", describe(value), f"a whole number from {least} to {most}")
            return default
        return value

    def _axes(self, base: dict[str, Any], elsewhere: object) -> list[Axis]:
        """Those in their places, in the order of the file, then those of `[sweep.axes]`."""
        found = dict(_lists(base))
        if not isinstance(elsewhere, Mapping):
            self._wrong("sweep.axes", describe(elsewhere), "a table, [sweep.axes],")
            elsewhere = {}
        fixed = {change.key for change in self._changes}
        for key, value, written in _leaves(elsewhere, ()):
            where = f"sweep.axes.{written}"
            if not key or isinstance(key[0], int):
                self._wrong(where, quote(written), "a place such as path.rate or flows[0].cca")
            elif key in found:
                self._wrong(where, f"a second axis at {dotted(key)}", "one of the two")
            elif key not in fixed:
                found[key] = value if isinstance(value, list) or is_range(value) else [value]
        axes = [self._axis(key, value) for key, value in found.items()]
        return [axis for axis in axes if axis is not None]

    def _axis(self, key: Key, value: object) -> Axis | None:
        place = dotted(key)
        if key in _SINGLE:
            self._wrong(place, describe(value), _SINGLE[key])
        elif isinstance(value, Mapping):
            try:
                span = parse_range(value, place, self._file)
            except SpecError as error:
                self._problems.extend(error.problems)
                return None
            return Axis(key, span.values(), span)
        elif isinstance(value, list):
            return self._listed(key, place, value)
        return None

    def _listed(self, key: Key, place: str, values: list[object]) -> Axis | None:
        before = len(self._problems)
        if not values:
            self._wrong(place, "an empty list", "at least one value")
        for index, value in enumerate(values):
            if isinstance(value, list | Mapping):
                self._wrong(f"{place}[{index}]", describe(value), "a single value")
        same = len(self._problems) == before
        return Axis(key, tuple(values)) if same else None

    def _drawn(self, axes: list[Axis], design: str) -> None:
        for axis in axes:
            if design == "grid" and not axis.values:
                remedy = 'a `count` or a `step` (or `sweep.design = "lhs"` and a budget)'
                self._wrong(axis.place, "a range without values", remedy)

    def _groups(self, axes: list[Axis], zips: object) -> tuple[tuple[Axis, ...], ...]:
        """Axes that are zipped stand where the first of them stands."""
        known = {axis.key: axis for axis in axes}
        leaders: dict[Key, list[Axis]] = {}
        followers: set[Key] = set()
        if not isinstance(zips, list):
            self._wrong("sweep.zip", describe(zips), _ZIP)
            zips = []
        for index, entry in enumerate(zips):
            members = self._zip(f"sweep.zip[{index}]", entry, known, followers | leaders.keys())
            if members:
                first, *rest = sorted(members, key=axes.index)
                leaders[first.key] = [first, *rest]
                followers.update(axis.key for axis in rest)
        rest = [axis for axis in axes if axis.key not in followers]
        return tuple(tuple(leaders.get(axis.key, [axis])) for axis in rest)

    def _zip(
        self, place: str, entry: object, known: Mapping[Key, Axis], taken: set[Key]
    ) -> list[Axis]:
        """The axes that one entry of `zip` names; none if something is wrong with it."""
        if not isinstance(entry, list) or len(entry) < 2:
            self._wrong(place, describe(entry), _ZIP)
            return []
        members = []
        for text in entry:
            key = parse_place(text) if isinstance(text, str) else None
            axis = known.get(key) if key is not None else None
            if axis is None:
                remedy = one_of(str(text), [axis.place for axis in known.values()])
                self._wrong(place, f"{describe(text)}, which is no axis", remedy)
            elif axis in members or axis.key in taken:
                self._wrong(place, f"{describe(text)} twice", "each axis once")
            else:
                members.append(axis)
        lengths = {axis.place: len(axis.values) for axis in members}
        if len(members) == len(entry) and len(set(lengths.values())) > 1:
            found = " and ".join(f"{count} values at {at}" for at, count in lengths.items())
            self._wrong(place, found, "as many values at each")
        elif members and not all(lengths.values()):
            self._wrong(place, "a range without values", "a range with a `count` or a `step`")
        return members if len(members) == len(entry) else []


_ZIP = 'a list of lists of places, such as [["path.rate", "path.rtt"]],'


def _sweep_key(key: str) -> str:
    """The remedy for an unknown key of `[sweep]`: maybe a place that belongs under `axes`."""
    if nearest(key, SWEEP_KEYS) is None and key.partition(".")[0] in models.Spec.model_fields:
        return f"`sweep.axes.{key}`"
    return one_of(key, SWEEP_KEYS)


def _lists(base: Mapping[str, Any]) -> Iterator[tuple[Key, object]]:
    """Every list and range of a document; `flows` itself is a list by nature."""
    for key, value in base.items():
        if key == "flows" and isinstance(value, list):
            for index, entry in enumerate(value):
                if isinstance(entry, Mapping):
                    yield from _within(entry, ("flows", index))
        elif key == "name" and isinstance(value, list):
            yield ("name",), value
        elif isinstance(value, Mapping):
            yield from _within(value, (key,))


def _within(table: Mapping[str, Any], way: Key) -> Iterator[tuple[Key, object]]:
    for key, value in table.items():
        if _is_plain_list((*way, key)):
            for index, entry in enumerate(value if isinstance(value, list) else ()):
                if isinstance(entry, Mapping):
                    yield from _within(entry, (*way, key, index))
        elif isinstance(value, list) or is_range(value):
            yield (*way, key), deepcopy(value)
        elif isinstance(value, Mapping):
            yield from _within(value, (*way, key))


def _is_plain_list(key: Key) -> bool:
    """Whether a list is no axis but what belongs at this place."""
    in_flow = len(key) == 3 and key[0] == "flows" and key[2] == "links"
    return in_flow or key in (("path", "links"), ("path", "impairments"))


def _leaves(table: Mapping[str, Any], way: Key) -> Iterator[tuple[Key, object, str]]:
    """The axes of `[sweep.axes]`, whether written `"path.rate" = ...` or `path.rate = ...`."""
    for written, value in table.items():
        step = parse_place(written)
        key = (*way, *step) if step is not None else ()
        if step is not None and isinstance(value, Mapping) and not is_range(value):
            yield from _leaves(value, key)
        else:
            yield key, value, dotted((*way, written))
