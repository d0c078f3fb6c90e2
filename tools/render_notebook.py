"""Renders a notebook of docs/notebooks as a page of the documentation site."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any


def render(notebook: str, name: str) -> tuple[str, Mapping[str, bytes]]:
    """Returns a page in Markdown, and its pictures by the names of their files."""
    pictures: dict[str, bytes] = {}
    parts = [part for cell in json.loads(notebook)["cells"] for part in _cell(cell, name, pictures)]
    return "\n\n".join(parts) + "\n", pictures


def _cell(cell: Mapping[str, Any], name: str, pictures: dict[str, bytes]) -> Iterator[str]:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        yield source
        return
    yield f"```python\n{source}\n```"
    for output in cell["outputs"]:
        data = {kind: "".join(lines) for kind, lines in output.get("data", {}).items()}
        if "image/png" in data:
            file = f"{name}-{len(pictures) + 1}.png"
            pictures[file] = b64decode(data["image/png"])
            yield f"![The output of the code above]({file})"
        elif "text/html" in data:
            yield f'<div class="output">\n{data["text/html"]}\n</div>'
        else:
            text = data.get("text/plain") or "".join(output.get("text", ""))
            yield f"```text\n{text.rstrip()}\n```"
