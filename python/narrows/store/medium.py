"""The medium that keeps the files of a store, and the store's documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from narrows.errors import StoreError
from narrows.store import shapes
from narrows.store.inside import MARK
from narrows.store.read import MOST
from narrows.store.shapes import check_shape

FORMAT = 2
"""The version of the store's layout; a reader refuses any other."""
MEND = "`narrows store check --remove` and another sweep"


class StoreFiles(Protocol):
    """The files of a store by their names, and its parts. `str` gives its directory or URL."""

    @property
    def directory(self) -> Path | None:
        """The directory; None in object storage."""

    def place(self, name: str) -> Path:
        """Returns the place of a file, for messages."""

    def read(self, name: str, most: int) -> bytes:
        """Returns the content; raises OSError if it exceeds `most`."""

    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """Opens a file; raises FileNotFoundError if there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Writes a file that appears complete, replacing an older one."""

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files in a folder, ascending."""

    def modification_time(self, name: str) -> float | None:
        """Returns when a file was written, in seconds of its machine's clock.

        None if there is none.
        """

    def remove(self, names: Iterable[str]) -> None:
        """Removes files; missing ones are ignored."""

    def parts(self) -> list[str]:
        """Returns the names of all complete parts, ascending."""

    def version(self) -> int | None:
        """Returns a number that changes with the parts; None as long as it may miss a change."""

    def new_directory(self) -> AbstractContextManager[Path]:
        """Yields an empty directory for a part."""

    def publish(self, folder: Path) -> None:
        """Makes a part of the files in a directory."""

    def remove_parts(self, parts: Iterable[str]) -> None:
        """Removes parts, each at once."""

    def merging(self, wait_s: float = 0.0) -> AbstractContextManager[bool]:
        """Yields True if no other process changes parts until the end of the block."""

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """Yields True if we own a run until the end of the block."""

    def leftovers(self, remove: bool) -> list[str]:
        """Returns leftovers of killed processes."""

    def has(self, name: str) -> bool:
        """Returns True if a file is there; raises StoreError if there is no answer."""

    def is_whole(self) -> bool:
        """Returns True if a store is complete except for the file with its format."""

    def begin(self, mark: str) -> None:
        """Prepares for a new store; raises StoreError in a place with other contents."""

    def missing_folders(self) -> list[str]:
        """Returns the folders that the store has lost."""

    def make_folders(self) -> None:
        """Makes the folders that there aren't."""

    def check(self) -> None:
        """Raises StoreError for anything that leads out of the store."""


def as_json(document: Mapping[str, Any]) -> bytes:
    """Returns a document as the content of a file."""
    return (json.dumps(document, indent=1) + "\n").encode()


def read_document(files: StoreFiles, name: str, shape: shapes.Shape) -> dict[str, Any]:
    """Reads the object in a file of a store.

    Raises StoreError if it can't, or it has no `shape`.
    """
    place = str(files.place(name))
    try:
        document = json.loads(files.read(name, MOST))
    except (OSError, ValueError, RecursionError) as error:
        remedy = "`narrows store check --remove`" if name == MARK else MEND
        raise StoreError.at(place, f"an unreadable file ({error})", remedy) from None
    if shape is not None:
        check_shape(document, shape, place, MEND)
    return document if isinstance(document, dict) else {}
