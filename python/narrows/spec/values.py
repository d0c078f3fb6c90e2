"""Values by what they mean: "0.5bdp" is ".5bdp", and the text "2" is 2."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping

from narrows.spec.overrides import Key, dotted
from narrows.spec.units import UnitError, parse_duration, parse_rate, parse_size


def exact_value(value: object) -> object:
    """A value that equals those that mean the same."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        pass
    for parse in (parse_rate, parse_duration, parse_size):
        try:
            return parse(value)
        except UnitError:
            continue
    return value


def same_value(one: object, other: object) -> bool:
    """Whether two values mean the same."""
    return exact_value(one) == exact_value(other)


def values_in(text: str) -> dict[str, object]:
    """Every single value of a TOML document by its place, such as `flows[0].cca`."""
    return {dotted(key): value for key, value in _leaves(tomllib.loads(text), ())}


def _leaves(value: object, way: Key) -> Iterator[tuple[Key, object]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _leaves(inner, (*way, str(key)))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, (*way, index))
    else:
        yield way, value
