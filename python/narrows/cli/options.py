"""Options that several commands share, and their evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from narrows.errors import InputError

if TYPE_CHECKING:
    from narrows.spec import Override, SpecificationText

Backend = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Where to run it: sim, the simulator; uml, real Linux in virtual time (uml:NAME, a "
        "certain kernel); kernel, this machine's Linux in real time (kernel:own, without iperf3); "
        "hosts:NAME, the machines of the inventory NAME.toml.",
    ),
]


def check_sets(sets: list[str] | None) -> list[str] | None:
    """Returns the changes; raises InputError for two of the same place."""
    if not sets or len(sets) < 2:
        return sets
    from narrows.spec import spell

    first: dict[str, str] = {}
    for text in sets:
        written = text.partition("=")[0]
        place = spell(written) or written
        if place in first:
            raise InputError.at("--set", f"{first[place]} beside {text}", "one of the two")
        first[place] = text
    return sets


Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PLACE=VALUE",
        help="Change a value: path.buffer=4bdp, flows.0.cca=reno.",
        callback=check_sets,
    ),
]
Filters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter", metavar="AXIS=VALUE", help="Run only these values: path.buffer=1bdp,2bdp."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def check_directory(out: str | None) -> str | None:
    """Returns the directory; raises InputError for a URL."""
    if out is not None and "://" in out:
        found, remedy = f'"{out}", a URL', "a directory (only the results of a study go to a URL)"
        raise InputError.at("--out", found, remedy)
    return out


def refuse_options(context: typer.Context, command: str, names: Iterable[str], beside: str) -> None:
    """Raises InputError if an option was given that doesn't apply."""
    spelled = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise InputError.at(command, f"{spelled[name]} {beside}", "the command without it")


Out = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Where the results go.", callback=check_directory),
]
Force = Annotated[bool, typer.Option("--force", help="Replace other results there.")]
Png = Annotated[
    bool, typer.Option("--png", help="Also draw the figure of a run as PNG and SVG, for paper.")
]
Jobs = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Parallel runs; by default one for each core."),
]
AllowCode = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-code",
        metavar="FILE",
        help="Code that may run if a specification names it: a file (Python, Rust, eBPF, a kernel "
        "module) or a directory.",
    ),
]


def source(spec: str) -> str | SpecificationText:
    """Returns the path of a specification, or its text if it can be read only once.

    "-" is the standard input.
    """
    from narrows.files import STANDARD_INPUT
    from narrows.spec import SpecificationText
    from narrows.spec.reading import read_file

    path = Path(STANDARD_INPUT if spec == "-" else spec)
    again = path.is_file() or path.is_dir() or not path.exists()
    if again and str(path) != STANDARD_INPUT:
        return spec
    return SpecificationText(read_file(path), path.stem)


def is_of_paper(path: Path) -> bool:
    """Returns True if a file, or the file in a folder, is for `narrows reproduce`."""
    import tomllib

    from narrows.spec.reading import read_file

    file = path / "study.toml" if path.is_dir() else path
    try:
        return file.name == "study.toml" and "spec" in tomllib.loads(read_file(file))
    except (InputError, tomllib.TOMLDecodeError, RecursionError):
        return False  # its reader reports the problem


def permission(places: list[str] | None, sets: list[str] | None) -> AbstractContextManager[None]:
    """Allows the code named on the command line, including controls named by `--set`."""
    from narrows.spec.permission import allowing
    from narrows.spec.python_control import is_own, well_formed
    from narrows.spec.rust_control import is_rust

    values = [text.partition("=")[2].strip() for text in sets or ()]
    own = [one for one in values if is_rust(one) or (is_own(one) and well_formed(one))]
    return allowing(places or (), own)


def overrides(sets: Sequence[str], trials: str | None, seed: str | None) -> list[Override]:
    """Returns overrides.

    `--trials` and `--seed` are short for `--set`, and InputError is raised for both.
    """
    from narrows.spec import Override, spell

    changes = [Override(text) for text in sets]
    for name, value in (("trials", trials), ("seed", seed)):
        if value is not None:
            same = [text for text in sets if spell(text.partition("=")[0]) == f"run.{name}"]
            if same:
                found = f"{value} beside --set {same[0]}"
                raise InputError.at(f"--{name}", found, "one of the two")
            changes.append(Override(f"run.{name}={value}", f"--{name}"))
    return changes
