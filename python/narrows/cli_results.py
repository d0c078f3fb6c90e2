"""Commands on stored results: `narrows export` and `narrows figure`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    for command in (export, figure):
        app.command()(command)


def export(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Of a sweep or a run.")],
    table: Annotated[str, typer.Argument(metavar="TABLE", help="summary, flows, runs, ...")],
    form: Annotated[str, typer.Option("--format", help="csv, parquet or json.")] = "csv",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Instead of standard output.")
    ] = None,
) -> None:
    """Write one table of all runs in a directory."""
    from narrows.sweeps import export as write_table
    from narrows.sweeps import export_file

    if out is None:
        write_table(directory, table, form, sys.stdout.buffer)
    else:
        export_file(directory, table, form, out)


def figure(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Of a sweep or a run.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="share, heatmap, timeline, ...")],
    metric: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of the table summary, or of flows.")
    ] = None,
    x: Annotated[str | None, typer.Option(metavar="AXIS", help="Across.")] = None,
    y: Annotated[str | None, typer.Option(metavar="AXIS", help="Up, in a heat map.")] = None,
    by: Annotated[str | None, typer.Option(metavar="AXIS", help="A line for each value.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="AXIS=VALUE", help="Only these: path.rate=40mbit,80mbit."),
    ] = None,
    trial: Annotated[int, typer.Option(metavar="N", help="Of a figure of one run.")] = 1,
    form: Annotated[str, typer.Option("--format", help="png, svg, html; several.")] = "png,svg",
    out: Annotated[
        Path | None, typer.Option(metavar="STEM", help="Files without their endings; else NAME.")
    ] = None,
) -> None:
    """Draw a figure of stored results."""
    from narrows.console import print_paths
    from narrows.sweeps.figure import described, save

    made = described(
        directory, name, metric=metric, x=x, y=y, by=by, where=where or (), trial=trial
    )
    formats = [kind.strip() for kind in form.split(",")]
    print_paths(save(made, out if out is not None else Path(name), formats))
