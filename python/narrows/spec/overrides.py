"""`--set path.buffer=4bdp`: single values of a specification, from the command line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from narrows.errors import SpecError
from narrows.spec.units import quote

Key = tuple[str | int, ...]
"""A place in a specification: `("flows", 0, "cca")`."""

_ELEMENTS = ("queue", "service")
"""Places where a name stands for a table with that `kind`."""
_EXAMPLE = "PLACE=VALUE, such as path.buffer=4bdp,"


@dataclass(frozen=True)
class Override:
    """One value, the place that it goes to, and the option that it came from."""

    key: Key
    value: object
    origin: str


def parse_override(text: str, origin: str = "--set") -> Override:
    """Reads `flows.0.cca=reno`; a value that isn't TOML is a text. Raises SpecError."""
    place, equals, value = text.partition("=")
    if not equals:
        raise SpecError.at(origin, quote(text), _EXAMPLE)
    key = parse_place(place)
    if key is None:
        raise SpecError.at(origin, f"the place {quote(place)}", _EXAMPLE)
    return Override(key, _value(value.strip()), origin)


def parse_place(text: str) -> Key | None:
    """The place that `flows[0].cca` or `flows.0.cca` names; None if it can be none."""
    parts = re.sub(r"\[(\d{1,9})\]", r".\1", text.strip()).split(".")
    if not all(re.fullmatch(r"[A-Za-z0-9_-]{1,80}", part, re.ASCII) for part in parts):
        return None
    return tuple(int(part) if part.isdecimal() else part for part in parts)


def _value(text: str) -> object:
    """Numbers, booleans, quoted texts, lists and tables as in TOML; all else is a text."""
    try:
        document = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError, ValueError):
        return text
    value = document.get("value")
    known = isinstance(value, bool | int | float | str | list | dict)
    return value if known and len(document) == 1 else text


def apply_overrides(raw: dict[str, Any], overrides: Iterable[Override]) -> dict[str, Any]:
    """A copy of `raw` with the values put in; raises SpecError if a place can't exist."""
    changed = deepcopy(raw)
    for override in overrides:
        _put(changed, override)
    return changed


def _put(raw: dict[str, Any], override: Override) -> None:
    here: Any = raw
    place = f"{override.origin} {dotted(override.key)}"
    *way, last = override.key
    for step, following in zip(way, override.key[1:], strict=True):
        if step in _ELEMENTS and isinstance(here, dict) and isinstance(here.get(step), str):
            here[step] = {"kind": here[step]}
        here = _enter(here, step, [] if isinstance(following, int) else {}, place)
    _enter(here, last, override.value, place)
    if isinstance(here, dict | list):
        here[last] = override.value  # type: ignore[index]


def _enter(here: object, step: str | int, absent: object, place: str) -> object:
    """What stands at `step`, where tables grow on demand and lists don't."""
    if isinstance(here, list):
        if not isinstance(step, int):
            raise SpecError.at(place, quote(step), "the number of an entry, such as flows.0.cca,")
        if step >= len(here):
            have = f"a number from 0 to {len(here) - 1}" if here else "an entry in the file first"
            raise SpecError.at(place, f"entry {step} of {len(here)}", have)
        return here[step]
    if not isinstance(here, dict) or not isinstance(step, str):
        raise SpecError.at(place, f"the step {quote(str(step))} into no table", "a known key")
    return here.setdefault(step, absent)


def dotted(key: Key) -> str:
    """A place as people write it: `flows[0].cca`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in key)
    return text.removeprefix(".")
