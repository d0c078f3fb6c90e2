"""The command `narrows` with its options, commands and groups of commands."""

from __future__ import annotations

from typing import Annotated

import typer

from narrows.cli import (
    begin,
    evaluate,
    hosts,
    judge,
    kernel,
    places,
    results,
    run,
    search,
    store,
    vocabulary,
)
from narrows.cli.help import WELCOME, SectionedGroup
from narrows.version import __version__

app = typer.Typer(
    name="narrows",
    cls=SectionedGroup,
    help="A congestion-control laboratory: describe a bottleneck once, run it, see what happens.",
    add_completion=False,  # `--completion` does this without changing a shell's files
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for commands in (begin, run, evaluate, judge, search, results, places, vocabulary):
    commands.add(app)
app.add_typer(kernel.app, name="kernel")
app.add_typer(hosts.app, name="hosts")
app.add_typer(store.app, name="store")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"narrows {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (its callback has done the work)
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    completion: Annotated[  # noqa: ARG001
        begin.Shell | None,
        typer.Option(
            callback=begin.print_completion,
            is_eager=True,
            help='Print a script for a shell: eval "$(narrows --completion bash)".',
        ),
    ] = None,
) -> None:
    if context.invoked_subcommand is None:
        print(WELCOME)
