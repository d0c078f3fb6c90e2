"""A store of runs in object storage: s3://, gs://, az:// and whatever else obstore knows.

    URL/
        store.json              the format
        parts/part-NUMBER/      as on a disk; part.json, which is written last, completes it
        studies/, failures/     as on a disk

An object appears at once, so the line of a part does what renaming does on a disk. There are no
locks: two sweeps that reach the same run both compute it, with the same result. obstore takes its
configuration from the environment (AWS_ACCESS_KEY_ID, AWS_REGION, AWS_ENDPOINT and so on).
`memory://NAME` is for experiments.
"""

from __future__ import annotations

import errno
import json
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from narrows.errors import StoreError
from narrows.plan import Trial
from narrows.store import shapes
from narrows.store.folders import PARTS
from narrows.store.parquet import damage_of, parquet_bytes
from narrows.store.parted import MEND, PartStore
from narrows.store.parts import LINE, NAME
from narrows.store.read import MOST
from narrows.store.runs import FORMAT, MARK, failure_of
from narrows.store.shapes import check_shape
from narrows.store.slug import slug

if TYPE_CHECKING:
    import polars as pl


OLD_S = 86_400.0
"""No run takes this long to be written, so an older one without a marker is a leftover."""


class Bucket:
    """Objects by name below a URL."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._store = _connect(url)

    def get(self, name: str, most: int | None = None) -> bytes:
        """The content; raises FileNotFoundError if there is none, OSError if it exceeds `most`."""
        import obstore

        found = obstore.get(self._store, name)
        if most is not None and found.meta["size"] > most:
            raise OSError(errno.EFBIG, f"more than {most:,} bytes")
        return bytes(found.bytes())

    def put(self, name: str, content: bytes) -> None:
        """Writes an object atomically, replacing an older one."""
        import obstore

        obstore.put(self._store, name, content)

    def has(self, name: str) -> bool:
        """Whether the object is there."""
        import obstore

        try:
            obstore.head(self._store, name)
        except FileNotFoundError:
            return False
        return True

    def names(self, folder: str) -> list[str]:
        """The names of all objects below a folder, ascending, without the folder."""
        import obstore

        chunks = obstore.list(self._store, f"{folder}/")
        return sorted(str(meta["path"]).partition(f"{folder}/")[2] for c in chunks for meta in c)

    def modified(self, name: str) -> float | None:
        """When an object was written, in seconds of the server's clock; None if there is none."""
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


@cache
def _memory(url: str) -> object:
    from obstore.store import MemoryStore

    del url  # each has its own
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
    """Whether the environment's endpoint is unencrypted, as in a laboratory."""
    import os

    return os.environ.get("AWS_ENDPOINT", "").startswith("http://")


class PartObjects:
    """The parts below a URL."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def names(self) -> list[str]:
        """The names of all complete parts, ascending."""
        found = (name.partition("/") for name in self._bucket.names(PARTS))
        return sorted(part for part, _, file in found if file == LINE and NAME.fullmatch(part))

    def version(self) -> None:
        """None: only a listing tells of changes."""
        return

    @contextmanager
    def open(self, part: str, file: str) -> Iterator[BinaryIO]:
        """Opens an object."""
        most = MOST if file == LINE else None
        yield BytesIO(self._bucket.get(f"{PARTS}/{part}/{file}", most))

    def place(self, part: str, file: str) -> Path:
        """The address of an object, for messages."""
        return Path(self._bucket.url, PARTS, part, file)

    @contextmanager
    def room(self) -> Iterator[Path]:
        """An empty directory for a part."""
        with TemporaryDirectory(prefix="narrows-") as room:
            yield Path(room)

    def publish(self, folder: Path) -> None:
        """Puts the files of a part, its line last."""
        name = f"part-{secrets.token_hex(8)}"
        files = sorted(file.name for file in folder.iterdir() if file.name != LINE)
        for file in (*files, LINE):
            self._bucket.put(f"{PARTS}/{name}/{file}", (folder / file).read_bytes())

    def remove(self, parts: Iterable[str]) -> None:
        """Removes parts, their lines first."""
        for part in parts:
            self._bucket.remove([f"{PARTS}/{part}/{LINE}"])
            files = self._bucket.names(f"{PARTS}/{part}")
            self._bucket.remove([f"{PARTS}/{part}/{name}" for name in files])

    @contextmanager
    def merging(self, wait_s: float = 0.0) -> Iterator[bool]:
        """Always true: of two parts that hold the same runs, one counts."""
        del wait_s
        yield True


class ObjectStore(PartStore):
    """The store below a URL; see `narrows.store.protocol.Store`."""

    def __init__(self, bucket: Bucket) -> None:
        super().__init__(PartObjects(bucket))
        self._bucket = bucket

    def __str__(self) -> str:
        return self._bucket.url

    @contextmanager
    def claim(self, key: str) -> Iterator[bool]:
        """Always true, since there are no locks."""
        del key
        yield True

    def fail(self, trial: Trial, cell: str, error: str) -> None:
        """Records why a run failed."""
        self._bucket.put(f"failures/{trial.hash}.json", _json(failure_of(trial, cell, error)))

    def failures(self) -> dict[str, dict[str, Any]]:
        """The records of failed runs by hash."""
        return {key: self.failure(key) for key in self.failure_keys()}

    def failure_keys(self) -> list[str]:
        """The hashes of failed runs, ascending."""
        return [name.removesuffix(".json") for name in self._bucket.names("failures")]

    def failure(self, key: str) -> dict[str, Any]:
        """The record of a failed run."""
        return self._document(f"failures/{key}.json", shapes.FAILURE)

    def failure_since(self, key: str, moment: float) -> str | None:
        """Why a run failed, if it failed after a moment of the clock (seconds)."""
        when = self._bucket.modified(f"failures/{key}.json")
        return None if when is None or when < moment else str(self.failure(key)["error"])

    def forget_failures(self, keys: Iterable[str]) -> None:
        """Removes the records of failures."""
        self._bucket.remove(f"failures/{key}.json" for key in keys)

    def leftovers(self, remove: bool = False) -> list[str]:
        """Old parts without a line, which a killed process left.

        Another process may be writing a newer one, since there are no locks. They are found and
        removed only by a collection.
        """
        whole, since = set(self._files.names()), time.time() - OLD_S
        found: dict[str, str] = {}
        for name in self._bucket.names(PARTS):
            found.setdefault(name.partition("/")[0], name)
        gone = [part for part in sorted(found) if part not in whole]
        gone = [part for part in gone if self._is_older(f"{PARTS}/{found[part]}", since)]
        if remove:
            self._files.remove(gone)
        return gone

    def _is_older(self, name: str, moment: float) -> bool:
        """Whether an object is there, from before a moment of the clock (seconds)."""
        when = self._bucket.modified(name)
        return when is not None and when < moment

    def add_study(self, name: str, record: Mapping[str, Any], runs: pl.DataFrame) -> None:
        """Keeps a study and the table of its runs, replacing an older one of that name."""
        self._bucket.put(f"studies/{slug(name)}.parquet", parquet_bytes(runs))
        self._bucket.put(f"studies/{slug(name)}.json", _json(record))

    def studies(self) -> dict[str, dict[str, Any]]:
        """The records of all studies by the name of their files."""
        return {stem: self.study(stem) for stem in self.study_stems()}

    def study_stems(self) -> list[str]:
        """The names of the files of all studies, ascending."""
        names = self._bucket.names("studies")
        return [name.removesuffix(".json") for name in names if name.endswith(".json")]

    def study(self, stem: str) -> dict[str, Any]:
        """The record of a study."""
        return self._document(f"studies/{stem}.json", shapes.STUDY)

    def study_runs(self, stem: str) -> pl.DataFrame:
        """The runs of a study in their order, whether or not they are there."""
        import polars as pl

        name = f"studies/{stem}.parquet"
        place = f"{self}/{name}"
        try:
            with damage_of(place):
                return pl.read_parquet(BytesIO(self._bucket.get(name)))
        except FileNotFoundError:
            raise StoreError.at(place, "no table", MEND) from None
        except StoreError as error:
            raise StoreError.at(place, error.found, MEND) from None

    def drop_study(self, stem: str) -> None:
        """Removes the record and the table of a study; its runs stay."""
        self._bucket.remove([f"studies/{stem}.json", f"studies/{stem}.parquet"])

    def _document(self, name: str, shape: shapes.Shape) -> dict[str, Any]:
        """The object of JSON with a name; raises StoreError if it hasn't its shape."""
        place = f"{self}/{name}"
        try:
            document = json.loads(self._bucket.get(name, MOST))
        except (OSError, ValueError, RecursionError) as error:
            raise StoreError.at(place, f"an unreadable object ({error})", MEND) from None
        check_shape(document, shape, place, MEND)
        return cast("dict[str, Any]", document)


def create(url: str) -> ObjectStore:
    """The store below a URL, made if there is none."""
    if is_there(url):
        return open_there(url)
    bucket = Bucket(url)
    _write_mark(bucket)
    return ObjectStore(bucket)


def open_there(url: str) -> ObjectStore:
    """The store below a URL; raises StoreError if there is none."""
    if not is_there(url):
        raise StoreError.at(url, f"no {MARK} there", "the URL of a sweep's results")
    bucket = Bucket(url)
    if _format_of(bucket) != FORMAT:
        raise StoreError.at(url, "a store of another version of narrows", "a fresh sweep")
    return ObjectStore(bucket)


def mend_mark(url: str, remove: bool) -> str | None:
    """Returns what is wrong with the object that names a store's format; with `remove` mends it."""
    bucket = Bucket(url)
    if not is_there(url) or not PartObjects(bucket).names():
        return None
    try:
        _format_of(bucket)
    except StoreError as error:
        if remove:
            _write_mark(bucket)
        return error.found
    return None


def _write_mark(bucket: Bucket) -> None:
    bucket.put(MARK, _json({"format": FORMAT}))


def _format_of(bucket: Bucket) -> object:
    try:
        document = json.loads(bucket.get(MARK, MOST))
    except (OSError, ValueError, RecursionError) as error:
        place, remedy = f"{bucket.url}/{MARK}", "`narrows store check --remove`"
        raise StoreError.at(place, f"an unreadable object ({error})", remedy) from None
    return document.get("format") if isinstance(document, dict) else None


def is_there(url: str) -> bool:
    """Whether a store is below a URL; raises StoreError if there is no answer."""
    bucket = Bucket(url)
    try:
        return bucket.has(MARK)
    except Exception as error:
        reason = str(error).splitlines()[0]
        remedy = "a URL that can be reached, and the right to use it"
        raise StoreError.at(url, f"an answer that says no ({reason})", remedy) from None


def _json(document: Mapping[str, Any]) -> bytes:
    return (json.dumps(document, indent=1) + "\n").encode()
