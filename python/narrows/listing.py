"""What `narrows list` lists: everything that can be named, from the registries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from narrows.backends import get_backend
from narrows.spec import registry

Row = tuple[str, str]
"""A name and what it means."""


def listing(kind: str, backend: str = "sim") -> list[Row]:
    """The rows for a kind, such as "ccas" or "paths", as `backend` has them."""
    rows = list(_LISTINGS[kind]())
    if backend == "sim" or kind not in ("ccas", "queues", "profiles"):
        return rows
    able, known = get_backend(backend).capabilities(), dict(rows)
    return [(name, known.get(name, "the kernel's own")) for name in getattr(able, kind)]


def nested(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The rows as objects: what is indented stands in the one before, by its name."""
    found: list[dict[str, Any]] = []
    for name, meaning in rows:
        if name.startswith("  ") and found:
            found[-1].setdefault("more", {})[name.strip()] = meaning
        else:
            found.append({"name": name, "meaning": meaning})
    return found


def _workloads() -> Iterator[Row]:
    for name, meaning, keys in WORKLOADS:
        yield name, meaning
        for key, what in keys.items():
            yield f"  {key}", what


WORKLOADS: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("poisson", "new connections at random instants, such as web pages",
     {"rate": 'how many in a time: "5/s", "300/min"', "size": "payload, or its distribution"}),
    ("arrivals", "new connections at any distances",
     {"gap": "time from one to the next, or its distribution",
      "size": "payload, or its distribution"}),
    ("on_off", "one connection that sends all it can for a while, then pauses",
     {"on": "time, or its distribution", "off": "time, or its distribution"}),
    ("requests", "one connection that answers one request after another",
     {"size": "payload of an answer, or its distribution",
      "think": 'time from an answer to the next request, default "0s"'}),
    ("video", "one connection that sends the chunks a player asks for",
     {"bitrate": "of the film", "chunk": "length of a chunk in time",
      "start": "how much is buffered before it plays, default one chunk",
      "buffer": 'how much is buffered at most, default "30s"'}),
)  # fmt: skip
"""Kinds of workloads with their keys; docs/reference/workloads.md says more."""


def _ccas() -> Iterator[Row]:
    for name, entry in registry.ccas().items():
        source = f" ({entry['source']})" if entry["source"] else ""
        yield name, f"{entry['summary']}{source}"
        yield from _parameters(entry)


def _queues() -> Iterator[Row]:
    for name, entry in registry.queues().items():
        yield name, f"{entry['summary']} ({entry['source']})"
        yield "  limit", f"room: {entry['limit']}; `path.buffer` sets it"
        yield from _parameters(entry)


def _paths() -> Iterator[Row]:
    for name, preset in registry.presets().items():
        yield name, preset.summary
        yield "  source", preset.source
        for key, value in preset.path:
            yield f"  {key}", value


def _services() -> Iterator[Row]:
    yield from _elements(registry.services())


def _impairments() -> Iterator[Row]:
    yield from _elements(registry.impairments())


def _elements(entries: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    for name, entry in entries.items():
        yield name, f"{entry['summary']} ({entry['source']})"
        yield from _parameters(entry)


def _profiles() -> Iterator[Row]:
    for name in registry.profiles():
        yield name, f"TCP as in Linux {name.removeprefix('linux-')}"


def _parameters(entry: Mapping[str, Any]) -> Iterator[Row]:
    for parameter in entry["parameters"]:
        standard = parameter["shown"]
        default = standard if parameter["required"] else f"default {standard}"
        yield f"  {parameter['name']}", f"{parameter['what']} ({parameter['unit']}, {default})"


def _figures() -> Iterator[Row]:
    from narrows import figures, reproduce

    yield from reproduce.listing()
    yield "of a sweep", "drawn by `narrows figure DIR NAME`"
    for entry in figures.of("sweep"):
        yield f"  {entry.name}", entry.summary
    yield "of a run", "drawn by the same, with --where and --trial in a sweep"
    for entry in figures.of("run"):
        yield f"  {entry.name}", entry.summary


_LISTINGS: Mapping[str, Callable[[], Iterator[Row]]] = {
    "ccas": _ccas,
    "queues": _queues,
    "services": _services,
    "impairments": _impairments,
    "paths": _paths,
    "workloads": _workloads,
    "profiles": _profiles,
    "figures": _figures,
}
