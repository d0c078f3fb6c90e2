"""Own papers: a folder with a study becomes the library that a command works on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from narrows.errors import InputError
from narrows.reproduce import study_check
from narrows.reproduce.catalogue import ALL
from narrows.reproduce.ledger import read
from narrows.reproduce.library import (
    DOCUMENT,
    DOCUMENTS,
    STUDY,
    Library,
    documents,
    read_table,
    using,
)
from narrows.reproduce.records import OUT
from narrows.spec.suggest import quote
from narrows.store import RESULTS

NAME = re.compile(r"[a-z0-9][a-z0-9-]*")
"""The first part of ids, which are parts of file names."""


@dataclass(frozen=True, slots=True)
class OpenLibrary:
    """A name within a library, and where its results go unless a place is given."""

    wanted: str
    out: Path


@contextmanager
def open_library(wanted: str, out: str | Path | None) -> Iterator[OpenLibrary]:
    """Works on the library that `wanted` means while the block runs.

    It is ours, or the paper of a path: a folder, its study.toml, or one of several studies; with
    ":CLAIM" after it, only that claim. Raises InputError for an incorrect study, or an `out` that
    belongs to another library.
    """
    if not is_path(wanted):
        place = Path(out) if out is not None else OUT
        _check_place(place)
        yield OpenLibrary(wanted, place)
        return
    path, claim = _parts(wanted)
    file = _description(path)
    chosen = _library(file)
    place = _place(chosen, out)
    with using(chosen):
        study_check.check()
        _check_place(place)
        yield OpenLibrary(_name(path, claim), place)


@contextmanager
def open_to_read(wanted: str, out: str | Path | None) -> Iterator[OpenLibrary]:
    """Works on a library like `open_library`, but only to read.

    Results of another library may be there, and none of the library's code runs.
    """
    if not is_path(wanted):
        yield OpenLibrary(wanted, Path(out) if out is not None else OUT)
        return
    path, claim = _parts(wanted)
    chosen = _library(_description(path))
    with using(chosen):
        study_check.check(run_code=False)
        yield OpenLibrary(_name(path, claim), _place(chosen, out))


def _place(chosen: Library, out: str | Path | None) -> Path:
    """Returns where results of an own paper go."""
    (name,) = chosen.documents
    return Path(out) if out is not None else Path(RESULTS) / f"{name}.study"


def is_path(wanted: str) -> bool:
    """Returns True if a word means a folder or a file of studies, rather than an id of ours."""
    path, _ = _parts(wanted)
    return path.suffix == ".toml" or wanted.startswith((".", "/", "~"))


def _parts(wanted: str) -> tuple[Path, str]:
    """Splits off the claim after the last colon of a path."""
    path, colon, claim = wanted.rpartition(":")
    if not colon or "/" in claim or wanted.endswith(".toml"):
        path, claim = wanted, ""
    return Path(path).expanduser(), claim


def _description(path: Path) -> Path:
    """Returns the file that describes the paper of a path."""
    folder = path if path.is_dir() else path.parent
    known = [folder / name for name in (STUDY, DOCUMENT) if (folder / name).is_file()]
    if not known or not path.exists():
        found = "no such file" if not path.exists() else f"a folder without {STUDY}"
        remedy = f"a folder with {STUDY} (`narrows init paper` writes one)"
        raise InputError.at(str(path), found, remedy)
    return known[0]


def _library(file: Path) -> Library:
    table = read_table(file)
    name = table.get("name", file.resolve().parent.name)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        found = quote(str(name))
        raise InputError.at("name", found, "small letters, digits and hyphens", str(file))
    if name in DOCUMENTS:
        found = f'"{name}", the name of one of the documents of narrows'
        raise InputError.at("name", found, "another name", str(file))
    title = table.get("paper")
    if not isinstance(title, str) or not title:
        found = "nothing" if title is None else quote(str(title))
        remedy = "the title of the paper with its authors and the year"
        raise InputError.at("paper", found, remedy, str(file))
    return Library({name: title}, {name: file.parent}, file)


def _name(path: Path, claim: str) -> str:
    """Returns the id that a path and a claim mean within the library."""
    (document,) = documents()
    if claim:
        return f"{document}/{claim}"
    if path.is_dir() or path.name in (STUDY, DOCUMENT):
        return ALL
    return f"{document}/{path.stem}"


def _check_place(out: Path) -> None:
    """Raises InputError if writing would lose findings of another library."""
    others = {entry.claim.partition("/")[0] for entry in read(out)} - set(documents())
    if others:
        found = f"{out}, which has findings of {', '.join(sorted(others))}"
        raise InputError.at("--out", found, "another directory")
