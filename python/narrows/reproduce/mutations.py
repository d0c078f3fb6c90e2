"""Negative controls, as data: changed conditions under which a claim must fail.

A rule under which a claim always passes says nothing. So every claim names changes after which it
can't be true, such as Reno in BBR's place, and its checks must notice.
"""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from narrows.reproduce.claims import DATA
from narrows.reproduce.exhibit import Case

Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Mutation:
    """A change of conditions; data/mutations.toml says what its fields mean."""

    name: str
    words: str
    replace: Mapping[str, str] = field(default_factory=dict)
    set: Mapping[str, Any] = field(default_factory=dict)
    options: bool = True
    where: Mapping[str, Any] = field(default_factory=dict)

    def of(self, case: Case) -> Case:
        """The case with the change; the same case if the change doesn't concern it."""
        if any(case.key.get(key) != value for key, value in self.where.items()):
            return case
        spec = copy.deepcopy(dict(case.spec))
        self._replace(spec)
        for place, value in self.set.items():
            _set(spec, place, value)
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


def _set(spec: Spec, place: str, value: Any) -> None:  # noqa: ANN401 (a value of TOML)
    table, *path = place.split(".")
    for target in _tables(spec, table, path):
        target[path[-1]] = copy.deepcopy(value)


def _tables(spec: Spec, table: str, path: list[str]) -> Iterator[Spec]:
    """The tables that a place refers to: one, or those of some flows."""
    if table != "flows":
        yield spec[table]
        return
    for flow in spec["flows"]:
        if path[0] in ("*", flow.get("name")):
            yield flow


@cache
def mutations() -> dict[str, Mutation]:
    """All by name."""
    entries = tomllib.loads((DATA / "mutations.toml").read_text(encoding="utf-8"))
    return {name: Mutation(name, **entry) for name, entry in entries.items()}
