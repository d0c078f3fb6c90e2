"""Paths by name: `[path] preset = "lte"`, in which every field can be overridden."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from narrows.errors import Problem, SpecError
from narrows.spec.suggest import one_of
from narrows.spec.units import quote

Preset = Mapping[str, Any]
"""A `summary`, the `source` of its numbers, and the `path` as a person would write it."""


@cache
def presets() -> dict[str, Preset]:
    """Every preset by name."""
    text = files("narrows.spec").joinpath("presets.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def expanded(raw: dict[str, Any]) -> dict[str, Any]:
    """The document with the fields of its preset where it has none of its own.

    Raises SpecError for a preset that there isn't.
    """
    path = raw.get("path")
    if not isinstance(path, dict) or "preset" not in path:
        return raw
    name = path["preset"]
    preset = presets().get(name) if isinstance(name, str) else None
    if preset is None:
        found = f"{quote(str(name))}, which is no preset"
        raise SpecError([Problem("path.preset", found, one_of(str(name), presets()))])
    own = dict(path)
    base = dict(preset["path"])
    if _has_limit(own.get("queue")):
        base.pop("buffer", None)
    return {**raw, "path": {**base, **own}}


def _has_limit(queue: object) -> bool:
    return isinstance(queue, Mapping) and "limit" in queue
