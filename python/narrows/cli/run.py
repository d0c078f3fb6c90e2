"""The command that runs: a specification, or every combination of a study."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from narrows.cli.options import (
    AllowCode,
    AsJson,
    Backend,
    Filters,
    Jobs,
    Png,
    Sets,
    is_of_paper,
    overrides,
    permission,
    refuse_options,
    source,
)
from narrows.cli.output import hint, print_json, print_lines, print_result
from narrows.cli.places import as_path
from narrows.cli.status import DONE, FAILED
from narrows.errors import InputError, InterruptedRunError, Problem
from narrows.words import count_of

if TYPE_CHECKING:
    from narrows.runner import Experiment
    from narrows.spec import Override, SpecificationText
    from narrows.store import CaptureOptions
    from narrows.sweeps import SweepJob

_OF_ONE_RUN = ("force", "pcap", "snaplen", "ipv6", "qlog", "qlog_draft", "png", "watched")
"""Options that don't apply to a study, nor to a specification that is run as a study."""
_OF_A_RUN = (*_OF_ONE_RUN, "dry_run", "out", "metrics", "jobs", "cluster")
"""Options that don't apply to a check."""


def add(app: typer.Typer) -> None:
    """Adds the command to the command line."""
    app.command()(run)


def run(
    context: typer.Context,
    specs: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC",
            help="A specification. With lists or cases in it, it is a study, and every combination "
            'runs. "-" is standard input; --check takes several.',
        ),
    ],
    sets: Sets = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only check it, and count its runs.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Run nothing; print how much there is to run, or for hosts the commands.",
        ),
    ] = False,
    as_json: AsJson = False,
    backend: Backend = "sim",
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where the results go; for a study also a URL."),
    ] = None,
    trials: Annotated[
        str | None, typer.Option(metavar="N", help="Short for --set run.trials=N.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option(metavar="N", help="Short for --set run.seed=N.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Run again, replacing results.")] = False,
    pcap: Annotated[bool, typer.Option("--pcap", help="Write captures of the packets.")] = False,
    snaplen: Annotated[
        int | None,
        typer.Option(metavar="N", help="Bytes to keep of each packet; by default its headers."),
    ] = None,
    ipv6: Annotated[bool, typer.Option("--ipv6", help="Write IPv6 headers.")] = False,
    qlog: Annotated[bool, typer.Option("--qlog", help="Write a qlog of each sender.")] = False,
    qlog_draft: Annotated[
        bool,
        typer.Option("--qlog-draft", help="Write it as the newest drafts of qlog have it."),
    ] = False,
    png: Png = False,
    watched: Annotated[
        bool, typer.Option("--watch", help="Run again whenever the specification changes.")
    ] = False,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            metavar="COLUMN",
            help="Run as a study, and add this column of summary to its table, by name or heading: "
            "queue_p95_ms.",
        ),
    ] = None,
    filters: Filters = None,
    jobs: Jobs = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help='Run as a study: a Dask scheduler, or "local" for processes here.',
        ),
    ] = None,
    allow_code: AllowCode = None,
) -> None:
    """Run a specification or a study; a study resumes where it stopped.

    The trials of one combination are stored together, at the end; with --jobs N one by one, as in
    a study.
    """
    from narrows.runner import prepare
    from narrows.store import CaptureOptions

    if check:
        refuse_options(context, "run", _OF_A_RUN, "with --check")
        with permission(allow_code, sets):
            _check(specs, overrides(sets or [], trials, seed), filters or (), backend, as_json)
        return
    if len(specs) > 1:
        raise InputError.at("SPEC", f"{len(specs)} specifications", "one, or --check")
    given, changes = _readable(specs[0]), overrides(sets or [], trials, seed)
    if dry_run and backend.startswith("hosts:") and not is_study(given, changes):
        from narrows.cli.hosts import print_script

        print_script(given, changes, backend.partition(":")[2])
        return
    as_study = (
        dry_run or metrics or filters or jobs or cluster or (out is not None and "://" in out)
    )
    if as_study or (not watched and is_study(given, changes)):
        from narrows.sweeps import prepare as prepare_study

        refuse_options(context, "run", _OF_ONE_RUN, "for a study")
        with permission(allow_code, sets):
            study = prepare_study(given, changes, filters=filters or (), backend=backend, out=out)
        if dry_run:
            raise typer.Exit(_estimate(study, jobs, as_json))
        _check_metrics(study, metrics or ())
        raise typer.Exit(_run_study(study, metrics or (), jobs, cluster, as_json))
    captures = CaptureOptions(
        pcap=pcap, qlog=qlog or qlog_draft, qlog_draft=qlog_draft, snaplen=snaplen, ipv6=ipv6
    )

    def once(place: str | None = out, again: bool = force) -> bool:
        with permission(allow_code, sets):
            job = prepare(given, changes, backend)
        return _run(job, place, again, png, as_json, captures)

    if watched:
        from narrows.cli.watch import place_of, watch

        watch(specs[0], lambda: once(out or place_of(specs[0]), again=True))
    raise typer.Exit(DONE if once() else FAILED)


def _readable(spec: str) -> str | SpecificationText:
    """Returns the `source` of a specification.

    Raises InputError for the study of a paper, which another command runs.
    """
    path = Path(spec)
    if is_of_paper(path):
        remedy = f"`narrows reproduce {as_path(path if path.is_dir() else path.parent)}`"
        raise InputError.at(spec, "a study of a published figure", remedy)
    return source(spec)


def is_study(given: str | SpecificationText, changes: list[Override]) -> bool:
    """Returns True if a specification has axes, cases, or a rule for enough trials."""
    from narrows.spec import load_study

    study = load_study(given, changes)
    return bool(study.axes or study.until)


def _check(
    specs: list[str],
    changes: list[Override],
    filters: Sequence[str],
    backend: str,
    as_json: bool,
) -> None:
    """Checks specifications and studies; raises InputError with the problems of all."""
    from narrows.sweeps import prepare

    found: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for spec in specs:
        try:
            job = prepare(_readable(spec), changes, filters=filters, backend=backend)
        except InputError as error:
            problems += error.problems
            continue
        counts = {"combinations": len(job.cells), "runs": len(job.runs)}
        found.append({"spec": spec, "name": job.name, **counts})
    if as_json:
        print_json({"right": found, "wrong": [str(problem) for problem in problems]})
    else:
        for one in found:
            count, runs = one["combinations"], one["runs"]
            meant = f"{count_of(runs, 'run')} of {count_of(count, 'combination')}"
            print(f"{one['spec']}: valid; {meant}")
    if problems:
        raise InputError(problems)


def _estimate(job: SweepJob, jobs: int | None, as_json: bool) -> int:
    """Prints how much there is to run; returns the exit status."""
    from narrows.sweeps import estimate
    from narrows.sweeps.text import estimate_lines

    expected = estimate(job, jobs)
    print_result(expected.document, lambda: estimate_lines(expected), as_json)
    return DONE


def _check_metrics(job: SweepJob, asked: Sequence[str]) -> None:
    """Raises InputError for a metric that no run of a study can have."""
    from narrows.metrics.headings import columns_named, unknown_metric
    from narrows.metrics.tables import columns_of

    columns = dict.fromkeys(name for cell in job.cells if asked for name in columns_of(cell.plan))
    for one in asked:
        if not columns_named(one, columns):
            raise unknown_metric(one, columns, "--metric")


def _run_study(
    job: SweepJob, metrics: Sequence[str], jobs: int | None, cluster: str | None, as_json: bool
) -> int:
    """Does the missing runs of a study and shows the outcome; returns the exit status."""
    from narrows.console import ProgressBar
    from narrows.sweeps import execute
    from narrows.sweeps.page import write_pages
    from narrows.sweeps.table import table
    from narrows.sweeps.text import outcome_lines

    with _noting_progress(job), ProgressBar() as bar:
        outcome = execute(job, jobs=jobs, cluster=cluster, watcher=bar, command=sys.argv)
        there = outcome.new or outcome.stored
        pages = write_pages(job.directory, job.name) if there else {}
    if as_json:
        print_json(outcome.document() | {"pages": [str(page) for page in pages]})
    else:
        cells = {cell.number for cell in job.cells}
        tables = (table(found, str(job.directory), metrics, cells) for found in pages.values())
        print_lines([*outcome_lines(outcome, chain.from_iterable(tables)), *map(str, pages)])
        opening = [f"narrows open {job.directory}"] if pages else []
        hint(*opening, f"narrows figure {job.directory}")
    return DONE if outcome.good else FAILED


@contextmanager
def _noting_progress(job: SweepJob) -> Iterator[None]:
    """Adds to an interrupt how many runs of the study are stored."""
    from narrows.store import open_store, slug
    from narrows.store.maintenance import state

    try:
        yield
    except (KeyboardInterrupt, InterruptedRunError) as error:
        with suppress(Exception):  # the interrupt may have come before the study was stored
            found = state(open_store(job.directory), slug(job.name))
            stored = f"{found.stored} of {count_of(found.runs, 'run')} stored"
            error.add_note(f"{stored}; the same command continues")
        raise


def _run(
    job: Experiment,
    out: str | None,
    force: bool,
    png: bool,
    as_json: bool,
    captures: CaptureOptions,
) -> bool:
    """Runs a checked specification and shows the results; returns True if all checks are met."""
    from narrows.console import ProgressBar, note_cached, note_cost, print_summary
    from narrows.runner import execute, unmet

    with ProgressBar() as bar:
        outcome = execute(
            job,
            out=out,
            force=force,
            watcher=bar,
            command=sys.argv,
            captures=captures,
            begins=lambda: note_cost(job),
        )
    if outcome.cached:
        note_cached(outcome.result)
    if png:
        from narrows.report import write_report

        write_report(outcome.result.path, pictures=True)
    broken = unmet(job, outcome.result)
    from narrows.metrics.notes import notes_of_run
    from narrows.metrics.trials import join_trials

    runs = outcome.result.summary["runs"]
    if as_json:
        more = {"unmet": [one.document() for one in broken]} if job.checks else {}
        found = join_trials(runs, job.plan.groups)
        print_json({**found, **more, "directory": str(outcome.result.path)})
    else:
        print_summary(outcome.result, notes_of_run(runs, job.plan.groups))
        print_lines(map(str, broken))
        if captures.pcap:
            print_lines([f"captures: {outcome.result.path / 'trial-1' / 'captures'}"])
        hint(f"narrows open {outcome.result.path}", "narrows list results")
    return not broken
