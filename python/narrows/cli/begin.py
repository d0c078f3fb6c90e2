"""Commands for a start: `narrows demo`, `init` and `--completion`."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from shlex import quote as quote_word
from typing import Annotated

import typer

from narrows.cli.options import AsJson, Out
from narrows.cli.output import hint, note, print_json, print_lines
from narrows.cli.places import Show, as_path, has_display, show_page
from narrows.errors import InputError

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
            metavar="[KIND]",
            help="fair, aqm, web, cellular, video, own-control or paper; or one of our exhibits "
            "(`narrows list figures`) as a study, such as panaderia/fig10.",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PLACE=VALUE", help="For an exhibit: change a value: path.rtt=50ms."
        ),
    ] = None,
    out: Annotated[str, typer.Option(metavar="DIR", help="Where the files go.")] = ".",
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a specification or a study to start from, or list them."""
    from narrows import starters
    from narrows.console import print_list
    from narrows.spec.suggest import quote

    if kind is None:
        rows = [(starter.name, starter.question) for starter in starters.STARTERS]
        if as_json:
            print_json([{"name": name, "question": question} for name, question in rows])
            return
        print_list(rows)
        hint("narrows init fair")
        return
    if "/" in kind:
        from narrows.reproduce import copies

        file = copies.write(kind, sets or [], Path(out), force=force)
        paths, command = [str(file)], f"narrows reproduce {quote_word(as_path(file.parent))}"
        said = copies.left_behind(kind)
    else:
        starter = starters.find(kind)
        if sets:
            remedy = f"--set of the next command, `{starter.command}`,"
            raise InputError.at("--set", quote(sets[0]), remedy)
        paths = list(map(str, starters.write(starter, Path(out), force)))
        command, said = starter.command_in(Path(out)), ""
    if as_json:
        print_json({"files": paths, "next": command})
        return
    for path in paths:
        print(path)
    if said:
        note(said)
    hint(command)


def print_completion(shell: Shell | None) -> None:
    """Prints a script with which a shell completes commands, if one is asked for."""
    if shell is not None:
        from typer._completion_shared import get_completion_script

        print(get_completion_script(prog_name="narrows", complete_var=COMPLETE, shell=shell.value))
        raise typer.Exit


def asked_to_complete() -> bool:
    """Returns True if a shell asks for completions instead of a command, and prepares for it."""
    if COMPLETE not in os.environ:
        return False
    from typer._completion_classes import completion_init

    completion_init()
    return True
