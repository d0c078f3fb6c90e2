"""docs/reference/specification.md: every key of a specification, section by section."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from narrows import _native
from reference import PAGES

TARGET = PAGES / "specification.md"
HEAD = """# Specifications

`make reference` makes this page from the keys declared in `crates/spec/src/keys`; `narrows list
schema` prints them as a JSON Schema for editors ([editors.md](../how-to/editors.md)). A
specification is TOML. Anywhere in it a list in place of a value, or a range, is an axis of a study
([sweep.md](../how-to/sweep.md)). Quantities carry units as in tc: `"80mbit"`, `"25ms"`, `"250kb"`;
`bdp` is the bandwidth-delay product of the path, `pkt` a packet of 1500 bytes.

[paths.md](paths.md), [controls.md](controls.md) and [workloads.md](workloads.md) list the elements
and their parameters.
"""


def pages() -> dict[Path, str]:
    """The files by their paths."""
    return {TARGET: generate()}


def generate() -> str:
    """The text of the page."""
    parts = [HEAD]
    for section in json.loads(_native.sections()):
        place = [] if section["title"] == "Scenario" else [section["title"].lower()]
        parts += describe(section, f"[{place[0]}]" if place else "", place)
    return "\n".join(parts)


def describe(section: dict[str, Any], heading: str, place: list[str]) -> Iterator[str]:
    """A section and those below it."""
    yield f"## {heading or 'At the top'}\n\n{clean(section['what'])}\n"
    yield "| Key | Takes | |\n|---|---|---|\n" + "\n".join(map(row, section["keys"])) + "\n"
    for key in section["keys"]:
        if key["section"]:
            path = [*place, key["name"]]
            several = key["kind"] != "table"
            name = ".".join(path)
            yield from describe(key["section"], f"[[{name}]]" if several else f"[{name}]", path)


def row(key: dict[str, Any]) -> str:
    """A line of a table."""
    needed = "**Required.** " if key["required"] else ""
    return f"| `{key['name']}` | {clean(key['expects'])} | {needed}{clean(key['what'])} |"


def clean(text: str) -> str:
    """A text that is safe in a table."""
    return " ".join(text.rstrip(",").split()).replace("|", "\\|").replace("[[", "\\[\\[")
