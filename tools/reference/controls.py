"""The controls of docs/reference/controls.md, from the registry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from narrows import _native
from narrows.words import begin_upper
from reference import PAGES, fill

TARGET = PAGES / "controls.md"


def pages() -> dict[Path, str]:
    """The files by their paths."""
    made = "\n".join("\n".join(_control(entry)) for entry in _native.ccas())
    return fill(TARGET, controls=f"\n{made}")


def _control(entry: Mapping[str, Any]) -> Iterator[str]:
    yield f"## `{entry['name']}`\n"
    yield f"{begin_upper(entry['summary'])}. Source: {entry['source']}.\n"
    if entry["ecn"] is not None:
        yield f"Needs explicit congestion notification: {entry['ecn']}.\n"
    if entry["name"] == "bbr":
        yield from _states(_native.bbr_transitions())
    if not entry["parameters"]:
        yield "No options.\n"
        return
    yield "| Option | Values | Default | |\n| --- | --- | --- | --- |"
    for option in entry["parameters"]:
        cells = (option["values"], option["shown"], option["what"])
        yield f"| `{option['name']}` | {' | '.join(cells)} |"
    yield ""


def _states(edges: list[tuple[str, str]]) -> Iterator[str]:
    """The state machine as a diagram of the transitions that the code allows."""
    yield "Its states, and the transitions that the code allows:\n"
    yield "```mermaid\nstateDiagram-v2\n    [*] --> startup"
    yield from (f"    {start} --> {end}" for start, end in edges if start != end)
    yield "```\n"
