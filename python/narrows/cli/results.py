"""Commands on stored results, captures and files of other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from narrows.cli.options import (
    AllowCode,
    AsJson,
    Force,
    Jobs,
    Out,
    Sets,
    permission,
    refuse_options,
    source,
)
from narrows.cli.output import print_json, print_lines, print_result
from narrows.cli.status import reading
from narrows.errors import InputError

_OF_RESULTS = ("metric", "x", "y", "by", "where", "ylim", "xscale", "trial", "form", "width")
"""Options of a figure of results."""


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    for command in (verify, analyze, export, figure):
        app.command()(command)
    app.command("import")(import_)


def write_pages(place: str, png: bool = False, runs: bool = False) -> list[Path]:
    """Rewrites the pages of a run or a sweep, with the pictures of a run if `png`."""
    from narrows.report import write_report
    from narrows.store import is_store

    if is_store(place):
        from narrows.sweeps.page import write_pages as of_sweep

        return list(of_sweep(place, runs=runs))
    written = write_report(place, pictures=png)
    return [written.page, *written.pictures]


def verify(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Results of a run or a sweep.")],
    sample: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Repeat only N runs, drawn at random.")
    ] = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
    allow_code: AllowCode = None,
) -> None:
    """Repeat stored runs and compare all values with the stored ones."""
    from narrows.cli.status import FAILED
    from narrows.verify import check_place, document, kept_runs, lines, repeat

    with permission(allow_code, None), reading(directory):
        runs = kept_runs(directory, sample)
        beside, found = check_place(directory), repeat(runs, jobs)
    print_result(lambda: document(found, beside), lambda: lines(found, beside), as_json)
    if beside.differs or not all(one.is_identical for one in found):
        raise typer.Exit(FAILED)


def analyze(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="pcap or pcapng, also gzipped; or the directory of a run with captures.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print all findings as JSON.")] = False,
    out: Out = None,
    force: Force = False,
    packets: Annotated[bool, typer.Option("--packets", help="Keep a row for each packet.")] = False,
    replayed: Annotated[
        bool,
        typer.Option(
            "--replay", help="Simulate the capture, also with other controls and fq_codel."
        ),
    ] = False,
) -> None:
    """Analyse captures: causes, losses, delays, controls."""
    from narrows.analyze import Datagrams, describe
    from narrows.analyze.folders import captures_in

    made = describe(captures_in(files), packets=packets, out=out, force=force, command=sys.argv)
    from narrows.analyze.text import datagram_lines, lines

    if isinstance(made, Datagrams):
        if replayed:
            raise InputError.at("--replay", "no TCP data to simulate", "a capture with TCP data")
        print_result(made.document, lambda: datagram_lines(made), as_json)
        return
    found = None
    if replayed:
        from narrows.analyze.replay import keep, replay, replayed_flows
        from narrows.analyze.replay import lines as replay_lines

        found = replay(made)
        flows = replayed_flows(found, [flow["name"] for flow in made.findings["flows"]])
        keep(flows, made.result.path)
    if as_json:
        print_json(made.document() | ({"replay": found.document()} if found else {}))
        return
    print_lines(lines(made))
    if found is not None:
        print_lines(replay_lines(flows))


def export(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="Results of a sweep or a run.")],
    table: Annotated[
        str, typer.Argument(metavar="[TABLE]", help="summary, flows, runs, ...")
    ] = "summary",
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORM",
            help="csv, parquet, json; for a run also iperf3, flent, mahimahi.",
        ),
    ] = "csv",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write; by default standard output."),
    ] = None,
) -> None:
    """Write a table of results, or a run in another program's format."""
    if form in ("iperf3", "flent", "mahimahi"):
        from narrows.console import print_paths
        from narrows.exchange import export_run

        print_paths(export_run(directory, form, out if out is not None else Path(table)))
        return
    from narrows.sweeps import export as write_table
    from narrows.sweeps import export_file

    with reading(directory):
        if out is not None and out.resolve().is_relative_to(Path(directory).resolve()):
            raise InputError.at("--out", f'"{out}", a file of the results', "a file elsewhere")
        if out is None:
            write_table(directory, table, form, sys.stdout.buffer)
        else:
            export_file(directory, table, form, out)


def figure(
    context: typer.Context,
    place: Annotated[
        str,
        typer.Argument(
            metavar="DIR|SPEC", help="Results, or a specification, whose network is drawn as SVG."
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="Of a sweep: share, lines, ...; of a run: timeline, ...",
        ),
    ] = None,
    sets: Sets = None,
    metric: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="A column of summary or flows, or its heading."),
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
    ylim: Annotated[
        str | None,
        typer.Option(metavar="auto|LOW:HIGH", help="The y axis: around the values, or these ends."),
    ] = None,
    xscale: Annotated[
        str | None, typer.Option(metavar="SCALE", help="An x axis of numbers: linear or log.")
    ] = None,
    trial: Annotated[
        int | None,
        typer.Option(metavar="N", help="The trial, for a figure of one run; by default 1."),
    ] = None,
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORMS", help="One or several of png, svg, pdf, html."),
    ] = "png,svg",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="STEM",
            help="Path of the files without suffix, by default STUDY-NAME; of a specification the "
            "SVG file, by default NAME-network.svg on a terminal, else standard output.",
        ),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(
            metavar="INCHES", min=1.5, max=40, help="The width for a paper, without a title."
        ),
    ] = None,
) -> None:
    """Draw stored results, or the network of a specification."""
    if name in (None, "network") and not Path(place).is_dir() and "://" not in place:
        refuse_options(context, "figure", _OF_RESULTS, "for a specification")
        _draw_network(place, sets or [], out)
        return
    if Path(place).is_file():
        of_spec = Path(place).suffix == ".toml"
        found = "a specification" if of_spec else "a file"
        remedy = _first(place, str(name)) if of_spec else "a directory"
        raise InputError.at(place, f"{found}, and {name} is drawn of results", remedy)
    refuse_options(context, "figure", ("sets",), "for results")
    from narrows.console import print_paths
    from narrows.store import slug
    from narrows.store.atomic import writing
    from narrows.sweeps.figure import default_name, describe, save

    with reading(place):
        name = name or default_name(place)
        made = describe(
            place, name, metric=metric, x=x, y=y, by=by, where=where or (), trial=trial,
            ylim=ylim, xscale=xscale,
        )  # fmt: skip
    formats = [kind.strip() for kind in form.split(",")]
    stem = (
        out
        if out is not None
        else Path(f"{slug(made.study.partition(':')[0], 40, 'figure')}-{name}")
    )
    if width is not None:
        made = made.for_paper(width)
    remedy = "the path of files without suffix, in a directory that can be written (--out STEM)"
    if not stem.name:
        raise InputError.at("--out", f'"{stem}", a directory', remedy)
    with writing(stem, remedy):
        print_paths(save(made, stem, formats))


def _first(spec: str, name: str) -> str:
    """Returns the commands that lead from a specification to a figure of its results."""
    from narrows.figures import CATALOGUE
    from narrows.spec import load_study
    from narrows.sweeps.prepare import default_directory

    study = load_study(spec)
    swept = bool(study.axes or study.until)
    if not swept and (name not in CATALOGUE or CATALOGUE[name].of == "run"):
        return f"the directory that `narrows run {spec}` prints"
    axis = "" if swept else " --set path.buffer=0.5bdp,2bdp"
    made = default_directory(study.name)
    return f"`narrows run {spec}{axis}`, then `narrows figure {made} {name}`,"


def _draw_network(spec: str, sets: list[str], out: Path | None) -> None:
    """Draws the network of a specification as SVG."""
    from narrows.figures.network import svg
    from narrows.plan import plan
    from narrows.spec import load
    from narrows.store import slug
    from narrows.store.atomic import write_text, writing

    scenario = plan(load(source(spec), sets).spec, "").trials[0].scenario
    drawn = svg(scenario)
    if out is None and not sys.stdout.isatty():
        print_lines([drawn.rstrip()])
        return
    out = out or Path(f"{slug(scenario['name'], 40, 'scenario')}-network.svg")
    if out.exists() and Path(spec).exists() and out.samefile(spec):
        raise InputError.at("--out", f'"{out}", the specification itself', "another file")
    with writing(out, "a file that can be written (--out FILE)"):
        write_text(out, drawn, follow=True)
    print_lines([str(out)])


def import_(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files of iperf3, flent, mahimahi, ss, or CSV."),
    ],
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="FORM", help="iperf3, flent, csv, mahimahi or ss."),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PLACE=VALUE", help="A known value: path.rate=100mbit."),
    ] = None,
    out: Out = None,
    force: Force = False,
) -> None:
    """Turn files of iperf3, flent, mahimahi, ss or CSV into results."""
    from narrows.console import delay_lines, print_summary
    from narrows.exchange import import_files
    from narrows.exchange.read import given_rtt_ms

    made = import_files(files, form, sets or (), out=out, force=force, command=sys.argv)
    given = given_rtt_ms(made.trials[0].scenario, sets or ())
    print_summary(made, delay_lines(made.summary["runs"], given))
