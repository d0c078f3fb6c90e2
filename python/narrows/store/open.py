"""Opens and creates stores: a directory, or a URL of object storage."""

from __future__ import annotations

from pathlib import Path

from narrows.errors import StoreError
from narrows.store.atomic import publish, writing
from narrows.store.folders import FolderFiles
from narrows.store.inside import MARK
from narrows.store.medium import FORMAT, StoreFiles, as_json, read_document
from narrows.store.owned import owned_directory
from narrows.store.parts import PARTS
from narrows.store.runs import Store

Place = str | Path
"""A directory, or a URL such as s3://bucket/prefix."""


def is_url(place: Place) -> bool:
    """Returns True if a place is in object storage."""
    return isinstance(place, str) and "://" in place and not place.startswith("file://")


def location(place: Place) -> Place:
    """Returns a URL unchanged, and everything else as a path, `file://` URLs included."""
    if is_url(place):
        return str(place)
    return Path(str(place).removeprefix("file://"))


def is_store(path: Place) -> bool:
    """Returns True if a place is a store of runs."""
    return _files(path).has(MARK)


def create_store(path: Place) -> Store:
    """Returns the store at `path`, created if there is none; raises StoreError if that fails."""
    files = _files(path)
    if files.has(MARK):
        store = open_store(path)
        with writing(Path(str(files))):
            files.make_folders()
        if store.directory is not None:
            store.leftovers(remove=True)
        return store
    with writing(Path(str(files))):
        files.begin(MARK)
        _write_mark(files)
    return Store(files)


def open_store(path: Place) -> Store:
    """Opens the store at `path`; raises StoreError if there is none."""
    files, remedy = _files(path), "the directory of a sweep, or its URL"
    directory = files.directory
    if directory is not None and not directory.is_dir():
        found = "a file" if directory.exists() else "no such directory"
        raise StoreError.at(str(path), found, remedy)
    if not files.has(MARK):
        found = f"no {MARK} there" if directory is None else f"a directory without {MARK}"
        raise StoreError.at(str(path), found, remedy)
    if read_document(files, MARK, None).get("format") != FORMAT:
        raise StoreError.at(str(path), "a store of another version of narrows", "a fresh sweep")
    files.check()
    return Store(files)


def snapshot(path: Place, out: Path) -> Store:
    """Makes `out` a store with the current runs and studies of `path`.

    Its files are links, so it takes no space, and stays whatever is merged or removed there. Raises
    StoreError for object storage, or if `out` can't be written.
    """
    store = open_store(path)
    if store.directory is None:
        raise StoreError.at(str(path), "a store in object storage", "a directory")
    if out.exists():
        raise StoreError.at(str(out), "something that is there", "a new directory")
    with writing(out, "a new directory on the same disk"), owned_directory(out) as work:
        files = FolderFiles(work)
        files.begin(MARK)
        store.link_parts(work / PARTS)
        for stem, record in store.studies().items():
            Store(files).add_study(stem, record, store.study_runs(stem))
        _write_mark(files)
        publish(work, out)
    return open_store(out)


def mend_mark(path: Place, remove: bool) -> str | None:
    """Returns the problem of the file that names a store's format; with `remove` repairs it.

    Only a directory with all folders of a store counts as a store, and a URL with a complete run.
    """
    files = _files(path)
    if not files.has(MARK) or not files.is_whole():
        return None
    try:
        read_document(files, MARK, None)
    except StoreError as error:
        if remove:
            files.check()
            _write_mark(files)
        return error.problems[0].found
    return None


def _files(path: Place) -> StoreFiles:
    """Returns the files at a place."""
    if is_url(path):
        from narrows.store.objects import Bucket

        return Bucket(str(path))
    return FolderFiles(Path(location(path)))


def _write_mark(files: StoreFiles) -> None:
    files.write(MARK, as_json({"format": FORMAT}))
