"""Values that a person sets in all conditions of a figure: `--set path.rtt=50ms`."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import partial
from typing import Any

from narrows.errors import InputError
from narrows.reproduce.changes import ConditionChange, put
from narrows.reproduce.conditions_as_axes import varied_places
from narrows.reproduce.exhibit import Case, Exhibit, Scope
from narrows.reproduce.study_places import TABLES
from narrows.spec.suggest import one_of, quote
from narrows.words import join_words

_CHANGED = "changed: "
VARIED = "a place that the study varies"
REMEDY = "a place that is the same in all of its conditions (or change its axes in the file)"


def as_change(sets: Sequence[str], exhibit: Exhibit, scope: Scope) -> ConditionChange | None:
    """The change of a figure's conditions that values make; None without any.

    Raises InputError for a malformed value, or a place that isn't there or that the figure varies.
    """
    if not sets:
        return None
    values = dict(map(assignment, sets))
    cases = list(exhibit.method().cases(scope))
    for place in values:
        refuse_varied(place, cases)
    told = f"{_CHANGED}{join_words(sets)}"
    return ConditionChange(told, told, edit=partial(_put_all, values=values))


def values_in(variation: str) -> str:
    """The values that the name of such a change has; empty for a figure as written."""
    return variation.removeprefix(_CHANGED)


def _put_all(spec: dict[str, Any], values: dict[str, Any]) -> None:
    for place, value in values.items():
        put_value(spec, place, value)


def refuse_varied(place: str, cases: Sequence[Case]) -> None:
    """Raises InputError for a place at which the conditions differ."""
    if any(place.startswith(one) for one in varied_places([case.spec for case in cases])):
        raise InputError.at(f"--set {place}", VARIED, REMEDY)


def assignment(text: str) -> tuple[str, Any]:
    """A place and its value, which is a text if it isn't TOML."""
    place, equals, value = text.partition("=")
    if not equals or "." not in place:
        raise InputError.at("--set", quote(text), "PLACE=VALUE, such as path.rtt=50ms,")
    try:
        return place.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return place.strip(), value.strip()


def put_value(spec: dict[str, Any], place: str, value: object) -> None:
    """Sets a value of a condition; raises InputError for a place that isn't there."""
    if place.split(".")[0] not in TABLES:
        raise InputError.at(f"--set {place}", "no such place", "one such as path.rtt")
    put(spec, place, value)
    table, *path = place.split(".")
    named = [one for one in spec["flows"] if path[0] in ("*", one.get("name"))]
    if table == "flows" and not named:
        names = [f"flows.{one['name']}" for one in spec["flows"] if "name" in one]
        raise InputError.at(f"--set {place}", "no such flow", one_of(place, [*names, "flows.*"]))
