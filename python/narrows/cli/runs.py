"""Commands that run something: a specification, a sweep, a comparison, a published figure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from narrows.cli.options import (
    AllowCode,
    AsJson,
    Backend,
    Jobs,
    Out,
    Png,
    Sets,
    overrides,
    permission,
    source,
)
from narrows.cli.output import hint, print_json, print_lines
from narrows.cli.status import DONE, FAILED

if TYPE_CHECKING:
    from narrows.runner import Experiment
    from narrows.store import CaptureOptions


def add(app: typer.Typer) -> None:
    """Adds the commands to the command line."""
    for command in (run, sweep, compare, reproduce, bench):
        app.command()(command)
    app.command("still-true")(still_true)


def run(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="The specification, a TOML file.")],
    sets: Sets = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print means and trials as JSON.")
    ] = False,
    backend: Backend = "sim",
    out: Out = None,
    force: Annotated[bool, typer.Option("--force", help="Run again, replacing results.")] = False,
    trials: Annotated[
        str | None, typer.Option(metavar="N", help="Short for --set run.trials=N.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option(metavar="N", help="Short for --set run.seed=N.")
    ] = None,
    pcap: Annotated[bool, typer.Option("--pcap", help="Write captures of the packets.")] = False,
    snaplen: Annotated[
        int | None,
        typer.Option(metavar="N", help="Bytes to keep of each packet; by default its headers."),
    ] = None,
    ipv6: Annotated[bool, typer.Option("--ipv6", help="Write IPv6 headers.")] = False,
    qlog: Annotated[bool, typer.Option("--qlog", help="Write a qlog of each sender.")] = False,
    png: Png = False,
    watched: Annotated[
        bool, typer.Option("--watch", help="Run again whenever the specification changes.")
    ] = False,
    allow_code: AllowCode = None,
) -> None:
    """Run a specification and keep its results."""
    from narrows.runner import prepare
    from narrows.store import CaptureOptions

    captures = CaptureOptions(pcap=pcap, qlog=qlog, snaplen=snaplen, ipv6=ipv6)

    def once(place: str | None = out, again: bool = force) -> bool:
        with permission(allow_code, sets):
            job = prepare(source(spec), overrides(sets or [], trials, seed), backend)
        return _run(job, place, again, png, as_json, captures)

    if watched:
        from narrows.cli.watch import place_of, watch

        watch(spec, lambda: once(out or place_of(spec), again=True))
    raise typer.Exit(DONE if once() else FAILED)


def _run(
    job: Experiment,
    out: str | None,
    force: bool,
    png: bool,
    as_json: bool,
    captures: CaptureOptions,
) -> bool:
    """Runs a checked specification and shows the results; returns whether expectations are met."""
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
    broken = [str(one) for one in unmet(job, outcome.result)]
    if as_json:
        from narrows.metrics.trials import join_trials

        more = {"unmet": broken} if job.loaded.spec.expect else {}
        found = join_trials(outcome.result.summary["runs"], job.plan.groups)
        print_json({**found, **more, "directory": str(outcome.result.path)})
    else:
        print_summary(outcome.result)
        print_lines(f"not met: {one}" for one in broken)
        hint(f"narrows open {outcome.result.path}", "narrows ls")
    return not broken


def sweep(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A specification with lists.")],
    sets: Sets = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="AXIS=VALUE", help="Run only these: path.buffer=1bdp,2bdp."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how much there is to run.")
    ] = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
    backend: Backend = "sim",
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="The store of the runs, or its URL.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help='A Dask scheduler, or "local" for processes here.'),
    ] = None,
    allow_code: AllowCode = None,
) -> None:
    """Run every combination of a study; resume where it stopped."""
    from narrows.console import ProgressBar
    from narrows.sweeps import estimate, execute, prepare
    from narrows.sweeps.page import write_pages
    from narrows.sweeps.text import estimate_lines, outcome_lines

    with permission(allow_code, sets):
        job = prepare(source(study), sets or (), filters=filters or (), backend=backend, out=out)
    if dry_run:
        expected = estimate(job, jobs)
        if as_json:
            print_json(expected.document())
        else:
            print_lines(estimate_lines(expected))
        return
    with ProgressBar() as bar:
        outcome = execute(job, jobs=jobs, cluster=cluster, watcher=bar, command=sys.argv)
    pages = write_pages(job.directory, job.name) if outcome.new or outcome.stored else []
    if as_json:
        print_json(outcome.document() | {"pages": [str(page) for page in pages]})
    else:
        print_lines([*outcome_lines(outcome), *map(str, pages)])
        hint(*(f"narrows open {job.directory}" for _ in pages[:1]), "narrows list figures")
    raise typer.Exit(DONE if outcome.good else FAILED)


def compare(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO", help="A specification, or a directory of them.")
    ],
    sets: Sets = None,
    backends: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Two or three: sim, uml, uml:NAME, kernel, capture:FILE, import:DIR.",
        ),
    ] = "sim,uml",
    trials: Annotated[int, typer.Option(metavar="N", help="Minimum number of runs of each.")] = 4,
    max_trials: Annotated[
        int | None,
        typer.Option(metavar="N", help="Maximum number; by default 12, or --trials if more."),
    ] = None,
    until_decided: Annotated[
        bool, typer.Option("--until-decided", help="Short for --max-trials 200.")
    ] = False,
    as_json: AsJson = False,
    out: Out = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every cell there, as Markdown.")
    ] = None,
    allow_code: AllowCode = None,
) -> None:
    """Judge whether simulator and Linux agree on a scenario.

    The exit status is 0 only if everything agrees, and 1 if anything differs or is undecided.
    """
    from narrows.compare import UNTIL_DECIDED, Verdict, study
    from narrows.console import ProgressBar

    with permission(allow_code, sets), ProgressBar() as bar:
        made = study(
            scenario,
            sets or (),
            backends=[_analysed(label) for label in backends.split(",")],
            trials=trials,
            max_trials=UNTIL_DECIDED if until_decided and max_trials is None else max_trials,
            out=out,
            watcher=bar,
        )
    if table is not None:
        made.write_table(table)
    if as_json:
        print_json(made.document())
    else:
        print_lines(made.lines())
    raise typer.Exit(DONE if made.counts.verdict is Verdict.AGREE else FAILED)


def _analysed(label: str) -> str:
    """The name of a back end; a file of a measurement is read first and named by its results."""
    backend, _, file = label.partition(":")
    if backend not in ("capture", "import") or not Path(file).is_file():
        return label
    if backend == "import":
        from narrows.exchange import import_files

        return f"import:{import_files([file]).path}"
    from narrows.analyze import analyze

    return f"capture:{analyze([file]).result.path}"


def reproduce(
    wanted: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help='A figure (`narrows list figures`), a claim, a document, or "all"; '
            '"claim:ID" for a claim that is called like its figure. Or the folder of an own paper, '
            "such as ./my-paper, and ./my-paper:CLAIM.",
        ),
    ],
    backend: Backend = "sim",
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The kernel to follow; by default the document's."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller grid, marked as such.")] = False,
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
        typer.Option("--rivals", help="Judge them with other controls in BBR's place."),
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, max=100, help="Judge them with N disjoint sets of seeds."),
    ] = None,
    vary_paths: Annotated[
        bool,
        typer.Option(
            "--vary-paths", help="Its own buffer and delay for each trial (up to 3 and 1 %)."
        ),
    ] = False,
    trials: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="At most this many trials of each condition."),
    ] = None,
    allow_code: AllowCode = None,
    jobs: Jobs = None,
    out: Out = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print every check, its rule and its history.")
    ] = False,
) -> None:
    """Reproduce published figures and judge their claims."""
    from narrows.console import ProgressBar
    from narrows.reproduce import make, text
    from narrows.reproduce.elsewhere import Elsewhere, judge_elsewhere
    from narrows.reproduce.judgements import only_simulated
    from narrows.reproduce.own import open_library

    elsewhere = Elsewhere(mutations, testbeds, rivals, seeds)
    if elsewhere.asked:
        only_simulated(backend, vary_paths=vary_paths, trials=trials)
    with permission(allow_code, None), open_library(wanted, out) as paper:
        if elsewhere.asked:
            with ProgressBar() as bar:
                report = judge_elsewhere(
                    paper.wanted,
                    elsewhere,
                    quick=quick,
                    profile=profile,
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
                vary_paths=vary_paths,
                trials=trials,
                out=paper.out,
                jobs=jobs,
                watcher=bar,
            )
        print_lines(text.reproduction_lines(done, verbose=verbose))
    raise typer.Exit(DONE if done.passed else FAILED)


def still_true(
    kernels: Annotated[
        bool, typer.Option("--kernels/--no-kernels", help="Also on the real kernels set up here.")
    ] = True,
    jobs: Jobs = None,
    out: Out = None,
) -> None:
    """Test every version of BBR for the problems found in it."""
    from narrows.console import ProgressBar
    from narrows.reproduce.make import OUT
    from narrows.reproduce.today import page, table

    with ProgressBar() as bar:
        made = table.make(kernels=kernels, out=out, jobs=jobs, watcher=bar)
    print_lines(table.text(made))
    print_lines([f"page: {page.write(made, Path(out) if out is not None else OUT)}"])


def bench(
    as_json: AsJson = False,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, rougher numbers.")] = False,
    against: Annotated[
        str | None,
        typer.Option(metavar="PEER", help="Also in ns-3 (`ns3`), or in a program with this path."),
    ] = None,
) -> None:
    """Measure packets per CPU second."""
    from narrows.bench import measure, print_measurements

    if against is not None:
        _bench_against(against, as_json, quick)
        return
    results = measure(quick)
    if as_json:
        print_json({"quick": quick, "scenarios": results})
    else:
        print_measurements(results, quick)


def _bench_against(name: str, as_json: bool, quick: bool) -> None:
    from narrows.bench.against import compare, peer, print_comparison

    with peer(name) as program:
        results = compare(program, quick)
        if as_json:
            print_json({"quick": quick, "against": name, "scenarios": list(results)})
        else:
            print_comparison(results, Path(name).name)
