"""Commands for a start: `narrows demo`, `init` and `--completion`."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from narrows.cli.options import AsJson, Out
from narrows.cli.output import hint, print_json, print_lines
from narrows.cli.places import Show, has_display, show_page

COMPLETE = "_NARROWS_COMPLETE"
"""The variable by which a shell asks for completions."""


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    for command in (demo, init):
        app.command()(command)


class Shell(StrEnum):
    """Shells that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def demo(show: Show = True, out: Out = None) -> None:
    """See BBR and CUBIC take turns, after two seconds of computing."""
    from narrows.console import ProgressBar
    from narrows.demo import compute, lines

    print("narrows: three runs of three minutes each", file=sys.stderr, flush=True)
    with ProgressBar() as bar:
        made = compute(out, bar)
    print_lines([*lines(made), f"page: {made.page}"])
    if show and has_display():
        show_page(made.page)
    hint("narrows init fair", "narrows run fair.toml")


def init(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="[KIND]", help="fair, aqm, web, cellular, video, own-control or paper."
        ),
    ] = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Where the files go.")] = ".",
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a specification to start from; without a kind, list them."""
    from narrows import starters
    from narrows.console import print_list

    if kind is None:
        rows = [(starter.name, starter.question) for starter in starters.STARTERS]
        if as_json:
            print_json([{"name": name, "question": question} for name, question in rows])
            return
        print_list(rows)
        hint("narrows init fair")
        return
    starter = starters.find(kind)
    paths = [str(path) for path in starters.write(starter, Path(out), force)]
    if as_json:
        print_json({"files": paths, "next": starter.command})
        return
    for path in paths:
        print(path)
    hint(starter.command)


def print_completion(shell: Shell | None) -> None:
    """Prints a script with which a shell completes commands, if one is asked for."""
    if shell is not None:
        from typer._completion_shared import get_completion_script

        print(get_completion_script(prog_name="narrows", complete_var=COMPLETE, shell=shell.value))
        raise typer.Exit


def asked_to_complete() -> bool:
    """Whether a shell asks for completions instead of a command; if so, prepares for it."""
    if COMPLETE not in os.environ:
        return False
    from typer._completion_classes import completion_init

    completion_init()
    return True
