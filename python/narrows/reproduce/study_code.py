"""Python beside the studies of a document: their measures, and figures that need more than data.

    studies/panaderia/fig9.toml     code = "fig9.py"
    studies/panaderia/fig9.py       the functions of `narrows.reproduce.exhibit`
    studies/panaderia/measures.py   measures that no metric gives

The files of a folder are a package, so one takes from another by `from . import testbed`. Those of
an own paper are code of its author: one that a study names runs only if the user allowed it.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from narrows import user_code
from narrows.errors import InputError
from narrows.files import read_limited
from narrows.reproduce.library import OURS, library, per_library
from narrows.spec import permission

MAX_BYTES = 1_000_000
METHOD = ("cases", "measure", "draw", "judge")
"""The functions of a figure."""
PACKAGES = "narrows.studies"
"""Where the packages of documents are: a wheel has ours as files there."""


@per_library
def load(document: str, file: str) -> ModuleType:
    """Imports a file beside a document's studies; raises InputError if it fails or may not run."""
    package, path = _package(document), library().folders[document] / file
    name = f"{package.__name__}.{path.stem}"
    if library() is OURS:
        return importlib.import_module(name)
    read(path)
    permission.check(path.name, path)
    user_code.announce(str(path))
    loader = _FreshLoader(name, str(path))
    module = module_from_spec(ModuleSpec(name, loader, origin=str(path)))
    module.__file__ = str(path)
    sys.modules[name] = module
    with blame("", path):
        loader.exec_module(module)
    return module


@per_library
def _package(document: str) -> ModuleType:
    """Returns the package of a document's files, which replaces that of another library."""
    name = f"{PACKAGES}.{document}"
    for old in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
        del sys.modules[old]
    package = ModuleType(name)
    package.__path__ = [str(library().folders[document])]
    sys.modules[name] = package
    return package


def sources(module: ModuleType) -> list[str]:
    """Returns the text of a module and of those of ours whose functions it uses."""
    modules = {module.__name__: module}
    for value in vars(module).values():
        taken = inspect.getmodule(value)
        if taken is not None and taken.__name__.startswith("narrows."):
            modules[taken.__name__] = taken
    return [inspect.getsource(modules[name]) for name in sorted(modules)]


def method(document: str, file: str) -> Any:  # noqa: ANN401 (follows `exhibit.Method`)
    """Returns the four functions of a figure; raises InputError for code that lacks one."""
    module = load(document, file)
    return module if library() is OURS else _OwnMethod(module, library().folders[document] / file)


class _OwnMethod:
    """The functions of own code, whose exceptions name their line."""

    def __init__(self, module: ModuleType, file: Path) -> None:
        self._module = module
        self._file = file

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._module, name, None)
        if not callable(function):
            found = f"no function {name}"
            raise InputError.at("", found, f"one ({', '.join(METHOD)})", str(self._file))

        def call(*given: object) -> Any:  # noqa: ANN401 (as the function)
            with blame(name, self._file):
                made = function(*given)
                return list(made) if isinstance(made, Iterator) else made

        return call

    def sources(self) -> list[str]:
        """Returns the texts that decide what is measured."""
        return sources(self._module)


class _FreshLoader(SourceFileLoader):
    """Compiles a file each time, since an edit within a second may not change its size."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def read(file: Path) -> str:
    """Returns the text of a file; raises InputError if it can't be read."""
    try:
        return read_limited(file, MAX_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        found = f"a file that can't be read ({error})"
        raise InputError.at("", found, "Python in UTF-8", str(file)) from error


@contextmanager
def blame(place: str, file: Path | None) -> Iterator[None]:
    """Turns every exception of own code except Ctrl-C into an error that names its line."""
    try:
        yield
    except (InputError, KeyboardInterrupt):
        raise
    except BaseException as error:
        lines = [
            f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)
        ]
        at = f" in line {lines[-1]}" if lines else ""
        said = f": {error}" if str(error) else ""
        remedy = "code that returns a value"
        found = f"{type(error).__name__}{said}{at}"
        raise InputError.at(place, found, remedy, str(file)) from error
