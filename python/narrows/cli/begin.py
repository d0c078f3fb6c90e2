"""Commands for a start: `narrows init`, `narrows validate`, `narrows completion`."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from narrows.cli.options import AllowCode, AsJson, Backend, Sets, permission, source
from narrows.cli.output import hint, print_json

COMPLETE = "_NARROWS_COMPLETE"
"""The variable by which a shell asks for completions."""


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    for command in (init, validate, completion):
        app.command()(command)


class Shell(StrEnum):
    """Shells that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


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
    """Write a specification to start from; without a kind, list the kinds."""
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


def validate(
    specs: Annotated[
        list[str],
        typer.Argument(metavar="SPEC...", help='Specifications or studies; "-" is standard input.'),
    ],
    sets: Sets = None,
    backend: Backend = "sim",
    as_json: AsJson = False,
    allow_code: AllowCode = None,
) -> None:
    """Read and check specifications as `run` and `sweep` do, and say how much there is to run."""
    from narrows.errors import InputError, Problem

    found: list[dict[str, Any]] = []
    problems: list[Problem] = []
    with permission(allow_code, sets):
        for spec in specs:
            try:
                found.append(_checked(spec, sets or [], backend))
            except InputError as error:
                problems += error.problems
    if as_json:
        print_json({"right": found, "wrong": [str(problem) for problem in problems]})
    else:
        for one in found:
            count, runs = one["combinations"], one["runs"]
            print(f"{one['spec']}: right; runs: {runs}, combinations: {count}")
    if problems:
        raise InputError(problems)


def _checked(spec: str, sets: list[str], backend: str) -> dict[str, Any]:
    from narrows.sweeps import prepare

    job = prepare(source(spec), sets, backend=backend)
    count = len(job.cells)
    return {"spec": spec, "name": job.name, "combinations": count, "runs": len(job.runs)}


def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell.")],
) -> None:
    """Print a script for completion in a shell: eval "$(narrows completion bash)"."""
    from typer._completion_shared import get_completion_script

    print(get_completion_script(prog_name="narrows", complete_var=COMPLETE, shell=shell.value))


def asked_to_complete() -> bool:
    """Whether a shell asks for completions instead of a command; if so, prepares for it."""
    if COMPLETE not in os.environ:
        return False
    from typer._completion_classes import completion_init

    completion_init()
    return True
