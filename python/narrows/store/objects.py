"""The files of a store in object storage: s3://, gs://, az:// and any other that obstore supports.

An object appears at once, so the line of a part, which is written last, has the effect of renaming
on a disk. There are no locks: two sweeps that reach the same run both compute it, with the same
result. obstore takes its configuration from the environment (AWS_ACCESS_KEY_ID, AWS_REGION,
AWS_ENDPOINT and so on). `memory://NAME` is for experiments.
"""

from __future__ import annotations

import errno
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from narrows.errors import StoreError
from narrows.store.parts import LINE, NAME, PARTS
from narrows.store.read import MOST

OLD_S = 86_400.0
"""No run takes this long to be written, so an older one without a marker is a leftover."""


class Bucket:
    """Objects by name below a URL; see `narrows.store.medium.StoreFiles`."""

    directory = None

    def __init__(self, url: str) -> None:
        self._url = url
        self._store = _connect(url)

    def __str__(self) -> str:
        return self._url

    def place(self, name: str) -> Path:
        """Returns the address of an object, for messages."""
        return Path(self._url, name)

    def read(self, name: str, most: int) -> bytes:
        """Returns the content.

        Raises FileNotFoundError if there is none, OSError if it exceeds `most`.
        """
        import obstore

        found = obstore.get(self._store, name)
        if found.meta["size"] > most:
            raise OSError(errno.EFBIG, f"more than {most:,} bytes")
        return bytes(found.bytes())

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """Opens an object, which is read as a whole."""
        yield BytesIO(self.read(name, MOST if name.endswith(LINE) else 1 << 63))

    def write(self, name: str, content: bytes) -> None:
        """Writes an object atomically, replacing an older one."""
        import obstore

        obstore.put(self._store, name, content)

    def names(self, folder: str) -> list[str]:
        """Returns the names of all objects below a folder, ascending, without the folder."""
        import obstore

        chunks = obstore.list(self._store, f"{folder}/")
        return sorted(str(meta["path"]).partition(f"{folder}/")[2] for c in chunks for meta in c)

    def modification_time(self, name: str) -> float | None:
        """Returns when an object was written, in seconds of the server's clock.

        None if there is none.
        """
        import obstore

        try:
            return float(obstore.head(self._store, name)["last_modified"].timestamp())
        except FileNotFoundError:
            return None

    def remove(self, names: Iterable[str]) -> None:
        """Removes objects; missing ones are ignored."""
        import obstore

        for name in names:
            try:
                obstore.delete(self._store, name)
            except FileNotFoundError:
                continue

    def parts(self) -> list[str]:
        """Returns the names of all complete parts, ascending."""
        found = (name.partition("/") for name in self.names(PARTS))
        return sorted(part for part, _, file in found if file == LINE and NAME.fullmatch(part))

    def version(self) -> None:
        """Returns None, since only a listing shows changes."""
        return

    @contextmanager
    def new_directory(self) -> Iterator[Path]:
        """Yields an empty directory for a part."""
        with TemporaryDirectory(prefix="narrows-") as directory:
            yield Path(directory)

    def publish(self, folder: Path) -> None:
        """Puts the files of a part, its line last."""
        name = f"part-{secrets.token_hex(8)}"
        files = sorted(file.name for file in folder.iterdir() if file.name != LINE)
        for file in (*files, LINE):
            self.write(f"{PARTS}/{name}/{file}", (folder / file).read_bytes())

    def remove_parts(self, parts: Iterable[str]) -> None:
        """Removes parts, their lines first."""
        for part in parts:
            self.remove([f"{PARTS}/{part}/{LINE}"])
            self.remove(f"{PARTS}/{part}/{name}" for name in self.names(f"{PARTS}/{part}"))

    def merging(self, wait_s: float = 0.0) -> AbstractContextManager[bool]:
        """Always yields True: of two parts that hold the same runs, one counts."""
        del wait_s
        return nullcontext(True)

    def claim(self, key: str) -> AbstractContextManager[bool]:
        """Always yields True, since there are no locks."""
        del key
        return nullcontext(True)

    def leftovers(self, remove: bool) -> list[str]:
        """Returns old parts without a line, which a killed process left.

        Another process may be writing a newer one, since there are no locks.
        """
        whole, since = set(self.parts()), time.time() - OLD_S
        found: dict[str, str] = {}
        for name in self.names(PARTS):
            found.setdefault(name.partition("/")[0], name)
        gone = [part for part in sorted(found) if part not in whole]
        gone = [part for part in gone if self._is_older(f"{PARTS}/{found[part]}", since)]
        if remove:
            self.remove_parts(gone)
        return gone

    def _is_older(self, name: str, moment: float) -> bool:
        """Returns True if an object exists since before a moment of the clock (seconds)."""
        when = self.modification_time(name)
        return when is not None and when < moment

    def has(self, name: str) -> bool:
        """Returns True if an object is there; raises StoreError if there is no answer."""
        try:
            return self.modification_time(name) is not None
        except Exception as error:
            reason = str(error).splitlines()[0]
            remedy = "a URL that can be reached, and the right to use it"
            raise StoreError.at(str(self), f"an answer that says no ({reason})", remedy) from None

    def is_whole(self) -> bool:
        """Returns True if a complete part shows that this is a store."""
        return bool(self.parts())

    def begin(self, mark: str) -> None:
        """Does nothing: folders are parts of names."""

    def missing_folders(self) -> list[str]:
        """Returns none, since folders are parts of names."""
        return []

    def make_folders(self) -> None:
        """Does nothing: folders are parts of names."""

    def check(self) -> None:
        """Does nothing: no object leads elsewhere."""


@cache
def _memory(url: str) -> object:
    from obstore.store import MemoryStore

    del url  # each URL has its own store
    return MemoryStore()


def _connect(url: str) -> Any:  # noqa: ANN401 (obstore has a class for each service)
    try:
        from obstore.store import from_url
    except ImportError:
        remedy = "a directory, or obstore, as in `pip install narrows[cloud]`,"
        raise StoreError.at(url, "a URL, but not the package obstore", remedy) from None
    if url.startswith("memory://"):
        return _memory(url)
    try:
        return from_url(url, client_options={"allow_http": True} if _insecure() else None)
    except Exception as error:
        remedy = "a directory, or a URL such as s3://bucket/prefix,"
        reason = str(error).partition("\n")[0].strip()
        raise StoreError.at(url, f"what obstore can't open ({reason})", remedy) from None


def _insecure() -> bool:
    """Returns True if the environment's endpoint is unencrypted, as in a laboratory."""
    return os.environ.get("AWS_ENDPOINT", "").startswith("http://")
