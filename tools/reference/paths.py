"""The tables of docs/reference/paths.md and workloads.md, from the registries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from narrows.spec import registry
from narrows.words import begin_upper
from reference import PAGES, fill

RegistryEntry = Mapping[str, Any]
TARGETS = (PAGES / "paths.md", PAGES / "workloads.md")


def pages() -> dict[Path, str]:
    """The files by their paths."""
    blocks = {f"table: {name}": f"\n{make()}" for name, make in _TABLES.items()}
    return {page: text for target in TARGETS for page, text in fill(target, **blocks).items()}


def _elements(entries: Mapping[str, RegistryEntry]) -> str:
    return "\n".join("\n".join(_element(name, entry)) for name, entry in entries.items())


def _element(name: str, entry: RegistryEntry) -> Iterator[str]:
    yield f"#### `{name}`\n"
    yield f"{_sentence(entry['summary'])} Source: {entry['source']}.\n"
    rows = list(_rows(entry["parameters"]))
    if entry["room"][0]:
        rows.insert(0, ("limit", entry["limit"], "`path.buffer`", "the most that may wait"))
    if not rows:
        yield "No parameters.\n"
        return
    yield "| Parameter | Unit | Default | |\n| --- | --- | --- | --- |"
    for parameter, unit, default, what in rows:
        yield f"| `{parameter}` | {unit} | {default} | {what} |"
    yield ""


def _rows(parameters: Sequence[RegistryEntry]) -> Iterator[tuple[str, str, str, str]]:
    """A row for each parameter, and for those of the tables that it may be a list of."""
    for one in parameters:
        yield one["name"], one["unit"], one["shown"], one["what"]
        for inner in _rows(one.get("parameters", ())):
            yield f"{one['name']}: {inner[0]}", *inner[1:]


def _presets() -> str:
    return "\n".join("\n".join(_preset(preset)) for preset in registry.presets().values())


def _preset(preset: registry.Preset) -> Iterator[str]:
    yield f"#### `{preset.name}`\n"
    yield f"{_sentence(preset.summary)} Source: {preset.source}.\n"
    yield "```toml"
    for key, value in preset.path:
        yield f"{key} = {value}"
    yield "```\n"


def _sentence(text: str) -> str:
    return f"{begin_upper(text)}."


_TABLES = {
    "queues": lambda: _elements(registry.queues()),
    "services": lambda: _elements(registry.services()),
    "impairments": lambda: _elements(registry.elements("impairments")),
    "workloads": lambda: _elements(registry.elements("workloads")),
    "distributions": lambda: _elements(registry.elements("distributions")),
    "presets": _presets,
}
