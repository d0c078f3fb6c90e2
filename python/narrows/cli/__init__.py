"""The command line: every command is a few lines that call the package.

Only typer is imported here; each command imports what it needs, so that `narrows --help` answers at
once.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from functools import partial

import typer

from narrows.cli.app import app
from narrows.cli.begin import COMPLETE, asked_to_complete
from narrows.cli.interrupts import leave_with, noted_interrupts
from narrows.cli.output import reserve_output
from narrows.cli.stale import note_stale_module
from narrows.cli.status import DONE, exit_status
from narrows.cli.supervise import note_end, supervise
from narrows.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status.

    Without `arguments` the process belongs to us and is short-lived, so the garbage collector,
    which would scan everything that was imported, runs rarely. That saves a third of the CPU time
    of a short run.
    """
    if arguments is None:
        gc.set_threshold(200_000, 20, 20)
        note_stale_module()
        if supervise(sys.argv[1:]) and "--json" in sys.argv:
            reserve_output()
    with noted_interrupts() as interrupts:
        words = sys.argv[1:] if arguments is None else arguments
        status = exit_status(partial(_run, words), interrupts)
    if arguments is None:
        note_end()
        leave_with(status)
    return status


def _run(arguments: Sequence[str]) -> int:
    _check_names(arguments)
    return dispatch(arguments)


def _check_names(arguments: Sequence[str]) -> None:
    """Raises InputError for a word that isn't UTF-8: pages and tables couldn't hold it."""
    for argument in arguments:
        if not argument.isascii() and argument != argument.encode(errors="replace").decode():
            found = f"{argument!a}, which is not UTF-8"
            raise InputError.at("command line", found, "a name in UTF-8")


def dispatch(arguments: Sequence[str]) -> int:
    """Runs the command; typer's own main would turn some exceptions into its own statuses."""
    command = typer.main.get_command(app)
    if asked_to_complete():
        command.main(list(arguments), prog_name="narrows", complete_var=COMPLETE)
    try:
        with command.make_context("narrows", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    sys.stdout.flush()
    return DONE
