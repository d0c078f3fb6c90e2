"""The group `narrows store`: the stored runs of sweeps."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from narrows.cli.help import WholeGroup
from narrows.cli.options import AsJson
from narrows.cli.output import print_lines, print_result
from narrows.cli.status import DONE, FAILED, reading
from narrows.words import count_of

app = typer.Typer(cls=WholeGroup, help="Manage the stored runs of sweeps.", rich_markup_mode=None)
_STORE = typer.Argument(metavar="DIR", help="The directory of a sweep, or its URL.")


@app.command("ls")
def list_store(directory: Annotated[str, _STORE], as_json: AsJson = False) -> None:
    """List the studies of a store and their progress."""
    from narrows.store import open_store, states
    from narrows.sweeps.text import state_lines

    with reading(directory):
        found = states(open_store(directory))
    print_result(lambda: [asdict(state) for state in found], lambda: state_lines(found), as_json)


@app.command("gc")
def collect_garbage(
    directory: Annotated[str, _STORE],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
) -> None:
    """Remove runs that no study has any more, and leftovers of killed sweeps."""
    from narrows.store import collect, open_store
    from narrows.sweeps.text import garbage_lines

    with reading(directory):
        gone = collect(open_store(directory), not dry_run)
    print_lines(garbage_lines(gone, not dry_run))


@app.command("snapshot")
def take_snapshot(
    directory: Annotated[str, _STORE],
    out: Annotated[Path, typer.Argument(metavar="COPY", help="A new directory on the same disk.")],
) -> None:
    """Copy the runs stored so far for other programs, while sweeps go on."""
    from narrows.store import snapshot

    with reading(directory):
        made = snapshot(directory, out)
    print(f"{made}: {count_of(len(made.keys()), 'run')}")


@app.command()
def check(
    directory: Annotated[str, _STORE],
    remove: Annotated[bool, typer.Option("--remove", help="Remove damaged parts.")] = False,
) -> None:
    """Compare every stored run with its digests; exit status 1 if anything is damaged."""
    from narrows.store import damage, mend_mark, open_store

    with reading(directory):
        mark = mend_mark(directory, remove)
        found = open_store(directory)
        damaged = [("store.json", mark)] if mark is not None else []
        damaged += damage(found, remove)
    print_lines(f"{key}: {wrong}" for key, wrong in damaged)
    whole = remove or not damaged  # runs beside a damaged part can't be listed
    stored = f", {count_of(len(found.keys()), 'run')} stored" if whole else ""
    print(f"{len(damaged)} damaged{stored}")
    raise typer.Exit(FAILED if damaged else DONE)
