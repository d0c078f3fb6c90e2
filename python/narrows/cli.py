"""The command line: every command is a few lines that call the package.

Exit status: 0 done, 1 an assertion failed or back ends differ, 2 bad input, 70 an error of narrows
itself, 130 interrupted.

Only typer is imported here; each command imports what it needs, because
`narrows --help` has to answer at once.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from narrows import cli_results
from narrows.cli_groups import kernel, store
from narrows.errors import InputError, InterruptedRunError, NarrowsError
from narrows.version import __version__

if TYPE_CHECKING:
    from narrows.spec import Override

DONE, FAILED, BAD_INPUT, BROKEN, INTERRUPTED = 0, 1, 2, 70, 130

# The base of all errors of usage. Typer may carry its own copy of click, so the
# class is reached through what typer exports: BadParameter, UsageError, this.
_ClickError = typer.BadParameter.__mro__[2]

_BACKENDS = (
    "What runs it: sim, the simulator; uml, real Linux in virtual time (uml:NAME, a certain "
    "kernel); kernel, this machine's Linux in real time (kernel:own, without iperf3)."
)

AllowCode = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-code",
        metavar="FILE",
        help="Python code that may run if a specification names it: a file or a directory.",
    ),
]

app = typer.Typer(
    name="narrows",
    help="A congestion-control laboratory: describe a bottleneck once, run it, see what happens.",
    add_completion=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class Kind(StrEnum):
    """What `narrows list` can list."""

    CCAS = "ccas"
    QUEUES = "queues"
    SERVICES = "services"
    IMPAIRMENTS = "impairments"
    PATHS = "paths"
    PROFILES = "profiles"
    FIGURES = "figures"


def _version(wanted: bool) -> None:
    if wanted:
        print(f"narrows {__version__}")
        raise typer.Exit


cli_results.add(app)
app.add_typer(kernel, name="kernel")
app.add_typer(store, name="store")


@app.callback()
def _options(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 (its callback has done the work)
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


@app.command()
def run(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="The specification, a TOML file.")],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PLACE=VALUE",
            help="Change a value: path.buffer=4bdp, flows.0.cca=reno.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
    backend: Annotated[str, typer.Option(help=_BACKENDS)] = "sim",
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Where the results go.")] = None,
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
    allow_code: AllowCode = None,
) -> None:
    """Run a specification and keep its results."""
    from narrows.console import ProgressBar, note_cached, print_summary
    from narrows.runner import execute, prepare, unmet
    from narrows.store import CaptureOptions

    captures = CaptureOptions(pcap=pcap, qlog=qlog, snaplen=snaplen, ipv6=ipv6)
    with _permission(allow_code, sets):
        job = prepare(spec, _overrides(sets or [], trials, seed), backend)
    with ProgressBar() as bar:
        outcome = execute(
            job, out=out, force=force, watcher=bar, command=sys.argv, captures=captures
        )
    if outcome.cached:
        note_cached(outcome.result)
    broken = [str(one) for one in unmet(job, outcome.result)]
    if as_json:
        more = {"unmet": broken} if job.loaded.spec.expect else {}
        directory = str(outcome.result.path)
        _print_json({**outcome.result.summary, **more, "directory": directory})
    else:
        print_summary(outcome.result)
        _print(f"not met: {one}" for one in broken)
    raise typer.Exit(FAILED if broken else DONE)


def _permission(places: list[str] | None, sets: list[str] | None) -> AbstractContextManager[None]:
    """Allows the code that was named on the command line; a control by `--set`, too."""
    from narrows.spec.permission import allowing
    from narrows.spec.python_control import is_own, well_formed

    values = [text.partition("=")[2].strip() for text in sets or ()]
    return allowing(
        places or (), [value for value in values if is_own(value) and well_formed(value)]
    )


def _overrides(sets: Sequence[str], trials: str | None, seed: str | None) -> list[Override]:
    """`--trials` and `--seed` are short for `--set`, and come after it."""
    from narrows.spec import Override

    changes = [Override(text) for text in sets]
    for name, value in (("trials", trials), ("seed", seed)):
        if value is not None:
            changes.append(Override(f"run.{name}={value}", f"--{name}"))
    return changes


def _print_json(document: object) -> None:
    import json

    print(json.dumps(document, indent=1, allow_nan=False))


def _print(what: dict[str, object] | Iterable[str]) -> None:
    """An object as JSON, or lines."""
    if isinstance(what, dict):
        _print_json(what)
    else:
        for line in what:
            print(line)


@app.command("list")
def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    backend: Annotated[str, typer.Option(help=_BACKENDS)] = "sim",
) -> None:
    """List what can be named in a specification."""
    from narrows.console import print_list
    from narrows.listing import listing

    print_list(listing(kind.value, backend))


@app.command()
def schema() -> None:
    """Print a JSON Schema of specifications, with which editors complete and check TOML."""
    import json

    from narrows import _native

    print(json.dumps(json.loads(_native.schema()), indent=1))


@app.command()
def analyze(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="pcap or pcapng, also gzipped.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print all findings as JSON.")] = False,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Where the results go.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace other results there.")] = False,
    packets: Annotated[bool, typer.Option("--packets", help="Keep a row for each packet.")] = False,
) -> None:
    """Analyse captures: one, the pieces of one, or both ends of the same flows."""
    from narrows.analyze import analyze as analyze_files
    from narrows.analyze.text import lines

    made = analyze_files(files, packets=packets, out=out, force=force, command=sys.argv)
    _print(made.document() if as_json else lines(made))


@app.command()
def report(
    directory: Annotated[str, typer.Argument(metavar="DIR", help="A results directory.")],
) -> None:
    """Make the page of a results directory again."""
    from narrows.console import print_paths
    from narrows.report import write_report

    written = write_report(directory)
    print_paths([written.page, *written.pictures])


@app.command()
def reproduce(
    wanted: Annotated[
        str,
        typer.Argument(
            metavar="ID", help='A figure (`narrows list figures`), a claim, a document, or "all".'
        ),
    ],
    backend: Annotated[str, typer.Option(help=_BACKENDS)] = "sim",
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The kernel to follow; by default the document's."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller grid, marked as such.")] = False,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Runs at once; by default one for each core."),
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Where the results go.")] = None,
) -> None:
    """Make published figures again and judge their claims; resume where it stopped."""
    from narrows.console import ProgressBar
    from narrows.reproduce import make

    with ProgressBar() as bar:
        done = make.reproduce(
            wanted, backend=backend, profile=profile, quick=quick, out=out, jobs=jobs, watcher=bar
        )
    print(*make.describe(done), sep="\n")
    raise typer.Exit(DONE if done.passed else FAILED)


@app.command()
def claims(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where `narrows reproduce` put its results.")
    ] = None,
) -> None:
    """Print the ledger: every claim of the documents and what was found of it."""
    from narrows.reproduce import ledger
    from narrows.reproduce.make import OUT
    from narrows.reproduce.site import own_profiles
    from narrows.reproduce.text import ledger_lines

    place = Path(out) if out is not None else OUT
    found = ledger.lines(ledger.read(place), own_profiles())
    if as_json:
        _print_json(ledger.document(found))
    else:
        print(*ledger_lines(found), sep="\n")


@app.command()
def sweep(
    study: Annotated[str, typer.Argument(metavar="STUDY", help="A specification with lists.")],
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="PLACE=VALUE", help="Change a value.")
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter", metavar="AXIS=VALUE", help="Run only these: path.buffer=1bdp,2bdp."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how much there is to run.")
    ] = False,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Runs at once; by default one for each core."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    backend: Annotated[str, typer.Option(help=_BACKENDS)] = "sim",
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
    from narrows.sweeps.text import estimate_lines, outcome_lines

    with _permission(allow_code, sets):
        job = prepare(study, sets or (), filters=filters or (), backend=backend, out=out)
    if dry_run:
        expected = estimate(job, jobs)
        _print(expected.document() if as_json else estimate_lines(expected))
        return
    with ProgressBar() as bar:
        outcome = execute(job, jobs=jobs, cluster=cluster, watcher=bar)
    _print(outcome.document() if as_json else outcome_lines(outcome))
    raise typer.Exit(DONE if outcome.good else FAILED)


@app.command()
def compare(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO", help="A specification, or a directory of them.")
    ],
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="PLACE=VALUE", help="Change a value.")
    ] = None,
    backends: Annotated[
        str, typer.Option(metavar="NAMES", help="Two or three: sim, uml, uml:NAME.")
    ] = "sim,uml",
    trials: Annotated[int, typer.Option(metavar="N", help="Least number of runs of each.")] = 4,
    max_trials: Annotated[
        int | None,
        typer.Option(metavar="N", help="Greatest number; by default 12, or --trials if more."),
    ] = None,
    until_decided: Annotated[
        bool, typer.Option("--until-decided", help="Short for --max-trials 200.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[str | None, typer.Option(metavar="DIR", help="Where the results go.")] = None,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write every cell there, as Markdown.")
    ] = None,
    allow_code: AllowCode = None,
) -> None:
    """Run scenarios on several back ends and judge whether they agree.

    The exit status is 0 only if everything agrees, and 1 if anything differs or is undecided.
    """
    from narrows.compare import UNTIL_DECIDED, Verdict, study
    from narrows.console import ProgressBar

    with _permission(allow_code, sets), ProgressBar() as bar:
        made = study(
            scenario,
            sets or (),
            backends=backends.split(","),
            trials=trials,
            max_trials=UNTIL_DECIDED if until_decided and max_trials is None else max_trials,
            out=out,
            watcher=bar,
        )
    if table is not None:
        made.write_table(table)
    if as_json:
        _print_json(made.document())
    else:
        print(*made.lines(), sep="\n")
    raise typer.Exit(DONE if made.counts.verdict is Verdict.AGREE else FAILED)


@app.command()
def bench(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Shorter runs, rougher numbers.")] = False,
) -> None:
    """Measure packets per CPU second."""
    from narrows.bench import measure, print_measurements

    results = measure(quick)
    if as_json:
        _print_json({"quick": quick, "scenarios": results})
    else:
        print_measurements(results, quick)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; gives the exit status.

    Without `arguments` the process is taken to be ours, and short: the garbage
    collector, which would search everything that imports leave behind, rests.
    That saves a third of the CPU time of a short run.
    """
    if arguments is None:
        gc.set_threshold(200_000, 20, 20)
    with _noted_interrupts() as interrupts:
        status = _status(sys.argv[1:] if arguments is None else arguments, interrupts)
    if arguments is None:
        _leave_with(status)
    return status


def _leave_with(status: int) -> None:
    """All is done: what follows needs no orderly end, and a Ctrl-C no words."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(status))
    gc.freeze()
    pool = sys.modules.get("narrows.execute.pool")
    if pool is not None and pool.is_stuck():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


@contextmanager
def _noted_interrupts() -> Iterator[list[int]]:
    """Every Ctrl-C so far: what it interrupts may turn it into an error of another kind."""
    interrupts: list[int] = []

    def interrupt(number: int, _frame: FrameType | None) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    previous, hook = signal.signal(signal.SIGINT, interrupt), sys.unraisablehook
    sys.unraisablehook = partial(_unraisable, hook)
    try:
        yield interrupts
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGINT, previous)


def _unraisable(
    hook: Callable[[sys.UnraisableHookArgs], object], what: sys.UnraisableHookArgs
) -> None:
    """A Ctrl-C that came where Python can't raise it, as in an import's locks, comes again."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        again = (threading.main_thread().ident or 0, signal.SIGINT)
        threading.Timer(0.05, signal.pthread_kill, again).start()
    else:
        hook(what)


def _status(arguments: Sequence[str], interrupts: Sequence[int]) -> int:
    """Runs a command and turns whatever it raises into words and a status."""
    try:
        _check_names(arguments)
        return _dispatch(arguments)
    except InputError as error:
        _complain(str(problem) for problem in error.problems)
        return BAD_INPUT
    except (InterruptedRunError, typer.Abort, KeyboardInterrupt):
        return _stop()
    except NarrowsError as error:
        _complain([str(error)])
        return FAILED
    except BrokenPipeError:
        _silence()
        return DONE
    except OSError as error:
        if error.errno != errno.ENOSPC or error.filename is not None:
            return _stop() if interrupts else _apologise(error)
        _silence()
        _complain(["standard output: found no room left; a place with room would be right"])
        return FAILED
    except Exception as error:
        if isinstance(error, _ClickError):
            return _complain_of_usage(error)
        return _stop() if interrupts else _apologise(error)


def _check_names(arguments: Sequence[str]) -> None:
    """Raises InputError for a word that isn't UTF-8: pages and tables couldn't hold it."""
    for argument in arguments:
        if not argument.isascii() and argument != argument.encode(errors="replace").decode():
            found = f"{argument!a}, which is not UTF-8"
            raise InputError.at("command line", found, "a name in UTF-8")


def _stop() -> int:
    print("narrows: interrupted", file=sys.stderr)
    return INTERRUPTED


def _dispatch(arguments: Sequence[str]) -> int:
    """Typer's own main would turn some exceptions into statuses of its choice."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("narrows", list(arguments)) as context:
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    sys.stdout.flush()
    return DONE


def _complain(problems: Iterable[str]) -> None:
    for problem in problems:
        print(f"narrows: error: {problem}", file=sys.stderr)


def _silence() -> None:
    """The reader of our output has closed it; the rest of the buffer is dropped."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain_of_usage(error: Exception) -> int:
    """An option or argument that typer refuses."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "narrows"
    say = getattr(error, "format_message", error.__str__)
    found = " ".join(str(say()).split()).rstrip(".")
    _complain([f"command line: {found}; `{command} --help` shows what would be right"])
    return BAD_INPUT


def _apologise(error: Exception) -> int:
    """A mistake of ours: everything that helps to find it."""
    import traceback

    traceback.print_exception(error)
    print(
        "narrows: this is a mistake in narrows, not in your input. "
        f"Please report it with the lines above and the specification (version {__version__}).",
        file=sys.stderr,
    )
    return BROKEN
