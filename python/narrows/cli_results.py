"""Commands on stored results: `narrows export`, `narrows figure`, `narrows import`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    for command in (export, figure):
        app.command()(command)
    app.command("import")(import_)


def export(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Results of a sweep or a run.")],
    table: Annotated[str, typer.Argument(metavar="TABLE", help="summary, flows, runs, ...")],
    form: Annotated[
        str, typer.Option("--format", help="csv, parquet, json; of a run iperf3, flent, mahimahi.")
    ] = "csv",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write; by default standard output."),
    ] = None,
) -> None:
    """Write one table of all runs in a directory, or a run in the format of another program."""
    if form in ("iperf3", "flent", "mahimahi"):
        from narrows.console import print_paths
        from narrows.exchange import export_run

        print_paths(export_run(directory, form, out if out is not None else Path(table)))
        return
    from narrows.sweeps import export as write_table
    from narrows.sweeps import export_file

    if out is None:
        write_table(directory, table, form, sys.stdout.buffer)
    else:
        export_file(directory, table, form, out)


def figure(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Results of a sweep or a run.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="share, heatmap, timeline, ...")],
    metric: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="A column of summary or flows.")
    ] = None,
    x: Annotated[str | None, typer.Option(metavar="AXIS", help="The x axis.")] = None,
    y: Annotated[str | None, typer.Option(metavar="AXIS", help="The y axis of a heat map.")] = None,
    by: Annotated[str | None, typer.Option(metavar="AXIS", help="A line for each value.")] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="AXIS=VALUE", help="Show only these: path.rate=40mbit,80mbit."
        ),
    ] = None,
    trial: Annotated[
        int, typer.Option(metavar="N", help="Which trial, for a figure of one run.")
    ] = 1,
    form: Annotated[
        str, typer.Option("--format", help="One or several of png, svg, html.")
    ] = "png,svg",
    out: Annotated[
        Path | None,
        typer.Option(metavar="STEM", help="Path of the files without ending; by default NAME."),
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


def import_(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files of iperf3, flent, mahimahi, or CSV."),
    ],
    form: Annotated[
        str | None, typer.Option("--format", help="iperf3, flent, csv or mahimahi.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PLACE=VALUE", help="What is known: path.rate=100mbit."),
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Where the results go.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace other results there.")] = False,
) -> None:
    """Make results from what other programs measured; several files count as one run."""
    from narrows.console import print_summary
    from narrows.exchange import import_files

    made = import_files(files, form, sets or (), out=out, force=force, command=sys.argv)
    print_summary(made)
