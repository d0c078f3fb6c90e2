"""Commands that compare with kernels and with papers: `narrows compare` and `reproduce`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from narrows.cli.options import (
    AllowCode,
    AsJson,
    Backend,
    Filters,
    Jobs,
    Out,
    Sets,
    check_sets,
    permission,
    source,
)
from narrows.cli.output import print_lines, print_result
from narrows.cli.status import DONE, FAILED
from narrows.errors import InputError

STILL_TRUE = "still-true"
"""The option value that reproduces the table of the problems that versions of BBR still have."""


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    for command in (compare, reproduce):
        app.command()(command)


def compare(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="A specification, or a study.")],
    sets: Sets = None,
    filters: Filters = None,
    backends: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Two or three: sim, uml, uml:NAME, kernel, hosts:NAME, capture:FILE, import:FILE.",
        ),
    ] = "sim,uml",
    trials: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Minimum number of runs of each; by default 4, or run.trials if that is more.",
        ),
    ] = None,
    max_trials: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Maximum number of runs of each; by default 12, or --trials if more."
        ),
    ] = None,
    until_decided: Annotated[
        bool, typer.Option("--until-decided", help="Short for --max-trials 200.")
    ] = False,
    as_json: AsJson = False,
    out: Out = None,
    table: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write every comparison to this file, as CSV."),
    ] = None,
    allow_code: AllowCode = None,
) -> None:
    """Judge whether simulator and Linux agree on a specification.

    The exit status is 0 only if everything agrees, and 1 if anything differs or is undecided.
    """
    from narrows.cli.measurements import find_backends
    from narrows.compare import UNTIL_DECIDED, EquivalenceVerdict
    from narrows.compare import compare as compare_all
    from narrows.console import ProgressBar
    from narrows.spec import load_study

    with permission(allow_code, sets), ProgressBar() as bar:
        study = load_study(source(spec), sets or ())
        names, headings = find_backends(backends, study, filters or ())
        made = compare_all(
            study,
            filters=filters or (),
            backends=names,
            headings=headings,
            trials=trials,
            max_trials=UNTIL_DECIDED if until_decided and max_trials is None else max_trials,
            out=out,
            watcher=bar,
        )
    if table is not None:
        made.write_cells(table)
    print_result(made.document, made.lines, as_json)
    raise typer.Exit(DONE if made.counts.verdict is EquivalenceVerdict.AGREE else FAILED)


def reproduce(
    wanted: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help='A figure (`narrows list figures`), a claim, a document, "all", or "still-true", '
            'the problems that versions of BBR still have; "claim:ID" for a claim with the name of '
            "its figure. Or the folder of your own paper, such as ./my-paper, and "
            "./my-paper:CLAIM.",
        ),
    ] = None,
    backend: Backend = "sim",
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The kernel to follow; by default the document's."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer conditions or shorter runs, marked so.")
    ] = False,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PLACE=VALUE",
            help="Change a value in all conditions (path.rtt=50ms), beside the unchanged figure.",
            callback=check_sets,
        ),
    ] = None,
    mutations: Annotated[
        bool,
        typer.Option(
            "--mutations", help="Run the negative controls: conditions in which claims must fail."
        ),
    ] = False,
    testbeds: Annotated[
        bool,
        typer.Option("--testbeds", help="Judge the claims on every possible testbed."),
    ] = False,
    rivals: Annotated[
        bool,
        typer.Option("--rivals", help="Judge the claims with other controls in BBR's place."),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=2, max=100, help="Judge the claims with N disjoint sets of seeds."
        ),
    ] = None,
    vary_paths: Annotated[
        bool,
        typer.Option(
            "--vary-paths", help="Give each trial its own buffer and delay (within 3 % and 1 %)."
        ),
    ] = False,
    trials: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="At most this many trials of each condition; the simulator adds trials until "
            "checks are decided, by default up to 64.",
        ),
    ] = None,
    kernels: Annotated[
        bool,
        typer.Option(
            "--kernels/--no-kernels", help="For still-true: also on the kernels set up here."
        ),
    ] = True,
    allow_code: AllowCode = None,
    jobs: Jobs = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Only list the verdicts, of ID or of our documents.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
    out: Out = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print the rule of every check and its history.")
    ] = False,
) -> None:
    """Reproduce published figures, judge claims, list verdicts."""
    if wanted == STILL_TRUE and listed:
        found = "--list with still-true, which judges anew each time"
        raise InputError.at("reproduce", found, "the command without it")
    if wanted is None or listed:
        _list_claims(wanted, out, as_json)
        return
    if wanted == STILL_TRUE:
        _still_true(kernels, jobs, out)
        return
    from narrows.console import ProgressBar
    from narrows.reproduce import make, text
    from narrows.reproduce.elsewhere import Elsewhere, judge_elsewhere
    from narrows.reproduce.judgements import only_simulated
    from narrows.reproduce.own import open_library

    elsewhere = Elsewhere(mutations, testbeds, rivals, seeds)
    if elsewhere.requests_any:
        only_simulated(backend, vary_paths=vary_paths)
        if sets:
            raise InputError.at("--set", sets[0], "it without --mutations, --testbeds and the like")
    with permission(allow_code, None), open_library(wanted, out) as paper:
        if elsewhere.requests_any:
            with ProgressBar() as bar:
                report = judge_elsewhere(
                    paper.wanted,
                    elsewhere,
                    quick=quick,
                    profile=profile,
                    trials=trials,
                    out=paper.out,
                    jobs=jobs,
                    watcher=bar,
                )
            print_lines(report.lines)
            raise typer.Exit(DONE if report.good else FAILED)
        with ProgressBar() as bar:
            done = make.reproduce(
                paper.wanted,
                backend=backend,
                profile=profile,
                quick=quick,
                sets=sets or (),
                vary_paths=vary_paths,
                trials=trials,
                out=paper.out,
                jobs=jobs,
                watcher=bar,
            )
        print_lines(text.reproduction_lines(done, verbose=verbose))
    raise typer.Exit(DONE if done.none_refuted else FAILED)


def _list_claims(wanted: str | None, out: str | None, as_json: bool) -> None:
    """Lists the claims that a name means, with their verdicts; without a name ours."""
    from narrows.reproduce import judgements, ledger
    from narrows.reproduce.catalogue import ALL, claims_of
    from narrows.reproduce.own import open_to_read
    from narrows.reproduce.site import own_profiles
    from narrows.reproduce.text import ledger_lines

    with open_to_read(wanted or ALL, out) as paper:
        here, recorded = ledger.read_known(paper.out)
        judged = judgements.read_known(paper.out)
        every = ledger.lines([*here, *recorded], own_profiles(), judged)
        listed = claims_of(paper.wanted)
        found = [line for line in every if line.claim.identifier in listed]
        print_result(
            lambda: ledger.document(found, here), lambda: ledger_lines(found, here), as_json
        )


def _still_true(kernels: bool, jobs: int | None, out: str | None) -> None:
    """Tests every version of BBR for the problems found in it."""
    from narrows.console import ProgressBar
    from narrows.reproduce.make import OUT
    from narrows.reproduce.today import page, table

    with ProgressBar() as bar:
        made = table.make(kernels=kernels, out=out, jobs=jobs, watcher=bar)
    print_lines(table.text(made))
    print_lines([f"page: {page.write(made, Path(out) if out is not None else OUT)}"])
