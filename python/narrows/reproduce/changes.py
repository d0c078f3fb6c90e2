"""Changes of a figure's conditions: negative controls, rivals, other testbeds, other seeds.

Each is run and judged in the same way (`judgements`). The changes that must make a claim fail are
data. A rule under which a claim always passes proves nothing, so every claim names changes that
make it false, such as Reno in BBR's place, and its checks must notice them.
"""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from narrows.reproduce.exhibit import Case
from narrows.reproduce.library import DATA, per_library
from narrows.reproduce.study_files import control_tables

Spec = dict[str, Any]


SEEDS_APART = 1000
"""The distance between the first seeds of two sets; no condition has as many trials."""


@dataclass(frozen=True, slots=True)
class ConditionChange:
    """A change of conditions; data/changes.toml says what its fields mean.

    `edit` changes a specification in ways that data can't express.
    """

    name: str
    words: str
    replace: Mapping[str, str] = field(default_factory=dict)
    set: Mapping[str, Any] = field(default_factory=dict)
    options: bool = True
    where: Mapping[str, Any] = field(default_factory=dict)
    edit: Callable[[Spec], None] | None = None

    def of(self, case: Case) -> Case:
        """Returns the case with the change; the same case if the change doesn't concern it."""
        if any(case.key.get(key) != value for key, value in self.where.items()):
            return case
        spec = copy.deepcopy(dict(case.spec))
        self._replace(spec)
        for place, value in self.set.items():
            put(spec, place, value)
        if self.edit is not None:
            self.edit(spec)
        return replace(case, spec=spec)

    def _replace(self, spec: Spec) -> None:
        unnamed = [flow["cca"] for flow in spec["flows"] if "name" not in flow]
        numbers: dict[str, int] = {}
        for flow in spec["flows"]:
            cca = flow["cca"]
            if not self.options:
                flow.pop("options", None)
            if cca not in self.replace:
                continue
            numbers[cca] = numbers.get(cca, 0) + 1
            alone = unnamed.count(cca) == 1
            flow.setdefault("name", cca if alone else f"{cca}-{numbers[cca]}")
            flow["cca"] = self.replace[cca]
            flow.pop("options", None)


def put(spec: Spec, place: str, value: Any) -> None:  # noqa: ANN401 (a value of TOML)
    """Sets a value: "path.loss", "flows.NAME.size" or "flows.*.size", or all "flows"."""
    table, *path = place.split(".")
    if not path:
        spec[table] = copy.deepcopy(value)
        return
    for target in _tables(spec, table, path):
        target[path[-1]] = copy.deepcopy(value)


def _tables(spec: Spec, table: str, path: list[str]) -> Iterator[Spec]:
    """Yields the tables that a place refers to: one, or those of some flows."""
    if table != "flows":
        yield _below(spec, [table, *path[:-1]])
        return
    for flow in spec["flows"]:
        if path[0] in ("*", flow.get("name")):
            yield _below(flow, path[1:-1])


def _below(table: Spec, names: list[str]) -> Spec:
    """Returns the table below another by the names on the way; a missing one is made."""
    for name in names:
        table = table.setdefault(name, {})
    return table


@per_library
def changes() -> dict[str, ConditionChange]:
    """Returns all changes by name.

    These are the changes that every study can name, and those written below claims.
    """
    return shared_changes() | {own["name"]: ConditionChange(**own) for own in control_tables()}


@cache
def shared_changes() -> dict[str, ConditionChange]:
    """Returns the changes of negative controls and rivals that every study can name."""
    entries = tomllib.loads((DATA / "changes.toml").read_text(encoding="utf-8"))
    return {name: ConditionChange(name, **entry) for name, entry in entries.items()}


def seeds(number: int) -> ConditionChange:
    """Returns a set of seeds, disjoint from that of every other number; 0 has the first seeds."""

    def edit(spec: Spec) -> None:
        spec["run"]["seed"] = spec["run"].get("seed", 1) + number * SEEDS_APART

    return ConditionChange(
        f"seeds {number}", f"seeds from {1 + number * SEEDS_APART} on", edit=edit
    )


def touches(change: ConditionChange, cases: Sequence[Case]) -> bool:
    """Returns True if a change alters any of the conditions."""
    return any(change.of(case).spec != case.spec for case in cases)


def merges(change: ConditionChange, cases: Sequence[Case]) -> bool:
    """Returns True if a change makes conditions equal that differ without it.

    A comparison of the two then compares a condition with itself.
    """
    return _distinct([change.of(case) for case in cases]) < _distinct(cases)


def _distinct(cases: Sequence[Case]) -> int:
    """Counts the different specifications, regardless of their flows' names."""
    return len({json.dumps(_nameless(case.spec), sort_keys=True) for case in cases})


def _nameless(spec: Mapping[str, Any]) -> Spec:
    flows = [
        {key: value for key, value in flow.items() if key != "name" and value != {}}
        for flow in spec["flows"]
    ]
    return {**spec, "flows": flows}
