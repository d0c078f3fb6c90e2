"""Measures in Python: functions of the file measures.py beside a document's studies.

    def measure(trial):        # `python = "measure"` in the study
        return 1.0             # or None, if the run has no such value

A measure gets a run, as `narrows.open_result(...).trials` has them, with `scenario` and `tables`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from narrows.errors import InputError
from narrows.reproduce.library import MEASURES, library, per_library
from narrows.reproduce.study_code import blame, load, sources
from narrows.spec.suggest import one_of
from narrows.store import StoredTrial

Measure = Callable[["StoredTrial"], Any]


def texts(document: str) -> list[str]:
    """Returns the sources that decide the measures of a document."""
    return sources(load(document, MEASURES))


def check(document: str, name: str) -> None:
    """Raises InputError unless the measures have a function of this name that may run."""
    _function(document, name)


def call(document: str, name: str, trial: StoredTrial) -> float | None:
    """Returns the value of a function; raises InputError if it fails or gives no number."""
    file = library().measures(document)
    with blame(f"measure {name}", file):
        found = _function(document, name)(trial)
    number = isinstance(found, int | float) and not isinstance(found, bool)
    if found is None or (number and not math.isnan(found)):
        return None if found is None else float(found)
    remedy = "a number, or None if the run has no such value,"
    raise InputError.at(f"measure {name}", f"{found!r} as its value", remedy, str(file))


def _function(document: str, name: str) -> Measure:
    file = library().measures(document)
    if file is None:
        beside = library().folders[document] / MEASURES
        remedy = f"a file measures.py beside the study with a function {name}(trial)"
        raise InputError.at(f"measure {name}", "no own measures", remedy, str(beside))
    known = _functions(document, file)
    if name not in known:
        raise InputError.at(f"measure {name}", "no such function", one_of(name, known), str(file))
    return known[name]


@per_library
def _functions(document: str, file: Path) -> dict[str, Measure]:
    """Returns the functions that the file of measures defines, by name."""
    module = load(document, file.name)
    return {
        name: value
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and not isinstance(value, type)
        and getattr(value, "__module__", None) == module.__name__
    }
