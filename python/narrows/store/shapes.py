"""The shapes of a result's documents, checked once where they are read.

A result may be somebody else's: its digests can be right and its contents of any type. The checks
cover what every reader relies on; `null` is allowed only where a shape says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrows.errors import StoreError

Shape = Any
"""A type, a tuple of shapes of which one must fit, a list of one shape, or a mapping of keys."""


@dataclass(frozen=True)
class Each:
    """A mapping with any keys, whose values have one shape."""

    shape: Shape


NUMBER = (int, float)
"""A finite number; true and false aren't numbers."""
_MOST = 1 << 63
_NAMES: Mapping[type, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    dict: "a table",
    list: "a list",
    type(None): "null",
}

MANIFEST: Shape = {
    "name": str,
    "hash": str,
    "version": str,
    "backend": str,
    "engine": str,
    "groups": [str],
    "trials": [
        {
            "number": int,
            "seed": int,
            "digest": str,
            "end_s": NUMBER,
            "packets": int,
            "cpu_s": NUMBER,
            "wall_s": NUMBER,
        }
    ],
    "created": str,
    "command": [str],
    "provenance": dict,
    "files": Each(str),
}
"""The keys of every manifest."""

_FLOW: Shape = {
    "name": str,
    "cca": str,
    "options": dict,
    "reverse": bool,
    "rtt_ns": (int, None),
    "size_bytes": (int, None),
    "start_ns": int,
    "stop_ns": (int, None),
    "repeat_gap_ns": (int, None),
    "while": (str, None),
    "workload": ({"kind": str}, None),
    "links": (list, None),
}
SCENARIO: Shape = {
    "name": str,
    "seed": int,
    "flows": [_FLOW],
    "host": {"profile": str},
    "path": {
        "buffer": (dict, None),
        "impairments": [{"kind": str}],
        "links": [dict],
        "loss": NUMBER,
        "queue": {"kind": str},
        "rate_bps": int,
        "rtt_ns": int,
        "service": {"kind": str},
    },
    "run": {
        "duration_ns": int,
        "record": str,
        "sample_interval_ns": int,
        "warmup_ns": int,
    },
}
"""The keys of every scenario."""
RUN: Shape = {
    "run": str,
    "seed": int,
    "backend": str,
    "engine": str,
    "digest": str,
    "end_s": NUMBER,
    "packets": int,
    "cpu_s": NUMBER,
    "wall_s": NUMBER,
    "invalid": (str, None),
    "conditions": dict,
    "losses": (Each(int), None),
}
"""The keys of the record of every stored run."""
PART: Shape = {
    "runs": int,
    "created": str,
    "replaces": [str],
    "files": Each({"bytes": int, "digest": str}),
    "digest": str,
}
"""The keys of the line of every part of a store."""
STUDY: Shape = {
    "name": str,
    "backend": str,
    "engine": str,
    "axes": [str],
    "combinations": int,
    "spec": str,
}
"""The keys of the record of every study."""
FAILURE: Shape = {"run": str, "cell": str, "error": str}
"""The keys of the record of every failed run."""
SUMMARY: Shape = {
    "runs": [
        {
            "scenario": SCENARIO,
            "backend": str,
            "seed": int,
            "flows": [{"name": str, "cca": str, "rtt_ms": dict}],
            "bottleneck": {"queue_bdp": dict, "queue_ms": dict},
            "perf": dict,
        }
    ]
}
"""The keys of every summary."""


def check_shape(document: object, shape: Shape, file: Path | str, mend: str = "") -> None:
    """Raises StoreError for the first value of a document in `file` with a wrong shape.

    `file` is a path, or the URL of an object.

    `mend` is a remedy for the whole file.
    """
    for place, found, wanted in _wrong(document, shape, ""):
        here = f"{file}: {place or 'document'}"
        raise StoreError.at(here, found, f"{wanted} ({mend})" if mend else wanted)


def _wrong(value: object, shape: Shape, place: str) -> Iterator[tuple[str, str, str]]:
    """Yields the places with another shape, their values, and the right ones."""
    if isinstance(shape, tuple):
        others = [list(_wrong(value, one, place)) for one in shape]
        if all(others):
            yield from min(others, key=lambda found: -len(found[0][0]))
    elif isinstance(shape, (dict, Each)):
        yield from _wrong_in_table(value, shape, place)
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield place, _name_of(value), "a list"
            return
        for number, one in enumerate(value):
            yield from _wrong(one, shape[0], f"{place}[{number}]")
    elif not _is_of(value, shape):
        yield place, _name_of(value), _NAMES[shape or type(None)]


def _wrong_in_table(
    value: object, shape: Mapping[str, Shape] | Each, place: str
) -> Iterator[tuple[str, str, str]]:
    if not isinstance(value, dict):
        yield place, _name_of(value), "a table"
        return
    wanted = dict.fromkeys(value, shape.shape) if isinstance(shape, Each) else shape
    for key, inner in wanted.items():
        here = f"{place}.{key}".lstrip(".")
        if key in value:
            yield from _wrong(value[key], inner, here)
        elif not (isinstance(inner, tuple) and None in inner):
            yield here, "nothing", "a value"


def _is_of(value: object, kind: type | None) -> bool:
    if kind is None:
        return value is None
    if kind in (int, float) and isinstance(value, bool):
        return False
    if isinstance(value, int) and abs(value) >= _MOST * 2:
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return isinstance(value, kind)


def _name_of(value: object) -> str:
    return _NAMES.get(type(value), type(value).__name__)
