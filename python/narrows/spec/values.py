"""Compares places and values by meaning: "0.5bdp" equals ".5bdp", and the text "2" equals 2."""

from __future__ import annotations

import json

from narrows.late import _native
from narrows.spec.suggest import as_unicode


def spell(place: str) -> str | None:
    """Returns the usual spelling of a place, such as `flows[0].cca`; None if it isn't a place."""
    return _native.parse_place(as_unicode(place))


def full_place(key: str) -> str | None:
    """Returns the place of a key of the path, the hosts or the run: "buffer" is `path.buffer`."""
    tables = json.loads(_native.schema())["properties"]
    named = (name for name in ("path", "run", "host") if key in tables[name]["properties"])
    return next((f"{name}.{key}" for name in named), None)


def measure(text: str) -> tuple[str, float] | None:
    """Returns a quantity as its kind and number; None if the text isn't one.

    The kinds are "rate" (bit/s), "duration" (ns), "b" (bytes), "pkt" (packets) and "bdp".
    """
    return _native.quantity(as_unicode(text))


def part(text: str) -> float | None:
    """Converts a percentage, such as "1%", to a number; None for any other text."""
    digits = text.strip().removesuffix("%")
    if digits == text.strip():
        return None
    try:
        return float(f"{digits.rstrip()}e-2")
    except ValueError:
        return None


def format_duration(ns: int) -> str:
    """Returns the usual spelling of a duration in ns, such as "25ms"."""
    return _native.format_duration(ns)


def exact_value(value: object) -> object:
    """Returns a canonical value, equal for values with the same meaning."""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        known = part(value)
        return known if known is not None else measure(value) or value


def same_value(one: object, other: object) -> bool:
    """Returns True if two values mean the same."""
    return exact_value(one) == exact_value(other)


def values_in(text: str) -> dict[str, object]:
    """Returns every single value of a TOML document by its place, such as `flows[0].cca`."""
    found: dict[str, object] = json.loads(_native.leaves(text))
    return found


def to_toml(document: object, *, inline: bool = False) -> str:
    """Returns a document, or a value on one line, as TOML that reads back the same values."""
    return _native.to_toml(json.dumps(document), inline)
