"""Measures in Python beside a paper's study: code of its author, which runs only if allowed.

    def measure(trial):        # `python = "measure"` in the study
        return 1.0             # or None, if the run has no such value

A measure gets a run, as `narrows.open_result(...).trials` has them, with `scenario` and `tables`.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from narrows import user_code
from narrows.errors import InputError
from narrows.files import read_limited
from narrows.reproduce.library import library, per_library
from narrows.spec import permission
from narrows.spec.suggest import one_of

if TYPE_CHECKING:
    from pathlib import Path

    from narrows.store import StoredTrial

MAX_BYTES = 1_000_000


def text() -> str | None:
    """The source of the paper's measures; None if it has none."""
    file = library().own_measures
    return None if file is None else _read(file)


def check(name: str) -> None:
    """Raises InputError unless the paper's measures have a function of this name that may run."""
    _functions()[name]


def call(name: str, trial: StoredTrial) -> float | None:
    """The value of a function; raises InputError if it fails or gives no number."""
    file = library().own_measures
    with _blame(f"measure {name}", file):
        found = _functions()[name](trial)
    number = isinstance(found, int | float) and not isinstance(found, bool)
    if found is None or (number and not math.isnan(found)):
        return None if found is None else float(found)
    remedy = "a number, or None if the run has no such value,"
    raise InputError.at(f"measure {name}", f"{found!r} as its value", remedy, str(file))


class _Functions(dict[str, Callable[..., Any]]):
    """The functions of a file by name."""

    def __init__(self, file: Path | None, found: dict[str, Any]) -> None:
        super().__init__(
            (name, value)
            for name, value in found.items()
            if callable(value) and not name.startswith("_") and not isinstance(value, type)
        )
        self.file = file

    def __missing__(self, name: str) -> Callable[..., Any]:
        if self.file is None:
            remedy = f"a file measures.py beside the study with a function {name}(trial)"
            raise InputError.at(f"measure {name}", "no own measures", remedy, str(library().home))
        remedy = one_of(name, self)
        raise InputError.at(f"measure {name}", "no such function", remedy, str(self.file))


@per_library
def _functions() -> _Functions:
    """The functions of the paper's measures, which this imports; raises InputError."""
    file = library().own_measures
    if file is None:
        return _Functions(None, {})
    permission.check(file.name, file)
    source, module = _read(file), {"__name__": file.stem, "__file__": str(file)}
    user_code.announce(str(file))
    with _blame("", file):
        exec(compile(source, str(file), "exec"), module)  # noqa: S102 (the user allowed it)
    own = {name: value for name, value in module.items() if _is_of(value, file.stem)}
    return _Functions(file, own)


def _is_of(value: Any, module: str) -> bool:  # noqa: ANN401 (anything in a module)
    """Whether a value was defined in a module, rather than imported."""
    return getattr(value, "__module__", None) == module


def _read(file: Path) -> str:
    try:
        return read_limited(file, MAX_BYTES).decode("utf-8")
    except (OSError, ValueError) as error:
        found = f"a file that can't be read ({error})"
        raise InputError.at("", found, "Python in UTF-8", str(file)) from error


@contextmanager
def _blame(place: str, file: Path | None) -> Iterator[None]:
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
