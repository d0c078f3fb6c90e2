"""The command that searches: conditions in which a control fails, or the answer to a question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from narrows.cli.options import (
    AllowCode,
    AsJson,
    Backend,
    Jobs,
    Out,
    Sets,
    is_of_paper,
    permission,
    refuse_options,
    source,
)
from narrows.cli.output import hint, print_json, print_lines, print_result
from narrows.cli.status import DONE, FAILED
from narrows.errors import InputError

_OF_A_QUESTION = ("sets", "trials", "max_trials", "precision", "backend")
_OF_A_CONTROL = ("objective", "beside", "than", "tries", "most", "confirm")


def add(app: typer.Typer) -> None:
    """Adds the command to the command line."""
    app.command()(search)


def search(
    context: typer.Context,
    subject: Annotated[
        str,
        typer.Argument(
            metavar="CONTROL|STUDY",
            help="The name of a control, or your own as module:Class or FILE.rs; with --for, a "
            "specification with lists.",
        ),
    ],
    question: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="QUESTION",
            help='"smallest PLACE with METRIC >= NUMBER and ...", "PLACE from which METRIC < '
            'NUMBER", "PLACE at which METRIC = METRIC" or "PLACE with the highest METRIC". '
            "The place has several values in STUDY, or gets a range by --set PLACE=LOW,HIGH.",
        ),
    ] = None,
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
    sets: Sets = None,
    trials: Annotated[
        int,
        typer.Option(
            metavar="N", min=2, help="With --for: the minimum number of trials of each value."
        ),
    ] = 3,
    max_trials: Annotated[
        int,
        typer.Option(
            metavar="N", min=2, help="With --for: the maximum, for values that are undecided."
        ),
    ] = 20,
    precision: Annotated[
        float,
        typer.Option(
            metavar="PART",
            min=0.0001,
            max=1.0,
            help="With --for: the largest relative distance of a bound's ends.",
        ),
    ] = 0.05,
    backend: Backend = "sim",
    jobs: Jobs = None,
    as_json: AsJson = False,
    out: Out = None,
    allow_code: AllowCode = None,
) -> None:
    """Find where a control fails, or the value that a study asks for.

    The exit status is 1 if the control fails somewhere, or a question has no answer.
    """
    if question is None:
        refuse_options(context, "search", _OF_A_QUESTION, "without --for")
    else:
        refuse_options(context, "search", _OF_A_CONTROL, "with --for")
        with permission(allow_code, sets):
            _answer(
                subject, question, sets or [], (trials, max_trials), precision, backend, jobs,
                out, as_json,
            )  # fmt: skip
    from narrows.console import StepBar
    from narrows.search import search as searched

    with permission(allow_code, [f"cca={subject}"]), StepBar() as bar:
        made = searched(
            subject,
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
    print_result(made.document, made.lines, as_json)
    raise typer.Exit(FAILED if made.findings else DONE)


def _answer(
    study: str,
    question: str,
    sets: list[str],
    trials: tuple[int, int],
    precision: float,
    backend: str,
    jobs: int | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Answers a question about a study; the status is 1 if some combination has no answer."""
    from narrows.answer import answer
    from narrows.answer.question import place_in
    from narrows.console import ProgressBar

    if is_of_paper(Path(study)):
        place = place_in(question)
        remedy = (
            f"a specification with the tables of its [spec] and a range of {place}, in the file "
            f"or by --set {place}=LOW,HIGH,"
        )
        raise InputError.at(study, "a study of a published figure", remedy)
    with ProgressBar() as bar:
        made = answer(
            source(study),
            question,
            sets,
            trials=trials[0],
            most_trials=trials[1],
            precision=precision,
            backend=backend,
            jobs=jobs,
            out=out,
            watcher=bar,
        )
    if as_json:
        print_json(made.document())
    else:
        print_lines(made.lines())
        hint(f"narrows open {made.directory}")
    raise typer.Exit(DONE if made.good else FAILED)
