"""Runs docs/notebooks/*.py and writes them as notebooks with their outputs.

A script has cells that begin with `# %%`, or `# %% [markdown]` for text in
comments. A cell shows its last expression as Jupyter would, and what it prints.
A test runs every script and compares the cells.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reference import ROOT

FOLDER = ROOT / "docs" / "notebooks"


def cells(script: str) -> Iterator[tuple[str, str]]:
    """The kind ("code" or "markdown") and the text of every cell."""
    for part in re.split(r"^# %%", script, flags=re.MULTILINE)[1:]:
        kind, _, text = part.partition("\n")
        if "[markdown]" in kind:
            yield "markdown", re.sub(r"^# ?", "", text.strip(), flags=re.MULTILINE)
        else:
            yield "code", text.strip()


def notebook(script: str, run: bool = True) -> dict[str, Any]:
    """The document of a notebook; with `run`, with outputs."""
    space: dict[str, Any] = {"__name__": "__main__"}
    made, count = [], 0
    for number, (kind, text) in enumerate(cells(script)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}}
        cell["source"] = text.splitlines(keepends=True)
        if kind == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = outputs(text, space, count) if run else []
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    info = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": made, "metadata": info, "nbformat": 4, "nbformat_minor": 5}


def outputs(text: str, space: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Runs a cell; returns its output and the value of its last expression."""
    body = ast.parse(text).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), space)  # noqa: S307
    found = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        found.append({"output_type": "stream", "name": "stdout", "text": lines})
    if value is not None:
        shown = {"data": display(value), "metadata": {}, "execution_count": count}
        found.append({"output_type": "execute_result", **shown})
    return found


def display(value: object) -> dict[str, Any]:
    """A value in its available formats."""
    data: dict[str, Any] = {}
    if callable(getattr(value, "_repr_png_", None)):
        data["image/png"] = base64.b64encode(value._repr_png_()).decode()  # type: ignore[attr-defined]
    elif callable(getattr(value, "_repr_html_", None)):
        html = value._repr_html_()  # type: ignore[attr-defined]
        data["text/html"] = str(html).splitlines(keepends=True)
    data["text/plain"] = repr(value).splitlines(keepends=True)
    return data


@contextlib.contextmanager
def elsewhere() -> Iterator[None]:
    """Works in a temporary directory, since scripts leave results behind."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        try:
            yield
        finally:
            os.chdir(before)


def pages() -> dict[Path, str]:
    """The files by their paths: each notebook beside its script."""
    made = {}
    for script in sorted(FOLDER.glob("*.py")):
        with elsewhere():
            document = notebook(script.read_text(encoding="utf-8"))
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        made[script.with_suffix(".ipynb")] = text
    return made
