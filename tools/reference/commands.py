"""docs/reference/commands.md: every command of the command line with its options."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from narrows.cli.app import app
from reference import PAGES

TARGET = PAGES / "commands.md"
HEAD = """# Commands

`make reference` makes this page from the command line's own declarations; `narrows COMMAND --help`
prints the same. A command ends with status 0; with 1 if a judgement doesn't hold or something can't
be done, 2 for wrong input, 130 if it was interrupted, and 70 for a bug. Output for programs goes to
standard output, progress and hints to standard error.
"""


def pages() -> dict[Path, str]:
    """The files by their paths."""
    return {TARGET: generate()}


def generate() -> str:
    """The text of the page."""
    root = typer.main.get_command(app)
    return "\n".join([HEAD, *describe(root, "narrows")])


def describe(command: Any, name: str) -> Iterator[str]:
    """A command, or all below it."""
    if hasattr(command, "commands"):
        for word, inner in command.commands.items():
            if not inner.hidden:
                yield from describe(inner, f"{name} {word}")
        return
    context = typer.Context(command)
    words = [p.make_metavar(context) for p in command.params if p.param_type_name == "argument"]
    usage = " ".join((name, "[OPTIONS]", *words))
    yield f"## {name}\n\n```text\n{usage}\n```\n\n{clean(command.help)}\n"
    rows = [row(one, context) for one in command.params if one.help and not one.hidden]
    if rows:
        yield "| | | Default |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def row(parameter: Any, context: typer.Context) -> str:
    """A line of a table."""
    names, default = parameter.make_metavar(context), parameter.default
    if parameter.param_type_name == "option":
        flag = parameter.is_flag
        names = ", ".join((*parameter.opts, *parameter.secondary_opts)) + (
            "" if flag else f" {names}"
        )
    given = (
        isinstance(default, str | int | float) and not isinstance(default, bool) and default != ""
    )
    value = f"`{default}`" if given else ""
    return f"| `{clean(names)}` | {clean(parameter.help)} | {value} |"


def clean(text: str | None) -> str:
    """A text in one line, safe in a table."""
    return re.sub(r"\s+", " ", text or "").strip().replace("|", "\\|")
