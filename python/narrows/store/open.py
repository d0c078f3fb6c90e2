"""Finds stores: a directory, or a URL of object storage."""

from __future__ import annotations

import json
from pathlib import Path

from narrows.errors import StoreError
from narrows.store.owned import owned_file, remove_abandoned
from narrows.store.protocol import Store
from narrows.store.runs import FOLDERS, FORMAT, MARK, PAGES, RunStore, read_json, unwritable

Place = str | Path
"""A directory, or a URL such as s3://bucket/prefix."""


def is_url(place: Place) -> bool:
    """Whether a place is in object storage."""
    return isinstance(place, str) and "://" in place and not place.startswith("file://")


def location(place: Place) -> Place:
    """A URL unchanged, everything else as a path; `file://` URLs are paths, too."""
    if is_url(place):
        return str(place)
    return Path(str(place).removeprefix("file://"))


def create_store(path: Place) -> Store:
    """The store at `path`, created if there is none; raises StoreError if that fails."""
    if is_url(path):
        from narrows.store.objects import create

        return create(str(path))
    directory = Path(location(path))
    if (directory / MARK).is_file():
        store = open_store(directory)
        store.leftovers(remove=True)
        return store
    try:
        _check_folders(directory)
        if directory.is_dir() and any(
            entry.name not in FOLDERS for entry in directory.iterdir() if entry.name != MARK
        ):
            remedy = "a new or empty directory, or one of an earlier sweep,"
            raise StoreError.at(str(path), "something that is no store of runs", remedy)
        for folder in FOLDERS:
            (directory / folder).mkdir(parents=True, exist_ok=True)
        remove_abandoned(directory / "tmp")
        _write_mark(directory)
    except OSError as error:
        raise unwritable(error, directory) from error
    return RunStore(directory)


def open_store(path: Place) -> Store:
    """The store at `path`; raises StoreError if there is none."""
    if is_url(path):
        from narrows.store.objects import open_there

        return open_there(str(path))
    directory = Path(location(path))
    remedy = "the directory of a sweep"
    if not directory.is_dir():
        found = "a file" if directory.exists() else "no such directory"
        raise StoreError.at(str(path), found, remedy)
    if not (directory / MARK).is_file():
        raise StoreError.at(str(path), f"a directory without {MARK}", remedy)
    if read_json(directory / MARK).get("format") != FORMAT:
        raise StoreError.at(str(path), "a store of another version of narrows", "a fresh sweep")
    _check_folders(directory)
    return RunStore(directory)


def mend_mark(path: Place, remove: bool) -> str | None:
    """Returns what is wrong with the file that names a store's format; with `remove` mends it.

    Only a directory with all folders of a store counts as one, and a URL with a complete run.
    """
    if is_url(path):
        from narrows.store import objects

        return objects.mend_mark(str(path), remove)
    directory = Path(location(path))
    mark = directory / MARK
    if not mark.is_file() or not all((directory / n).is_dir() for n in FOLDERS):
        return None
    try:
        read_json(mark)
    except StoreError as error:
        if remove:
            _check_folders(directory)
            _write_mark(directory)
        return error.found
    return None


def _write_mark(directory: Path) -> None:
    with owned_file(directory / "tmp" / MARK) as work:
        work.write_text(json.dumps({"format": FORMAT}) + "\n", encoding="utf-8", newline="\n")
    (directory / "tmp" / MARK).replace(directory / MARK)


def _check_folders(directory: Path) -> None:
    """Raises StoreError for a folder that leads out of the store: things are removed in them."""
    for folder in (*FOLDERS, PAGES):
        place = directory / folder
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise StoreError.at(str(place), "a link or a file", "a folder of the store")


def is_store(path: Place) -> bool:
    """Whether a place is a store of runs."""
    if is_url(path):
        from narrows.store.objects import is_there

        return is_there(str(path))
    return (Path(location(path)) / MARK).is_file()
