"""Own controls in Python: `cca = "mymodule:MyControl"`.

The module is searched next to the specification, then on Python's path. Its source becomes part of
the scenario: the result records what ran, a changed line makes a different experiment, and a run on
another machine needs no file. Every run executes the source anew, so runs share nothing. Unless the
user has allowed it (see `narrows.spec.permission`), none of the source is executed, not even to
read the specification.
"""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import inspect
import linecache
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from narrows import user_code
from narrows.errors import SpecError
from narrows.files import read_limited
from narrows.spec import permission
from narrows.spec.suggest import one_of, quote
from narrows.words import with_article

METHODS = ("on_ack", "on_congestion", "control")
"""Methods that a control must have."""
_OPTIONAL = ("on_connect", "on_delivered", "on_lost", "on_start", "on_undo")
MAX_SOURCE_BYTES = 1_000_000
WARN_AFTER_S = 10.0
"""Code that takes longer than this is reported on standard error."""
EXAMPLE = 'a module and a class in it, such as "mymodule:MyControl"'
_METHODS_TEXT = "a class with the methods on_ack(sample), on_congestion(event) and control()"

_loads = count()


@dataclass(frozen=True)
class Source:
    """The module of a control: its file's name and its text."""

    file: str
    text: str


def is_own(cca: str) -> bool:
    """Returns True if the name consists of a module and a class."""
    return ":" in cca


def well_formed(cca: str) -> bool:
    """Returns True if the name has the form `module:Class`, perhaps with dots."""
    name = r"[^\W\d]\w*(\.[^\W\d]\w*)*"
    return re.fullmatch(f"{name}:{name}", cca) is not None


def find(cca: str, near: Path) -> Path:
    """Finds the file of the module, in `near` or on Python's path; raises SpecError."""
    module = cca.partition(":")[0]
    file = near.joinpath(*module.split(".")).with_suffix(".py")
    return file if file.is_file() else _find_installed(cca, module, near)


def read(cca: str, file: Path) -> Source:
    """Reads the text of a module; raises SpecError."""
    try:
        return Source(file.name, read_limited(file, MAX_SOURCE_BYTES).decode("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError.at(cca, f"{file}, which can't be read ({error})", "another") from None


def _find_installed(cca: str, module: str, near: Path) -> Path:
    try:
        spec = _look_up(module)
    except Exception as error:
        found = f"{quote(module)}, which Python can't look up ({error})"
        raise SpecError.at(cca, found, "a module that it can") from None
    if spec is None:
        # Python's `-m` searches the working directory, so a file there is meant.
        here = Path.cwd() if str(Path.cwd()) in sys.path else near.resolve()
        remedy = f"{module.replace('.', '/')}.py in {here}, or an installed module,"
        raise SpecError.at(cca, f"no module {quote(module)}", remedy)
    if spec.origin is None or not spec.origin.endswith(".py"):
        raise SpecError.at(cca, f"{quote(module)}, which has no Python source", "one that has")
    return Path(spec.origin)


def _look_up(module: str) -> importlib.machinery.ModuleSpec | None:
    """Finds a module as Python would; unlike `find_spec` it doesn't import its packages."""
    first, *rest = module.split(".")
    spec, name = importlib.util.find_spec(first), first
    for part in rest:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{part}"
        spec = importlib.machinery.PathFinder.find_spec(name, spec.submodule_search_locations)
    return spec


def load(cca: str, source: Source) -> Callable[..., object]:
    """Returns the class, from a fresh execution of its module; raises SpecError."""
    from narrows._native import SlowCallWarning

    user_code.announce(cca)
    module_name, _, class_name = cca.partition(":")
    place = f"{source.file}, the module of {quote(cca)},"
    with _blame(cca, source), SlowCallWarning(place, WARN_AFTER_S):
        module = _execute(module_name, source)
        return _class_in(module, cca, class_name, source)


def _class_in(module: ModuleType, cca: str, class_name: str, source: Source) -> type:
    found: Any = module
    known = [name for name, value in vars(found).items() if inspect.isclass(value)]
    for name in class_name.split("."):
        if not hasattr(found, name):
            missing = f"no {quote(name)} in {source.file}"
            raise SpecError.at(cca, missing, one_of(name, known) if known else _METHODS_TEXT)
        found = getattr(found, name)
    if not inspect.isclass(found):
        raise SpecError.at(
            cca, f"{with_article(type(found).__name__)}, which is not a class", _METHODS_TEXT
        )
    for method in METHODS:
        if not callable(getattr(found, method, None)):
            raise SpecError.at(cca, f"a class without {method}", _METHODS_TEXT)
    for method in (*METHODS, *_OPTIONAL):
        if inspect.iscoroutinefunction(getattr(found, method, None)):
            raise SpecError.at(cca, f"async def {method}, which nobody awaits", f"def {method}")
    return found


def _execute(name: str, source: Source) -> ModuleType:
    """Executes the module, hidden from the rest of the process."""
    module = ModuleType(f"narrows_control_{next(_loads)}.{name}")
    module.__file__ = source.file
    module.__package__ = name.rpartition(".")[0]
    lines = source.text.splitlines(keepends=True)
    linecache.cache[source.file] = (len(source.text), None, lines, source.file)
    sys.modules[module.__name__] = module  # dataclasses look there
    try:
        exec(compile(source.text, source.file, "exec"), vars(module))  # noqa: S102
    finally:
        sys.modules.pop(module.__name__, None)
    return module


@contextmanager
def _blame(cca: str, source: Source) -> Iterator[None]:
    """Turns every exception of a control's module, except Ctrl-C, into an error of the control.

    A module that exits ends only the reading of its specification, not the program.
    """
    try:
        yield
    except (SpecError, KeyboardInterrupt):
        raise
    except BaseException as error:
        said = f": {error}" if str(error) else ""
        found = f"{type(error).__name__}{said}{_line(error, source.file)}"
        raise SpecError.at(cca, found, "a module that can be imported") from None


def _line(error: BaseException, file: str) -> str:
    """Returns the file and line of an error; a syntax error already contains them."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" in line {own[-1].lineno} of {file}: {own[-1].line}" if own else ""


def allow(cca: str, near: Path) -> Source:
    """Returns the source of a control that is allowed and can be constructed; raises SpecError."""
    file = find(cca, near)
    permission.check(cca, file)
    source = read(cca, file)
    load(cca, source)
    return source


def misfit(cca: str, source: Source, options: Mapping[str, object]) -> tuple[str, str] | None:
    """Finds options that the class doesn't take: returns what was found, and a remedy."""
    made = load(cca, source)
    with _blame(cca, source):
        try:
            signature = inspect.signature(made)
        except ValueError:  # some classes have no signature
            return None
        try:
            signature.bind(**options)
        except TypeError as error:
            names = ", ".join(signature.parameters) or "no options"
            return f"what {cca} doesn't take ({error})", names
    return None


def imported_by(controls: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yields each control's file with the modules it imports, apart from Python's own."""
    for name, source in controls.items():
        if is_own(name):
            modules = {module.partition(".")[0] for module in _modules_in(source["text"])}
            if others := sorted(modules - sys.stdlib_module_names):
                yield source["file"], others


def _modules_in(text: str) -> Iterator[str]:
    """Yields the modules that a source imports."""
    with suppress(SyntaxError, ValueError, RecursionError):  # it may be somebody else's
        for node in ast.walk(ast.parse(text)):
            yield from _modules_of(node)


def _modules_of(node: ast.AST) -> list[str]:
    """Returns the modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
