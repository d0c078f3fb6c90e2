"""The tables of docs/reference/tables.md, as the native module declares them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from narrows import _native
from reference import PAGES, fill

TARGET = PAGES / "tables.md"


def pages() -> dict[Path, str]:
    """The files by their paths."""
    made = "\n".join("\n".join(_table(entry)) for entry in _native.tables())
    return fill(TARGET, tables=f"\n{made}")


def _table(entry: Mapping[str, Any]) -> Iterator[str]:
    yield f"## `{entry['name']}`\n"
    yield f"A row is {entry['row']}.\n"
    yield "| Column | Type | Unit | Null | Meaning |\n| --- | --- | --- | --- | --- |"
    for column in entry["columns"]:
        cells = (column["type"], column["unit"], column["null"] or "never", column["meaning"])
        yield f"| `{column['name']}` | {' | '.join(cells)} |"
    yield ""
