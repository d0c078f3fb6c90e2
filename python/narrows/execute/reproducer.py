"""Writes a specification that repeats a run in which the engine broke."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from narrows.errors import InputError
from narrows.plan import Trial, canonical_json
from narrows.spec import Override, SpecificationText, parse
from narrows.spec.reading import read_written
from narrows.spec.values import to_toml
from narrows.store.atomic import write_text
from narrows.version import __version__


def write_reproducer(
    result: Path, text: str, trial: Trial, values: Mapping[str, object], words: str
) -> Path | None:
    """Writes it beside the place of a result, and returns its path.

    `text` is the specification or the study, `values` are those of the combination by place, and
    `words` are the engine's. None if the specification can't repeat the run or the file can't be
    written: nothing here may hide the error itself.
    """
    file = result.with_name(f"{result.name}-broken.toml")
    try:
        alone = _single_run(text, trial, values)
        if alone is None:
            return None
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, f"# narrows {__version__}: {words!r}\n{alone}")
    except (OSError, InputError):
        return None
    return file


def _single_run(text: str, trial: Trial, values: Mapping[str, object]) -> str | None:
    """Returns the specification of a single run, if it gives the same scenario."""
    changes = [
        Override(f"{place}={to_toml(value, inline=True)}") for place, value in values.items()
    ]
    document = tomllib.loads(read_written(SpecificationText(text), changes, None).text)
    document.pop("sweep", None)
    document["name"] = trial.scenario["name"]
    document["run"] = {**document["run"], "seed": trial.seed, "trials": 1}
    alone = to_toml(document)
    same = parse(alone, "reproducer").spec.canonical(1) == canonical_json(trial.scenario)
    return alone if same else None
