"""The group `narrows kernel`: kernels for the back end uml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from narrows.cli.help import WholeGroup
from narrows.cli.options import AsJson
from narrows.cli.output import print_json

app = typer.Typer(
    cls=WholeGroup,
    help="Build and list the Linux kernels of the back end uml.",
    rich_markup_mode=None,
)


@app.command()
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
    patch: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A patch to apply; may be given several times."),
    ] = None,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file of further CONFIG_ lines.")
    ] = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Jobs of make at once.")] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Build even if it was built before.")
    ] = False,
) -> None:
    """Build a kernel as a program and keep it; this takes minutes, the second time seconds."""
    from narrows.backends.uml import build as build_kernel
    from narrows.console import StepBar

    with StepBar() as bar:
        built = build_kernel(
            name,
            source=source,
            debian=debian,
            patches=patch or (),
            config=config,
            jobs=jobs,
            force=force,
            progress=bar,
        )
    print(f"{built.name}: Linux {built.release} at {built.path}")


@app.command("list")
def list_kernels(as_json: AsJson = False) -> None:
    """List the kernels that were built."""
    from narrows.backends.uml import kernels
    from narrows.console import print_list

    found = kernels()
    if as_json:
        print_json(
            [
                {"name": k.name, "release": k.release, "built": k.built, "source": str(k.source)}
                for k in found
            ]
        )
        return
    if not found:
        print("No kernel is built yet: `narrows kernel build` makes one.")
    print_list([(k.name, f"Linux {k.release}, built {k.built} from {k.source}") for k in found])
