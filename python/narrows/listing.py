"""What `narrows list` lists: everything that can be named, from the registries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from narrows.backends import get_backend
from narrows.spec import registry
from narrows.spec.elements import show_default, show_room

Row = tuple[str, str]
"""A name and what it means."""


def listing(kind: str, backend: str = "sim") -> list[Row]:
    """The rows for "ccas", "queues", "profiles" or "figures", as `backend` has them."""
    rows = list(_LISTINGS[kind]())
    if backend == "sim" or kind == "figures":
        return rows
    able, known = get_backend(backend).capabilities(), dict(rows)
    return [(name, known.get(name, "the kernel's own")) for name in getattr(able, kind)]


def _ccas() -> Iterator[Row]:
    for name, entry in registry.ccas().items():
        yield name, str(entry["summary"])
        yield from _options(entry)


def _queues() -> Iterator[Row]:
    for name, entry in registry.queues().items():
        yield name, f"{entry['summary']} ({entry['source']})"
        yield "  limit", f"room: {show_room(entry)}; `path.buffer` sets it"
        yield from _parameters(entry)


def _profiles() -> Iterator[Row]:
    for name in registry.profiles():
        yield name, f"TCP as in Linux {name.removeprefix('linux-')}"


def _options(entry: Mapping[str, Any]) -> Iterator[Row]:
    for option in entry["options"]:
        yield f"  {option['name']}", f"{option['what']} (default {option['default']:g})"


def _parameters(entry: Mapping[str, Any]) -> Iterator[Row]:
    for parameter in entry["parameters"]:
        standard = show_default(parameter)
        default = standard if parameter["required"] else f"default {standard}"
        yield f"  {parameter['name']}", f"{parameter['what']} ({parameter['unit']}, {default})"


def _figures() -> Iterator[Row]:
    from narrows import reproduce

    yield from reproduce.listing()


_LISTINGS: Mapping[str, Callable[[], Iterator[Row]]] = {
    "ccas": _ccas,
    "queues": _queues,
    "profiles": _profiles,
    "figures": _figures,
}
