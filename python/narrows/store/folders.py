"""The parts of a store in a directory."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from narrows.errors import StoreError
from narrows.files import open_regular
from narrows.store.atomic import flush, flush_all
from narrows.store.locks import claim
from narrows.store.owned import workshop
from narrows.store.parts import NAME

PARTS = "parts"
MERGE = "0" * 32
"""The lock of the process that merges or removes parts; it is named like those of runs."""
_FRESH_NS = 50_000_000
"""A directory that changed less than this ago may have changed again within its clock's tick."""


class PartFolders:
    """The parts in `root/parts`, each a directory that got its name by a single rename."""

    def __init__(self, root: Path) -> None:
        self._root, self._folder = root, root / PARTS

    def names(self) -> list[str]:
        """The names of all parts, ascending."""
        with os.scandir(self._folder) as entries:
            return sorted(
                entry.name
                for entry in entries
                if NAME.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            )

    def version(self) -> int | None:
        """A number that changes with the names; None as long as it may miss a change."""
        changed = self._folder.stat().st_mtime_ns
        return changed if time.time_ns() - changed > _FRESH_NS else None

    @contextmanager
    def open(self, part: str, file: str) -> Iterator[BinaryIO]:
        """Opens a file, but not by a link."""
        place = self._folder / part
        if place.is_symlink():
            raise StoreError.at(str(place), "a link", "a directory of the store")
        with open_regular(place / file, follow=False) as stream:
            yield stream

    def place(self, part: str, file: str) -> Path:
        """The place of a file, for messages."""
        return self._folder / part / file

    def room(self) -> AbstractContextManager[Path]:
        """An empty directory for a part."""
        return workshop(self._root / "tmp")

    def publish(self, folder: Path) -> None:
        """Gives a directory its name, once all of its files are on the disk."""
        work = folder / f"part-{secrets.token_hex(8)}"
        files = list(folder.iterdir())
        work.mkdir()
        for file in files:
            file.rename(work / file.name)
        flush_all([work])
        work.rename(self._folder / work.name)
        flush(self._folder)

    def remove(self, parts: Iterable[str]) -> None:
        """Removes parts, their names first, so that none is ever visible in part."""
        with self.room() as room:
            for name in parts:
                try:
                    (self._folder / name).rename(room / name)
                except FileNotFoundError:
                    continue
                if (room / name).is_symlink():
                    (room / name).unlink()
                else:
                    shutil.rmtree(room / name, ignore_errors=True)

    @contextmanager
    def merging(self, wait_s: float = 0.0) -> Iterator[bool]:
        """Whether no other process changes parts until the end of the block."""
        until = time.monotonic() + wait_s
        while True:
            with claim(self._root / "locks" / MERGE) as ours:
                if ours or time.monotonic() >= until:
                    yield ours
                    return
            time.sleep(0.05)
