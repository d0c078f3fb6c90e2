"""The groups of the command line: `narrows kernel` and `narrows store`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

DONE, FAILED = 0, 1


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line)


kernel = typer.Typer(help="Kernels for the back end uml.", rich_markup_mode=None)


@kernel.command()
def build(
    source: Annotated[
        Path | None, typer.Option(metavar="TREE", help="A Linux source tree; it isn't changed.")
    ] = None,
    debian: Annotated[
        str | None,
        typer.Option(metavar="PACKAGE", help="Debian's source; by default linux-source-6.12."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="The kernel's name here.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file of further CONFIG_ lines.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Jobs of make at once.")] = None,
) -> None:
    """Build a kernel as a program and keep it; this takes minutes."""
    from narrows.backends.uml import build as build_kernel
    from narrows.console import StepBar

    with StepBar() as bar:
        built = build_kernel(
            name, source=source, debian=debian, config=config, jobs=jobs, progress=bar
        )
    print(f"{built.name}: Linux {built.release} at {built.path}")


@kernel.command("list")
def list_kernels() -> None:
    """List the kernels that were built."""
    from narrows.backends.uml import kernels
    from narrows.console import print_list

    print_list([(k.name, f"Linux {k.release}, built {k.built} from {k.source}") for k in kernels()])


store = typer.Typer(help="Look after the stored runs of sweeps.", rich_markup_mode=None)
_STORE = typer.Argument(metavar="DIR", help="The directory of a sweep, or its URL.")


@store.command("ls")
def list_store(directory: Annotated[str, _STORE]) -> None:
    """List the studies of a store and how far they are."""
    from narrows.store import open_store, states
    from narrows.sweeps.text import state_lines

    _print(state_lines(states(open_store(directory))))


@store.command("gc")
def collect_garbage(
    directory: Annotated[str, _STORE],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be removed.")
    ] = False,
) -> None:
    """Remove runs that no study has any more, and what killed sweeps left."""
    from narrows.store import collect, open_store
    from narrows.sweeps.text import garbage_lines

    _print(garbage_lines(collect(open_store(directory), not dry_run), not dry_run))


@store.command()
def verify(
    directory: Annotated[str, _STORE],
    remove: Annotated[bool, typer.Option("--remove", help="Remove damaged runs.")] = False,
) -> None:
    """Compare every stored run with its digests; exit status 1 if one is damaged."""
    from narrows.store import damage, open_store

    found = open_store(directory)
    damaged = list(damage(found, remove))
    _print(f"{key}: {wrong}" for key, wrong in damaged)
    print(f"{len(damaged)} damaged runs, {len(found.keys())} stored")
    raise typer.Exit(FAILED if damaged else DONE)
