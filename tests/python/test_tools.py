"""Tools import names that exist, though many of them run only for a new measurement."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
FILES = sorted(TOOLS.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TOOLS)))
def test_tools_import_names_that_exist(file: Path) -> None:
    missing = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(parse(file))
        if isinstance(node, ast.ImportFrom) and (other := sibling(file, node.module)) is not None
        for alias in node.names
        if alias.name not in set(names(other))
    ]
    assert not missing


def sibling(file: Path, module: str | None) -> Path | None:
    """The file of a module of the tools."""
    path = Path(*(module or "").split("."))
    places = (folder / path for folder in (file.parent, TOOLS))
    files = (one for place in places for one in (place.with_suffix(".py"), place / "__init__.py"))
    return next((one for one in files if one.is_file()), None)


def names(file: Path) -> Iterator[str]:
    """The names that a module has: what it defines, assigns and imports, and its modules."""
    for node in ast.walk(parse(file)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name) for alias in node.names)
    if file.name == "__init__.py":
        yield from (one.stem for one in file.parent.iterdir())


def parse(file: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(file.read_text(encoding="utf-8"))
