"""Own controls in Rust for the simulator: `cca = "mine.rs"`.

The file is searched next to the specification. Its content becomes part of the scenario, as with
controls in Python, and it runs only if the user has allowed it: see `narrows.spec.permission`.
`rustc` alone compiles it, together with the crate `narrows_control`, whose source is in the native
module. The library is cached by this content, the crate and the compiler.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from narrows import user_code
from narrows.cached import cache_directory, is_private, private_directory
from narrows.errors import InputError, SpecError
from narrows.late import _native
from narrows.spec.python_control import Source
from narrows.spec.suggest import one_of, quote

if TYPE_CHECKING:
    from narrows._native import RustControl

SUFFIX = ".rs"
EDITION = "2024"
MOST_LINES = 40
"""The number of lines of compiler output that a message shows."""
_CRATE = "narrows_control"
# Arithmetic that overflows is an error, as in the engine.
_OPTIONS = (
    *("--edition", EDITION, "-C", "opt-level=3", "-C", "overflow-checks=on"),
    *("-C", "codegen-units=1", "-C", "panic=unwind", "-C", "strip=debuginfo", "-A", "warnings"),
)

_compiling = Lock()


def is_rust(cca: str) -> bool:
    """Returns True for the name of a Rust file."""
    return len(cca) > len(SUFFIX) and cca.endswith(SUFFIX)


def load(cca: str, source: Source) -> RustControl:
    """Returns the control, compiled if it wasn't before; raises SpecError."""
    library = _library(cca, source)
    user_code.announce(cca)
    try:
        return _native.RustControl(library, source.file)
    except _native.ControlError as error:
        raise SpecError.at(*error.args) from None


def misfit(control: RustControl, options: Mapping[str, object]) -> tuple[str, str] | None:
    """Finds options that the control doesn't take: returns what was found, and a remedy."""
    known = [name for name, _ in control.options]
    for name, value in options.items():
        if name not in known:
            found = f"{quote(name)}, which is not an option of the control"
            return found, one_of(name, known) if known else "no options"
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"{name} = {value!r}", "a number"
    return None


def conditions(controls: Mapping[str, Mapping[str, str]]) -> dict[str, dict[str, str]]:
    """Returns what the Rust controls were made from, and by what, for the conditions of a run."""
    return {
        name: {
            "source_sha256": hashlib.sha256(source["text"].encode()).hexdigest(),
            "compiler": _version(name).splitlines()[0],
        }
        for name, source in controls.items()
        if is_rust(name)
    }


def crate_sources() -> list[tuple[str, str]]:
    """Returns the names and texts of the files of `narrows_control`."""
    return _native.RustControl.sources()


def _library(cca: str, source: Source) -> Path:
    crate = [part for file in crate_sources() for part in file]
    mark = _digest([source.file, source.text, *crate, *_OPTIONS, _version(cca)])
    try:
        library = private_directory(cache_directory(cca) / "controls", cca) / f"{mark}.so"
    except InputError as error:
        raise SpecError(error.problems) from None
    with _compiling:
        if not is_private(library):
            with tempfile.TemporaryDirectory(prefix="narrows-") as work:
                built = _compile(cca, source, Path(work))
                _put(built, library)
    return library


def _digest(parts: Iterable[str]) -> str:
    """Digests the parts with their lengths, so that no two lists have the same digest."""
    made = hashlib.sha256()
    for part in parts:
        content = part.encode()
        made.update(len(content).to_bytes(8, "big") + content)
    return made.hexdigest()[:32]


def _version(cca: str) -> str:
    """Returns the compiler's version; raises SpecError without a compiler."""
    rustc = shutil.which("rustc")
    if rustc is None:
        found = f"{quote(cca)}, a control in Rust, but no rustc"
        raise SpecError.at(cca, found, "a Rust compiler (https://rustup.rs, or a package rustc)")
    return _version_of(rustc, cca)


@cache
def _version_of(rustc: str, cca: str) -> str:
    # In a directory where no project chooses its own compiler.
    done = _run([rustc, "-vV"], Path(tempfile.gettempdir()))
    if done.returncode:
        found = f"{rustc}, which doesn't work:\n{_first(done.stderr)}\n"
        raise SpecError.at(cca, found, "a Rust compiler that does")
    return done.stdout


def _compile(cca: str, source: Source, work: Path) -> Path:
    """Compiles the crate and the control in the empty directory `work`."""
    crate = work / _CRATE
    crate.mkdir()
    for name, text in crate_sources():
        (crate / name).write_text(text, encoding="utf-8")
    library, file = work / f"lib{_CRATE}.rlib", Path(source.file).name
    _rustc(cca, [f"{_CRATE}/lib.rs", "--crate-name", _CRATE, "--crate-type", "rlib"], work)
    (work / "own").mkdir()
    (work / "own" / file).write_text(source.text, encoding="utf-8")
    # Run in its directory, so that messages contain the file's name as the user knows it.
    named = [file if not file.startswith("-") else f"./{file}", "--crate-name", "control"]
    made = "link=../control.so,dep-info=../control.d"
    extern = ["--crate-type", "cdylib", "--extern", f"{_CRATE}={library}", "--emit", made]
    _rustc(cca, [*named, *extern], work / "own")
    _check_alone(cca, file, (work / "control.d").read_text(encoding="utf-8"))
    return work / "control.so"


def _check_alone(cca: str, file: str, dependencies: str) -> None:
    """Raises SpecError if a control includes other files, since only its own is recorded."""
    remedy = "a control in a single file, which a run records whole,"
    for line in dependencies.splitlines():
        if line.startswith("# env-dep:"):
            name = line.removeprefix("# env-dep:").partition("=")[0]
            raise SpecError.at(cca, f"the environment variable {name} in the source", remedy)
        needed = "" if line.startswith("#") else line.partition(": ")[2]
        names = needed.replace("\\ ", "\0").split()
        for name in (part.replace("\0", " ") for part in names):
            if name.removeprefix("./") != file:
                raise SpecError.at(cca, f"a source that includes {name}", remedy)


def _rustc(cca: str, arguments: list[str], work: Path) -> None:
    done = _run(["rustc", *arguments, *_OPTIONS], work)
    if done.returncode:
        found = f"Rust that doesn't compile:\n{_first(done.stderr)}\n"
        raise SpecError.at(cca, found, "the source of a control")


def _run(command: list[str], work: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=work, capture_output=True, text=True, errors="replace", check=False
    )


def _first(said: str) -> str:
    """Returns the first lines of the compiler's output; the first error often causes the others."""
    lines = said.strip().splitlines()
    more = [f"... and {len(lines) - MOST_LINES} more lines"] if len(lines) > MOST_LINES else []
    return "\n".join([*lines[:MOST_LINES], *more])


def _put(built: Path, library: Path) -> None:
    """Moves a library into place atomically, from wherever temporary files are."""
    handle, beside = tempfile.mkstemp(dir=library.parent, suffix=".partial")
    os.close(handle)
    try:
        shutil.copyfile(built, beside)
        Path(beside).chmod(0o700)
        Path(beside).replace(library)
    finally:
        Path(beside).unlink(missing_ok=True)
