"""Writes the tables of docs/reference/tables.md, as the native module declares them.

It replaces the text between the lines `<!-- tables -->` and `<!-- end -->`.
`make reference` runs this; a test compares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from narrows import _native

TARGET = Path(__file__).parents[1] / "docs" / "reference" / "tables.md"
_BLOCK = re.compile(r"(<!-- tables -->\n).*?(<!-- end -->)", re.DOTALL)


def renew(page: str) -> str:
    """The page with its tables renewed."""
    made = "\n".join("\n".join(_table(entry)) for entry in _native.tables())
    return _BLOCK.sub(lambda found: f"{found[1]}\n{made}\n{found[2]}", page)


def _table(entry: Mapping[str, Any]) -> Iterator[str]:
    yield f"## `{entry['name']}`\n"
    yield f"A row is {entry['row']}.\n"
    yield "| Column | Type | Unit | Null | Meaning |\n| --- | --- | --- | --- | --- |"
    for column in entry["columns"]:
        cells = (column["type"], column["unit"], column["null"] or "never", column["meaning"])
        yield f"| `{column['name']}` | {' | '.join(cells)} |"
    yield ""


if __name__ == "__main__":
    TARGET.write_text(renew(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
