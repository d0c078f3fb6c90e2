"""The commands that test a control: in the situations of a suite, or by searching for others."""

from __future__ import annotations

from typing import Annotated

import typer

from narrows.cli.options import AllowCode, AsJson, Backend, Jobs, Out, permission
from narrows.cli.output import print_json, print_lines
from narrows.cli.status import DONE, FAILED


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    app.command()(evaluate)
    app.command()(search)


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
            help="quick, rfc9743, bbr-draft, documents, or a folder with a suite.toml.",
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
        str,
        typer.Option(metavar="NAMES", help="Some situations of the suite, separated by commas."),
    ] = "",
    trials: Annotated[
        int | None, typer.Option(metavar="N", min=3, help="Runs of each; the suite's by default.")
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
            only=[name for name in only.split(",") if name],
            beside=None if beside is None else [name for name in beside.split(",") if name],
            trials=trials,
            backend=backend,
            stack=stack,
            jobs=jobs,
            out=out,
            watcher=bar,
        )
    if as_json:
        print_json(made.document())
    else:
        print_lines(made.lines())
    raise typer.Exit(DONE if made.good else FAILED)


def search(
    control: Annotated[
        str,
        typer.Argument(
            metavar="CONTROL", help="The name of a control, or your own as module:Class or FILE.rs."
        ),
    ],
    objective: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The kind of failure: utilization, loss, delay, starves, starved, unfair, slower.",
        ),
    ] = "utilization",
    beside: Annotated[
        str, typer.Option(metavar="CONTROL", help="The rival for starves and starved.")
    ] = "cubic",
    than: Annotated[
        str | None, typer.Option(metavar="CONTROL", help="The control that slower compares with.")
    ] = None,
    tries: Annotated[
        int, typer.Option(metavar="N", min=1, help="Conditions to try, earlier ones included.")
    ] = 200,
    most: Annotated[
        int, typer.Option("--findings", metavar="N", min=1, help="Findings to reduce and keep.")
    ] = 3,
    confirm: Annotated[
        str | None, typer.Option(metavar="BACKEND", help="Also run findings there: uml.")
    ] = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
    out: Out = None,
    allow_code: AllowCode = None,
) -> None:
    """Look for conditions in which a control fails, and simplify them."""
    from narrows.console import StepBar
    from narrows.search import search as searched

    with permission(allow_code, [f"cca={control}"]), StepBar() as bar:
        made = searched(
            control,
            objective=objective,
            beside=beside,
            than=than,
            tries=tries,
            most=most,
            confirm=confirm,
            jobs=jobs,
            out=out,
            report=bar,
        )
    if as_json:
        print_json(made.document())
    else:
        print_lines(made.lines())
    raise typer.Exit(FAILED if made.findings else DONE)
