"""Finds the axes of conditions made by a program: places that differ, and the key that decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from narrows.reproduce.exhibit import Case

TABLES = ("path", "host", "run")
MISSING = object()
Values = dict[str, Any]
"""Values by place."""


def axes_of(cases: Sequence[Case]) -> tuple[dict[str, Any], dict[str, dict[str, Values]]]:
    """Returns the first condition, and axes whose every combination is one of the conditions.

    The axes are the parts of the conditions' keys if each place depends on a single part; otherwise
    one axis has a label for each condition.
    """
    places = varied_places([case.spec for case in cases])
    spec = {key: value for key, value in cases[0].spec.items() if key != "name"}
    axes = _by_part(cases, places) or {
        "condition": {_label(case.key.values()): _values(case, places) for case in cases}
    }
    return spec, axes


def varied_places(specs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the places at which specifications differ.

    The place is a whole table if some lack a key, or if they differ in the number of flows.
    """
    found = []
    for table in TABLES:
        tables = [spec.get(table, {}) for spec in specs]
        if len({frozenset(one) for one in tables}) == 1:
            found += [f"{table}.{key}" for key in tables[0] if _differ(one[key] for one in tables)]
        elif _differ(tables):
            found.append(table)
    return found + list(_varied_flows([spec["flows"] for spec in specs]))


def _varied_flows(several: Sequence[Sequence[Mapping[str, Any]]]) -> Iterator[str]:
    if not _differ(several):
        return
    first = several[0]
    alike = all([set(one) for one in flows] == [set(one) for one in first] for flows in several)
    names = [flow.get("name") for flow in first]
    if not alike or len(set(names)) < len(names) or None in names:
        yield "flows"
        return
    for number, flow in enumerate(first):
        for key in flow:
            if _differ(flows[number][key] for flows in several):
                yield "flows" if key == "name" else f"flows.{names[number]}.{key}"


def look_up(spec: Mapping[str, Any], place: str) -> Any:  # noqa: ANN401 (any value)
    """Returns the value at a place; `MISSING` if there is none."""
    table, *path = place.split(".")
    found: Any = spec.get(table, MISSING)
    if table == "flows" and path:
        found = next((one for one in found if path[0] in ("*", one.get("name"))), MISSING)
        path = path[1:]
    for name in path:
        found = found.get(name, MISSING) if isinstance(found, Mapping) else MISSING
    return found


def _differ(values: Any) -> bool:  # noqa: ANN401 (an iterable of anything)
    first, *others = values
    return any(other != first for other in others)


def _values(case: Case, places: Sequence[str]) -> Values:
    return {place: look_up(case.spec, place) for place in places}


def _label(values: Any) -> str:  # noqa: ANN401 (an iterable of labels)
    return ", ".join(map(str, values))


def _by_part(cases: Sequence[Case], places: Sequence[str]) -> dict[str, dict[str, Values]] | None:
    """Returns an axis for each part of the keys that differs.

    None if they don't explain the places.
    """
    parts = [name for name in cases[0].key if _differ(case.key.get(name) for case in cases)]
    owner = {}
    for place in places:
        owned = [part for part in parts if _explains(part, place, cases)]
        if not owned:
            return None
        owner[place] = owned[0]
    labels = {part: list(dict.fromkeys(case.key.get(part) for case in cases)) for part in parts}
    keys = [tuple(case.key.get(part) for part in parts) for case in cases]
    if not parts or sorted(map(repr, keys)) != sorted(map(repr, product(*labels.values()))):
        return None
    return {
        part: {
            str(label): _values(
                next(case for case in cases if case.key.get(part) == label),
                [place for place in places if owner[place] == part],
            )
            for label in labels[part]
        }
        for part in parts
    }


def _explains(part: str, place: str, cases: Sequence[Case]) -> bool:
    """Returns True if the value at a place follows from one part of the key."""
    seen: dict[Any, Any] = {}
    for case in cases:
        found = look_up(case.spec, place)
        if seen.setdefault(case.key.get(part), found) != found:
            return False
    return True
