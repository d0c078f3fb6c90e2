"""The inputs of a specification from outside, for the native module: files and own controls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from narrows.errors import Problem, SpecError
from narrows.files import read_limited
from narrows.late import _native
from narrows.spec import kernel_program, permission, python_control, rust_control
from narrows.spec.suggest import quote

MAX_FILE_BYTES = 100_000_000
"""Larger traces and distributions are refused."""
MAX_PATH = 400

Inputs = tuple[
    Callable[[str], str],
    Callable[[str, Mapping[str, object]], tuple[str, str]],
    list[str],
    Callable[[], str],
]
"""A reader of files, a finder of controls, the back end's controls, and the directory for programs.
"""


def inputs(
    file: str | None,
    controls: Iterable[str] = (),
    folders: Iterable[Path] = (),
    files: dict[str, str] | None = None,
) -> Inputs:
    """Returns the inputs of the specification in `file`, or of a text in the working directory.

    `controls` are the controls that a back end has and the simulator lacks; they take no options.
    Programs of own controls are also searched in `folders`. `files` gets the texts of the files
    that the specification refers to, by the names that it gives them.
    """
    near = Path(file).parent if file else Path()
    known: dict[str, python_control.Source] = {}
    texts = {} if files is None else files

    def text(name: str) -> str:
        if name not in texts:
            texts[name] = _text(name, near)
        return texts[name]

    def control(cca: str, options: Mapping[str, object]) -> tuple[str, str]:
        return _control(cca, options, (near, *folders), known)

    def directory() -> str:
        return _directory(file)

    return (text, control, list(controls), directory)


def _directory(file: str | None) -> str:
    """Returns the directory of a specification whose programs may run.

    Raises ValueError if the user hasn't allowed the programs of the file. The caller wrote a text
    that isn't a file, so its programs need no permission.
    """
    if file is not None:
        try:
            permission.check_programs(Path(file))
        except SpecError as error:
            raise ValueError((error.problems[0].found, error.problems[0].remedy)) from None
    return str((Path(file).parent if file else Path()).resolve())


def _text(name: str, near: Path) -> str:
    """The text of a file beside the specification; a ValueError says what was found instead."""
    path = near / name
    try:
        return read_limited(path, MAX_FILE_BYTES).decode("utf-8")
    except OSError as error:
        raise ValueError(f"{quote(str(path), MAX_PATH)} ({error.strerror})") from None
    except ValueError:
        raise ValueError(f"{quote(str(path), MAX_PATH)} (not text)") from None


def _control(
    cca: str,
    options: Mapping[str, object],
    near: Sequence[Path],
    known: dict[str, python_control.Source],
) -> tuple[str, str]:
    """Returns the file and text of an own control's module; raises ValueError with the problem."""
    try:
        if kernel_program.is_program(cca) or kernel_program.is_module(cca):
            program = kernel_program.allow(cca, near, options)
            return program.file, program.text
        if rust_control.is_rust(cca):
            source = kernel_program.permit(cca, near)
            made = rust_control.load(cca, source)
            return _fitting(source, rust_control.misfit(made, options))
        if cca not in known:
            known[cca] = python_control.allow(cca, near[0])
        source = known[cca]
        wrong = python_control.misfit(cca, source, options)
    except SpecError as error:
        faults = [("cca", problem.found, problem.remedy) for problem in error.problems]
        raise ValueError(faults) from None
    return _fitting(source, wrong)


def _fitting(source: python_control.Source, wrong: tuple[str, str] | None) -> tuple[str, str]:
    """Returns the file and text, unless something is `wrong` with the options."""
    if wrong is not None:
        raise ValueError([("options", *wrong)])
    return source.file, source.text


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turns refusals of the native module into SpecError."""
    try:
        yield
    except _native.SpecificationError as error:
        raise SpecError(_problems(error.args[0])) from None


def _problems(
    told: Iterable[tuple[str | None, int | None, int | None, str, str, str]],
) -> Iterator[Problem]:
    for origin, line, column, place, found, remedy in told:
        yield Problem(place, found, remedy, origin, line, column)
