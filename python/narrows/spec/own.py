"""Controls that a person writes in Python: `cca = "mymodule:MyControl"`.

The module is looked for next to the specification, then where Python looks. Its
source becomes a part of the scenario: what ran is written down, a changed line is
another experiment, and a run on another machine needs no file. Every run executes
the source anew, so that runs share nothing.
"""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from narrows.errors import Problem, SpecError
from narrows.spec.suggest import one_of
from narrows.spec.units import quote

METHODS = ("on_ack", "on_congestion", "control")
"""What a control must have."""
MAX_SOURCE_BYTES = 1_000_000
EXAMPLE = 'a module and a class in it, such as "mymodule:MyControl"'
_METHODS_TEXT = "a class with the methods on_ack(sample), on_congestion(event) and control()"

_loads = count()


@dataclass(frozen=True)
class Source:
    """The module of a control: its file's name and its text."""

    file: str
    text: str


def is_own(cca: str) -> bool:
    """Whether the name is one of a module and a class."""
    return ":" in cca


def well_formed(cca: str) -> bool:
    """Whether it reads `module:Class`, perhaps with dots."""
    name = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
    return re.fullmatch(f"{name}:{name}", cca) is not None


def find(cca: str, near: Path) -> Source:
    """The source of the module, in `near` or where Python looks; raises SpecError."""
    module = cca.partition(":")[0]
    file = near.joinpath(*module.split(".")).with_suffix(".py")
    if not file.is_file():
        file = _installed(cca, module, near)
    try:
        if file.stat().st_size > MAX_SOURCE_BYTES:
            raise SpecError.at(cca, f"{file.name}, larger than 1 MB", "a module of your own")
        return Source(file.name, file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError.at(cca, f"{file}, which can't be read ({error})", "another") from None


def _installed(cca: str, module: str, near: Path) -> Path:
    try:
        spec = importlib.util.find_spec(module)
    except Exception as error:
        found = f"{quote(module)}, whose package can't be imported ({error})"
        raise SpecError.at(cca, found, "a module that can be") from None
    if spec is None:
        remedy = f"{module.replace('.', '/')}.py in {near.resolve()}, or an installed module,"
        raise SpecError.at(cca, f"no module {quote(module)}", remedy)
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise SpecError.at(cca, f"{quote(module)}, which has no Python source", "one that has")
    return Path(spec.origin)


def load(cca: str, source: Source) -> Callable[..., object]:
    """The class, from a fresh execution of its module; raises SpecError."""
    module_name, _, class_name = cca.partition(":")
    found: Any = _execute(cca, module_name, source)
    known = [name for name, value in vars(found).items() if inspect.isclass(value)]
    for name in class_name.split("."):
        if not hasattr(found, name):
            missing = f"no {quote(name)} in {source.file}"
            raise SpecError.at(cca, missing, one_of(name, known) if known else _METHODS_TEXT)
        found = getattr(found, name)
    if not inspect.isclass(found):
        raise SpecError.at(cca, f"a {type(found).__name__}, which is no class", _METHODS_TEXT)
    for method in METHODS:
        if not callable(getattr(found, method, None)):
            raise SpecError.at(cca, f"a class without {method}", _METHODS_TEXT)
    return found


def _execute(cca: str, name: str, source: Source) -> ModuleType:
    """The module, unknown to the rest of the process."""
    module = ModuleType(f"narrows_control_{next(_loads)}.{name}")
    module.__file__ = source.file
    module.__package__ = name.rpartition(".")[0]
    lines = source.text.splitlines(keepends=True)
    linecache.cache[source.file] = (len(source.text), None, lines, source.file)
    sys.modules[module.__name__] = module  # dataclasses look there
    try:
        exec(compile(source.text, source.file, "exec"), vars(module))  # noqa: S102
    except Exception as error:
        found = f"{type(error).__name__}: {error}{_line(error, source.file)}"
        raise SpecError.at(cca, found, "a module that can be imported") from None
    finally:
        del sys.modules[module.__name__]
    return module


def _line(error: Exception, file: str) -> str:
    """Where in the file the error comes from, and the line; an error of syntax says it itself."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" in line {own[-1].lineno} of {file}: {own[-1].line}" if own else ""


def sources(ccas: Iterator[tuple[str, str]], near: Path) -> tuple[dict[str, Source], list[Problem]]:
    """The sources of all own controls among pairs of place and name, and what is wrong."""
    found: dict[str, Source] = {}
    problems: list[Problem] = []
    for place, cca in ccas:
        if not is_own(cca) or cca in found:
            continue
        try:
            source = find(cca, near)
            load(cca, source)
            found[cca] = source
        except SpecError as error:
            problems += [Problem(place, p.found, p.remedy) for p in error.problems]
    return found, problems


def misfits(
    cca: str, source: Source, options: Mapping[str, float], place: str
) -> Iterator[Problem]:
    """Options that the class doesn't take."""
    with suppress(ValueError):  # some classes have no signature
        signature = inspect.signature(load(cca, source))
        try:
            signature.bind(**options)
        except TypeError as error:
            names = ", ".join(signature.parameters) or "no options"
            yield Problem(f"{place}.options", f"what {cca} doesn't take ({error})", names)
