"""The command that tests controls in the situations of a suite."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from narrows.cli.options import AllowCode, AsJson, Backend, Jobs, Out, permission
from narrows.cli.output import print_result
from narrows.cli.status import DONE, FAILED
from narrows.errors import InputError


def add(app: typer.Typer) -> None:
    """Adds the command to the command line."""
    app.command()(evaluate)


def evaluate(
    controls: Annotated[
        list[str],
        typer.Argument(
            metavar="CONTROL...",
            help="Controls by name; own ones as module:Class or FILE.rs; options as "
            "bbr3:rules=draft.",
        ),
    ],
    suite: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="quick (8 of the 36 situations of rfc9743), rfc9743, bbr-draft, documents, or a "
            "folder with a suite.toml.",
        ),
    ] = "quick",
    beside: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help='Controls to compare with, separated by commas; "" for none. '
            "By default those of the suite, or cubic,reno,bbr3.",
        ),
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES", help="Only these situations of the suite, separated by commas."
        ),
    ] = None,
    trials: Annotated[
        int | None,
        typer.Option(metavar="N", min=3, help="Trials of each situation; by default the suite's."),
    ] = None,
    backend: Backend = "sim",
    stack: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The transport stack whose controls are tested: quinn or noq."
        ),
    ] = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
    out: Out = None,
    allow_code: AllowCode = None,
) -> None:
    """Judge controls in the situations of a suite, such as RFC 9743."""
    from narrows.console import ProgressBar
    from narrows.evaluate import cca_of
    from narrows.evaluate import evaluate as judged

    named = [f"cca={cca_of(control)}" for control in controls]
    with permission(allow_code, named), ProgressBar() as bar:
        made = judged(
            controls,
            suite=suite,
            only=_names_in(only),
            beside=None if beside is None else [name for name in beside.split(",") if name],
            trials=trials,
            backend=backend,
            stack=stack,
            jobs=jobs,
            out=out,
            watcher=bar,
            command=sys.argv,
        )
    print_result(made.document, made.lines, as_json)
    raise typer.Exit(DONE if made.good else FAILED)


def _names_in(only: str | None) -> list[str]:
    """Returns the situations of `--only`, none if it isn't given; raises InputError for no name."""
    names = [name for name in (only or "").split(",") if name]
    if only is not None and not names:
        raise InputError.at("--only", f'"{only}"', "names of situations, separated by commas,")
    return names
