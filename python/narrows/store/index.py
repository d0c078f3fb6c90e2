"""The index keeps the most-used tables of all runs together, instead of in 100,000 files.

It holds the tables `runs` (the contents of `run.json`), `summary` and `flows` of stored runs, in
parts. A sweep adds a part for its runs; a reader adds one for missing runs. So nothing depends on
the index: it may be removed at any time, and old stores get one on first use. Parts appear complete
and never change. Two processes may add the same run; the part whose name comes first counts, and
the contents are the same.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from narrows.errors import StoreError

if TYPE_CHECKING:
    import polars as pl

    from narrows.store.protocol import Store

RUNS = "runs"
TABLES = (RUNS, "summary", "flows")
"""The tables in the index."""
PART = 2000
"""Runs that are read at once to be indexed."""
_FEW = 50
"""Entries that become one frame."""
_TRIES = 100
MOST_PARTS = 64
"""More parts than this are merged into one."""
INFO = ("backend", "engine", "digest", "end_s", "packets", "cpu_s", "wall_s", "created", "invalid")
"""The columns of the table `runs`."""

Frames = dict[str, "pl.DataFrame"]
Read = TypeVar("Read")


class Index:
    """The index of a store, brought up to date when it is opened."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._unwritten: list[Frames] = []
        self._parts_with_runs = dict(_parts_with_runs(store))
        self._refresh()

    def table(self, name: str) -> pl.DataFrame:
        """A table of all indexed runs, with the column `run`; it may contain removed runs."""
        parts = []
        for part, (keys, shared) in self._parts_with_runs.items():
            frame = self._store.part(part, name)
            parts.append(_only(frame, keys) if shared else frame)
        return _join([*parts, *(part[name] for part in self._unwritten)])

    def _refresh(self) -> None:
        """Indexes the runs missing from all parts."""
        known = {key for keys, _ in self._parts_with_runs.values() for key in keys}
        missing = iter(sorted(self._store.keys() - known))
        found = False
        while chunk := list(islice(missing, PART)):
            part = read_runs(self._store, chunk)
            if not _add_part(self._store, part):
                self._unwritten.append(part)
                continue
            found = True
        if found:
            self._parts_with_runs = dict(_parts_with_runs(self._store))
        if len(self._parts_with_runs) > MOST_PARTS and not self._unwritten:
            self._merge()

    def _merge(self) -> None:
        old = list(self._parts_with_runs)
        self._store.add_part({name: self.table(name) for name in TABLES})
        self._store.drop_parts(old)
        self._parts_with_runs = dict(_parts_with_runs(self._store))


def open_index(store: Store) -> Index:
    """The complete index."""
    return _read_again(store, lambda: Index(store))


def rows(store: Store, name: str) -> pl.DataFrame:
    """The rows of `name` ("runs", "summary" or "flows") of all stored runs, by the column `run`."""
    return _read_again(store, lambda: Index(store).table(name))


def _read_again(store: Store, read: Callable[[], Read]) -> Read:
    """Reads the index, again if another process merges parts or if damaged parts were removed."""
    for _ in range(_TRIES):
        try:
            return read()
        except FileNotFoundError:
            drop_damaged(store)
        except StoreError:
            if not drop_damaged(store):
                raise
    raise StoreError.at(f"{store}/index", "parts that can't be read", "a store without this folder")


class Entry(NamedTuple):
    """A run in the index: its `run.json`, and its tables `summary` and `flows`."""

    key: str
    info: Mapping[str, Any]
    tables: Mapping[str, pl.DataFrame]


def together(entries: Iterable[Entry]) -> Frames:
    """The entries of several runs as one part: a frame is made once, not for every run."""
    import polars as pl

    kept = list(entries)
    made = {RUNS: _runs(kept)}
    for name in TABLES:
        if name != RUNS:
            parts = [(entry.key, entry.tables[name]) for entry in kept if name in entry.tables]
            keys = [key for key, frame in parts for _ in range(frame.height)]
            whole = [frame for _, frame in parts if frame.width]
            frame = pl.concat(whole, how="diagonal") if whole else pl.DataFrame()
            made[name] = frame.insert_column(0, pl.Series("run", keys, pl.String()))
    return made


class Gathered:
    """Entries for a part. Few stay frames of their own: one of a single row takes 20 kB."""

    def __init__(self) -> None:
        self._few: list[Entry] = []
        self._frames: list[Frames] = []
        self.count = 0

    def add(self, entry: Entry) -> None:
        """Adds the entry of a run."""
        self._few.append(entry)
        self.count += 1
        if len(self._few) == _FEW:
            self._put_together()

    def part(self) -> Frames:
        """All entries as one part."""
        self._put_together()
        return {name: _join([frames[name] for frames in self._frames]) for name in TABLES}

    def _put_together(self) -> None:
        if self._few:
            self._frames.append(together(self._few))
            self._few = []


def _runs(entries: Iterable[Entry]) -> pl.DataFrame:
    import polars as pl

    kinds = {"end_s": pl.Float64(), "cpu_s": pl.Float64(), "wall_s": pl.Float64()}
    schema = {name: kinds.get(name, pl.String()) for name in INFO} | {"packets": pl.Int64()}
    rows = [[entry.key, *(entry.info.get(name) for name in INFO)] for entry in entries]
    return pl.DataFrame(rows, schema={"run": pl.String(), **schema}, orient="row")


def forget(store: Store, keys: Collection[str]) -> None:
    """Removes runs from the index that were removed or will be repeated."""
    gone = set(keys)
    for part, (here, _) in _parts_with_runs(store):
        if gone & here:
            rest = {name: _only(store.part(part, name), here - gone) for name in TABLES}
            if here - gone:
                store.add_part(rest)
            store.drop_parts([part])


def _add_part(store: Store, part: Frames) -> bool:
    """Adds a part; returns False if the store can only be read."""
    try:
        store.add_part(part)
    except OSError as error:
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            return False
        raise
    return True


def drop_damaged(store: Store, remove: bool = True) -> list[str]:
    """Removes the parts that can't be read, which the next reader makes again; returns them."""
    gone = [part for part in store.parts() if not _is_readable(store, part)]
    if remove:
        store.drop_parts(gone)
    return gone


def _is_readable(store: Store, part: str) -> bool:
    try:
        for name in TABLES:
            store.part(part, name)
    except (StoreError, NotADirectoryError):
        return False
    except FileNotFoundError:  # another process merges, or a table is missing
        return part not in store.parts()
    return True


def _parts_with_runs(store: Store) -> Iterator[tuple[str, tuple[set[str], bool]]]:
    """Every part with the runs for which it counts, and whether it contains others."""
    seen: set[str] = set()
    for part in store.parts():
        here = set(store.part(part, RUNS, ["run"])["run"].to_list())
        own = here - seen
        seen |= own
        yield part, (own, len(own) < len(here))


def read_runs(store: Store, keys: Iterable[str]) -> Frames:
    """The tables of the index, read from the runs themselves."""
    found = []
    for key in keys:
        try:
            info = store.info(key)
            tables = {name: store.table(key, name) for name in TABLES if name != RUNS}
        except (OSError, StoreError):
            if key in store:
                raise
            continue  # discarded meanwhile
        found.append(Entry(key, info, {n: t for n, t in tables.items() if t is not None}))
    return together(found)


def _only(frame: pl.DataFrame, keys: Collection[str]) -> pl.DataFrame:
    import polars as pl

    if "run" not in frame.columns:
        return frame
    return frame.filter(pl.col("run").is_in(sorted(keys)))


def _join(frames: list[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    whole = [frame for frame in frames if frame.width]
    return pl.concat(whole, how="diagonal") if whole else pl.DataFrame(schema={"run": pl.String()})
