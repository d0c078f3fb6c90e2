"""The files of a store in a directory.

    DIR/locks/, tmp/        of the processes that are at work, see `narrows.store.owned`

A part is a directory that is written under `tmp`, flushed to disk, and gets its name by a single
rename; every other file is replaced in the same way.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from narrows.errors import StoreError
from narrows.files import open_regular, read_contained
from narrows.store.atomic import flush, flush_all
from narrows.store.locks import claim, free_locks
from narrows.store.owned import private_directory, remove_abandoned
from narrows.store.parts import NAME, PARTS

_LASTING = (PARTS, "studies")
"""The folders without which a store has lost something."""
_PASSING = ("failures", "locks", "tmp")
"""The folders that are empty in a store without failures and processes; a copy may lack them."""
FOLDERS = (*_LASTING, *_PASSING)
PAGES = "pages"
"""The folder of the pages of single runs."""
MERGE = "0" * 32
"""The lock of the process that merges or removes parts; it is named like the locks of runs."""
_FRESH_NS = 50_000_000
"""A directory that changed less than this ago may have changed again within its clock's tick."""


@dataclass
class FolderFiles:
    """The files below `directory`; see `narrows.store.medium.StoreFiles`."""

    directory: Path

    def __str__(self) -> str:
        return str(self.directory)

    def place(self, name: str) -> Path:
        """Returns the place of a file, for messages."""
        return self.directory / name

    def read(self, name: str, most: int) -> bytes:
        """Returns the content, but not through a link; raises OSError if it exceeds `most`."""
        return read_contained(self.directory / name, most)

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Opens a file, but not through a link."""
        place = self.directory / name
        if place.parent.is_symlink():
            raise StoreError.at(str(place.parent), "a link", "a directory of the store")
        with open_regular(place, follow=False) as stream:
            yield stream

    def write(self, name: str, content: bytes) -> None:
        """Writes a file that appears complete on the disk, replacing an older one."""
        with self.new_directory() as directory:
            work = directory / Path(name).name
            work.write_bytes(content)
            flush(work)
            work.replace(self.directory / name)

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files in a folder, ascending."""
        if folder in _PASSING and not (self.directory / folder).exists():
            return []
        with self._lasting(folder):
            return sorted(path.name for path in (self.directory / folder).iterdir())

    def modification_time(self, name: str) -> float | None:
        """Returns when a file was written, in seconds of the system's clock.

        None if there is none.
        """
        try:
            return (self.directory / name).stat().st_mtime
        except FileNotFoundError:
            return None

    def remove(self, names: Iterable[str]) -> None:
        """Removes files, or whatever damage put in their place; missing ones are ignored."""
        for name in names:
            place = self.directory / name
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)

    def parts(self) -> list[str]:
        """Returns the names of all parts, ascending."""
        with self._lasting(PARTS), os.scandir(self.directory / PARTS) as entries:
            return sorted(
                entry.name
                for entry in entries
                if NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            )

    def version(self) -> int | None:
        """Returns a number that changes with the parts; None as long as it may miss a change."""
        with self._lasting(PARTS):
            changed = (self.directory / PARTS).stat().st_mtime_ns
        return changed if time.time_ns() - changed > _FRESH_NS else None

    def new_directory(self) -> AbstractContextManager[Path]:
        """Yields an empty directory for a part."""
        return private_directory(self.directory / "tmp")

    def publish(self, folder: Path) -> None:
        """Makes a part of the files in a directory, once all of them are on the disk."""
        work = folder / f"part-{secrets.token_hex(8)}"
        files = list(folder.iterdir())
        work.mkdir()
        for file in files:
            file.rename(work / file.name)
        flush_all([work])
        work.rename(self.directory / PARTS / work.name)
        flush(self.directory / PARTS)

    def remove_parts(self, parts: Iterable[str]) -> None:
        """Removes parts, their names first, so that none is ever partly visible."""
        with self.new_directory() as directory:
            for name in parts:
                try:
                    (self.directory / PARTS / name).rename(directory / name)
                except FileNotFoundError:
                    continue
                if (directory / name).is_symlink():
                    (directory / name).unlink()
                else:
                    shutil.rmtree(directory / name, ignore_errors=True)

    @contextmanager
    def merging(self, wait_s: float = 0.0) -> Iterator[bool]:
        """Yields True if no other process changes parts until the end of the block."""
        until = time.monotonic() + wait_s
        while True:
            with self.claim(MERGE) as ours:
                if ours or time.monotonic() >= until:
                    yield ours
                    return
            time.sleep(0.05)

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """Yields True if we own a run until the end of the block."""
        return claim(self.directory / "locks" / key)

    def leftovers(self, remove: bool) -> list[str]:
        """Returns leftovers of killed processes; work in progress is locked, and left alone."""
        folder, locks = self.directory / "tmp", self.directory / "locks"
        gone = [path.name for path in remove_abandoned(folder, remove)]
        return [*gone, *(path.name for path in free_locks(locks, remove))]

    def has(self, name: str) -> bool:
        """Returns True if a file exists."""
        return (self.directory / name).is_file()

    def is_whole(self) -> bool:
        """Returns True if the directory has all folders of a store."""
        return all((self.directory / name).is_dir() for name in FOLDERS)

    def begin(self, mark: str) -> None:
        """Makes the folders; raises StoreError for a directory with other contents."""
        self.check()
        if self.directory.is_dir() and any(
            entry.name not in FOLDERS for entry in self.directory.iterdir() if entry.name != mark
        ):
            remedy = "a new or empty directory, or one of an earlier sweep,"
            raise StoreError.at(str(self), "something that is no store of runs", remedy)
        self.make_folders()
        remove_abandoned(self.directory / "tmp")

    def missing_folders(self) -> list[str]:
        """Returns the folders that the store has lost."""
        return [name for name in _LASTING if not (self.directory / name).exists()]

    def make_folders(self) -> None:
        """Makes the folders that there aren't."""
        for folder in FOLDERS:
            (self.directory / folder).mkdir(parents=True, exist_ok=True)

    @contextmanager
    def _lasting(self, folder: str) -> Iterator[None]:
        """Raises StoreError if the block doesn't find the folder, since the store has lost it."""
        try:
            yield
        except FileNotFoundError:
            remedy = "the folder of a store, which another sweep makes again,"
            found = "no such directory"
            raise StoreError.at(str(self.directory / folder), found, remedy) from None

    def check(self) -> None:
        """Raises StoreError for a folder that leads out of the store: its files may be removed."""
        for folder in (*FOLDERS, PAGES):
            place = self.directory / folder
            if place.is_symlink() or (place.exists() and not place.is_dir()):
                raise StoreError.at(str(place), "a link or a file", "a folder of the store")
