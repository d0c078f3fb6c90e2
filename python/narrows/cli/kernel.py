"""The group `narrows kernel`: kernels for the back end uml."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from narrows.cli.help import WholeGroup
from narrows.cli.options import AsJson, Jobs
from narrows.cli.output import print_json, print_lines
from narrows.cli.status import FAILED
from narrows.errors import InputError

app = typer.Typer(
    cls=WholeGroup,
    help="Build Linux kernels for the back end uml; play their own tests.",
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
    for_tests: Annotated[
        bool,
        typer.Option(
            "--tests", help="Add the options that `kernel test` needs, and -tests to the name."
        ),
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Build even if it was built before.")
    ] = False,
) -> None:
    """Build a kernel as a program and keep it; takes minutes, or seconds if it was built before."""
    from narrows.console import StepBar
    from narrows.kernel_tests import build_kernel

    with StepBar() as bar:
        built = build_kernel(
            name,
            source=source,
            debian=debian,
            patches=patch or (),
            config=config,
            for_tests=for_tests,
            jobs=jobs,
            force=force,
            progress=bar,
        )
    print(f"{built.name}: Linux {built.release} at {built.path}")


@app.command("test")
def play_scripts(
    scripts: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="SCRIPT...", help="packetdrill scripts, or folders that contain some."
        ),
    ] = None,
    own: Annotated[
        bool, typer.Option("--selftests", help="Play the scripts of the kernel's own sources.")
    ] = False,
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The kernel; by default the newest of `kernel build --tests`."
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Test the simulator's TCP with this profile instead.",
        ),
    ] = None,
    ip: Annotated[
        str,
        typer.Option(
            metavar="VERSIONS",
            help="Of ipv4, ipv6 and ipv4-mapped-ipv6, separated by commas, for scripts that don't "
            "say.",
        ),
    ] = "ipv4",
    jobs: Jobs = None,
    tap: Annotated[
        bool, typer.Option("--tap", help="Print results in the Test Anything Protocol.")
    ] = False,
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit's XML.")] = None,
    as_json: AsJson = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Keep captures of scripts that don't pass, each with its page."
        ),
    ] = None,
) -> None:
    """Play packetdrill scripts against a kernel in virtual time: the same verdict on any machine.

    The exit status is 1 if one doesn't pass.
    """
    from narrows.console import StepBar
    from narrows.kernel_tests import choose_kernel, keep_failures, play_all, play_simulated
    from narrows.kernel_tests.written import junit as write_junit
    from narrows.kernel_tests.written import lines as write_lines
    from narrows.kernel_tests.written import tap as write_tap

    if profile is not None:
        if own or kernel is not None:
            raise InputError.at("--profile", "a kernel as well", "one of the two")
        run = play_simulated(profile, scripts or [])
    else:
        chosen = choose_kernel(kernel)
        with StepBar() as bar:
            run = play_all(
                chosen, scripts or [], own=own, modes=ip.split(","), jobs=jobs, progress=bar
            )
    if junit is not None:
        junit.write_text(write_junit(run), encoding="utf-8")
    if out is not None:
        keep_failures(run, out)
    if as_json:
        print_json([verdict.document() for verdict in run.verdicts])
    else:
        print_lines(list(write_tap(run) if tap else write_lines(run)))
    if not run.is_pass:
        raise typer.Exit(FAILED)


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
