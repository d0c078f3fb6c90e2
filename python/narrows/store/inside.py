"""Directories that aren't results: what they are, and which results lie in them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

MANIFEST, MARK = "manifest.json", "store.json"
"""The files that make a directory the result of a run, or a store of runs."""
_KINDS = {
    "compare.html": "a comparison",
    "diff.html": "a diff",
    "search.json": "a search",
    "site/index.html": "an evaluation or published figures",
}
"""The kinds of directories that have these files."""
_DEPTH = 4
"""Results lie at most this deep: those of a search are in narrows-results/search/NAME/1/results."""
_MOST_READ = 1000
"""Directories that are looked into, at most."""
_NAMED = 3


def kind_of(directory: Path) -> str:
    """Says what a directory is that isn't a result, and which file shows it; "" if unknown."""
    known = (name for name in _KINDS if (directory / name).is_file())
    return next((f"{_KINDS[name]}, shown in {directory / name}" for name in known), "")


def inner_results(directory: Path) -> str:
    """Names the results in a directory, as a remedy; "" if there are none."""
    found = sorted(islice(_results(directory), _MOST_READ))
    if len(found) > 1:
        names = ", ".join(str(path) for path in found[:_NAMED])
        return f"one of the {len(found)} results in it, such as {names},"
    return f"the results in it, {found[0]}," if found else ""


def _results(directory: Path) -> Iterator[Path]:
    """Yields the directories of runs and of sweeps that lie in one."""
    top = len(directory.parts)
    for name, inner, _ in islice(os.walk(directory), _MOST_READ):
        place = Path(name)
        if (place / MANIFEST).is_file() or _is_sweep(place):
            yield place
            inner.clear()
        elif len(place.parts) - top == _DEPTH or (place / MARK).is_file():
            inner.clear()
        inner[:] = sorted(one for one in inner if not one.startswith("."))


def _is_sweep(place: Path) -> bool:
    """Returns True for a store with a study; that of a comparison has only runs."""
    return (place / MARK).is_file() and any((place / "studies").glob("*.json"))
