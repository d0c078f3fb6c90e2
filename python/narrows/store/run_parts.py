"""The parts of a store and the runs in them.

A run is complete or absent: its part appears at once. Several processes may share a store: each
writes its own parts. Small parts are later merged into one that names the parts it replaces.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from narrows.errors import StoreError
from narrows.late import pl
from narrows.spec.scenario import Scenario
from narrows.store import shapes
from narrows.store.intact import OWN, digest_of, digest_of_stream
from narrows.store.medium import MEND, StoreFiles
from narrows.store.parquet import SUFFIX, check_rows, damage_of
from narrows.store.parts import (
    AS_JSON,
    FILE,
    INFO,
    LINE,
    PARTS,
    RUNS,
    FinishedRun,
    write_line,
    write_merged,
    write_part,
)
from narrows.store.read import most_samples
from narrows.store.shapes import check_shape

SMALL, LARGE = 8 << 20, 16 << 20
"""Parts of fewer bytes than the first are merged, up to the second."""
_MOST_LINE = 1 << 24
_KEY = re.compile("[0-9a-f]{32}")
_TRIES = 100
_WAIT_S = 60.0
"""A process that removes runs waits this long for one that merges parts."""
_CACHED, _FRAMES = 1 << 20, 8
"""Tables in files of at most `_CACHED` bytes stay in memory, `_FRAMES` of them at most."""

Read = TypeVar("Read")


@dataclass(frozen=True)
class StoredPart:
    """A part: its line of the manifest and the hashes of its runs."""

    line: Mapping[str, Any]
    keys: tuple[str, ...]

    @cached_property
    def bytes(self) -> int:
        """The bytes of its tables."""
        return sum(int(file["bytes"]) for file in self.line["files"].values())


class RunParts:
    """Runs by hash. Several processes may add parts; only one at a time merges or removes them."""

    def __init__(self, files: StoreFiles) -> None:
        self.files = files
        self._lock = threading.RLock()
        self._parts: dict[str, StoredPart] = {}
        self._where: dict[str, str] = {}
        self._version: int | None = None
        self._names: list[str] = []
        self._opened: dict[str, StoredPart] = {}
        self._stale: list[str] = []
        self._frames: dict[tuple[str, str], pl.DataFrame] = {}

    def __str__(self) -> str:
        return str(self.files)

    def __contains__(self, key: str) -> bool:
        with self._lock:
            return key in self._current()

    def keys(self) -> set[str]:
        """Returns the hashes of all runs."""
        with self._lock:
            return set(self._current())

    def parts(self) -> list[str]:
        """Returns the names of the parts that hold runs."""
        with self._lock:
            self._current()
            return sorted(self._parts)

    def info(self, key: str) -> dict[str, Any]:
        """Returns the record of a run: the engine, the digest, the cost."""
        row = self._row(key, ["run", "trial", "seed", *INFO, *AS_JSON])
        document = {**row, **{name: self._json(row[name], key) for name in AS_JSON}}
        check_shape(document, shapes.RUN, self.place_of(key), MEND)
        return document

    def scenario(self, key: str) -> Scenario:
        """Returns the complete scenario of the run."""
        document = self._json(self._row(key, ["run", "scenario"])["scenario"], key)
        check_shape(document, shapes.SCENARIO, self.place_of(key), MEND)
        return cast("Scenario", document)

    def tables_of(self, key: str) -> set[str]:
        """Returns the names of the tables of a run."""
        return set(self._columns(key))

    def schema(self, key: str, name: str) -> Mapping[str, pl.DataType]:
        """Returns the columns of a table that the run has."""
        table = self.table(key, name)
        if table is None:
            raise KeyError(name)
        return table.schema

    def table(self, key: str, name: str) -> pl.DataFrame | None:
        """Returns a table of a run; None if the run lacks it."""
        columns = self._columns(key).get(name)
        if columns is None:
            return None
        return self._read(lambda: self._rows_of(key, name, columns))

    def rows(self, name: str, columns: Collection[str] | None = None) -> pl.DataFrame:
        """Returns a table of all runs ("runs", "summary" or "flows"), with the column `run`.

        With `columns` it has only those of them that there are.
        """
        return self._read(lambda: self._all_rows(name, columns))

    def columns(self, name: str) -> Mapping[str, pl.DataType]:
        """Returns the columns of a table of all runs."""
        return self._read(lambda: self._all_columns(name))

    def add_part(self, entries: Sequence[FinishedRun]) -> None:
        """Adds runs as a part that appears at once; one with a long table is a part by itself."""
        alone = [entry for entry in entries if entry.spilled_tables()]
        others = [entry for entry in entries if not entry.spilled_tables()]
        for group in (others, *([entry] for entry in alone)):
            if group:
                with self.files.new_directory() as directory:
                    write_part(directory, group)
                    self.files.publish(directory)

    def discard(self, *keys: str) -> None:
        """Removes runs: their parts are written again without them."""
        with self.files.merging(_WAIT_S) as alone:
            if not alone:
                raise StoreError.at(str(self), "a process that merges runs", "another try")
            self._read(lambda: self._discard(frozenset(keys)))

    def merge(self, least: int) -> None:
        """Merges small parts if there are more than `least`, unless another process does."""
        if len(self._small()) <= least:
            return
        with self.files.merging() as alone:
            if alone:
                self._read(self._merge)

    def damaged_parts(self) -> Iterator[tuple[str, str]]:
        """Yields the parts that can't be read or have changed, each with the problem."""
        for name in self.files.parts():
            wrong = self._wrong_in(name)
            if wrong is not None:
                yield name, wrong

    def drop_parts(self, names: Iterable[str]) -> None:
        """Removes parts with their runs."""
        self.files.remove_parts(names)

    def link_parts(self, folder: Path) -> None:
        """Links the files of the current parts into a folder on the same disk."""
        self._read(lambda: self._link_parts(folder))

    # The remaining methods take the lock, or are called with it.

    def _link_parts(self, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        for name, part in self._parts.items():
            (folder / name).mkdir(parents=True)
            for file in (*part.line["files"], LINE):
                os.link(self.files.place(_file(name, file)), folder / name / file)

    def _current(self) -> dict[str, str]:
        """Returns the part of each run, brought up to date."""
        for _ in range(_TRIES):
            version = self.files.version()
            if version is not None and version == self._version:
                return self._where
            try:
                self._list()
                self._version = version
            except FileNotFoundError:  # another process merged parts meanwhile
                continue
            return self._where
        raise self._lacking()

    def _lacking(self) -> StoreError:
        return StoreError.at(str(self), "a part without all of its files", MEND)

    def _list(self) -> None:
        """Reads new parts; forgets those that are gone or replaced."""
        names = self.files.parts()
        if names == self._names:
            return
        known = {name: self._opened.get(name) or self._open(name) for name in names}
        added = [name for name in names if name not in self._opened]
        grown = len(names) == len(self._opened) + len(added)
        self._names, self._opened = names, known
        replaced = {old for part in known.values() for old in part.line["replaces"]}
        self._stale = [name for name in names if name in replaced]
        self._parts = {name: part for name, part in known.items() if name not in replaced}
        if not grown or self._stale:
            self._where, added = {}, names
        for name in added:
            for key in self._parts[name].keys if name in self._parts else ():
                self._where.setdefault(key, name)

    def _open(self, name: str) -> StoredPart:
        line = self._line(name)
        keys = self._frame(name, RUNS, ["run"])["run"].to_list()
        place = self.files.place(_file(name, f"{RUNS}{SUFFIX}"))
        if not all(isinstance(key, str) and _KEY.fullmatch(key) for key in keys):
            raise StoreError.at(str(place), "runs without a hash", f"a table of narrows ({MEND})")
        return StoredPart(line, tuple(keys))

    def _line(self, name: str) -> dict[str, Any]:
        place = self.files.place(_file(name, LINE))
        try:
            with self.files.open(_file(name, LINE)) as file:
                document = json.loads(file.read(_MOST_LINE))
        except FileNotFoundError:
            raise
        except (OSError, ValueError, RecursionError) as error:
            raise StoreError.at(str(place), f"an unreadable file ({error})", MEND) from None
        check_shape(document, shapes.PART, place, MEND)
        rest = {key: value for key, value in document.items() if key != OWN}
        if document[OWN] != digest_of(rest):
            raise StoreError.at(str(place), "other content than was written", MEND)
        for file in document["files"]:
            if not FILE.fullmatch(file):
                raise StoreError.at(f"{place}: files", f"{file!r}", f"names of tables ({MEND})")
        if f"{RUNS}{SUFFIX}" not in document["files"]:
            raise StoreError.at(f"{place}: files", f"no {RUNS}{SUFFIX}", MEND)
        return cast("dict[str, Any]", document)

    def _read(self, read: Callable[[], Read]) -> Read:
        """Reads something, again if another process merges parts meanwhile."""
        with self._lock:
            for _ in range(_TRIES):
                self._current()
                try:
                    return read()
                except FileNotFoundError:
                    if self.files.parts() == self._names:
                        break
                    self._list()
        raise self._lacking()

    def place_of(self, key: str) -> Path:
        """Returns the file of a run's record, for messages."""
        return self.files.place(_file(self._where.get(key, "part"), f"{RUNS}{SUFFIX}"))

    def _json(self, text: object, key: str) -> Any:  # noqa: ANN401 (any JSON)
        try:
            return json.loads(str(text))
        except (ValueError, RecursionError) as error:
            found = f"a run whose record can't be read ({error})"
            raise StoreError.at(str(self.place_of(key)), found, MEND) from None

    def _row(self, key: str, columns: list[str]) -> dict[str, Any]:
        frame = self._read(lambda: self._rows_of(key, RUNS, columns))
        row = next(frame.iter_rows(named=True), None)
        if row is None:
            raise StoreError.at(str(self), f"no run {key}", "the hash of a stored run")
        return row

    def _columns(self, key: str) -> dict[str, list[str]]:
        document = self._json(self._row(key, ["run", "columns"])["columns"], key)
        check_shape(document, shapes.Each([str]), self.place_of(key), MEND)
        return cast("dict[str, list[str]]", document)

    def _rows_of(self, key: str, name: str, columns: list[str]) -> pl.DataFrame:
        """Returns the rows of a run in a table; with `run` only if it is among the columns."""
        part = self._where.get(key)
        if part is None:
            raise StoreError.at(str(self), f"no run {key}", "the hash of a stored run")
        frame = self._frames.get((part, name))
        mine = pl.col("run") == key
        if frame is None:
            frame = self._frame(part, name, list(dict.fromkeys(["run", *columns])), mine)
        with damage_of(str(self.files.place(_file(part, f"{name}{SUFFIX}")))):
            return frame.filter(mine).select(columns)

    def _frame(
        self, part: str, name: str, columns: list[str] | None, only: pl.Expr | None = None
    ) -> pl.DataFrame:
        """Returns a table of a part; a small one is kept for the next reader."""
        place = self.files.place(_file(part, f"{name}{SUFFIX}"))
        with damage_of(str(place)), self.files.open(_file(part, f"{name}{SUFFIX}")) as file:
            size = file.seek(0, 2)
            file.seek(0)
            check_rows(place, file, size, lambda: self._most_rows(part, name))
            file.seek(0)
            if only is not None and size <= _CACHED:
                while len(self._frames) >= _FRAMES:
                    del self._frames[next(iter(self._frames))]
                return self._frames.setdefault((part, name), pl.read_parquet(file))
            whole = pl.scan_parquet(file)
            whole = whole if columns is None else whole.select(columns)
            return (whole if only is None else whole.filter(only)).collect()

    def _most_rows(self, part: str, name: str) -> int:
        """Returns the most rows that the runs of a part can give a table."""
        if name == RUNS:
            return 0
        place = self.files.place(_file(part, f"{RUNS}{SUFFIX}"))
        most = 0
        for key, text in self._frame(part, RUNS, ["run", "scenario"]).iter_rows():
            scenario = self._json(text, key)
            check_shape(scenario, shapes.SCENARIO, place, MEND)
            most += most_samples(scenario)
        return most

    def _all_rows(self, name: str, columns: Collection[str] | None) -> pl.DataFrame:
        found = []
        for part in self._having(name):
            known = self._columns_in(part, name)
            wanted = [one for one in known if columns is None or one == "run" or one in columns]
            found.append(self._own_rows(part, self._frame(part, name, wanted)))
        return pl.concat(found, how="diagonal") if found else pl.DataFrame(schema={"run": str})

    def _all_columns(self, name: str) -> Mapping[str, pl.DataType]:
        found = [pl.DataFrame(schema=self._columns_in(part, name)) for part in self._having(name)]
        return pl.concat(found, how="diagonal").schema if found else {"run": pl.String()}

    def _having(self, name: str) -> list[str]:
        """Returns the parts with a table."""
        return [n for n, part in self._parts.items() if f"{name}{SUFFIX}" in part.line["files"]]

    def _columns_in(self, part: str, name: str) -> dict[str, pl.DataType]:
        """Returns the columns of a table in a part; of "runs" those on how a run went."""
        file = _file(part, f"{name}{SUFFIX}")
        with damage_of(str(self.files.place(file))), self.files.open(file) as stream:
            known = pl.scan_parquet(stream).collect_schema()
            return {one: known[one] for one in (("run", *INFO) if name == RUNS else known)}

    def _own_rows(
        self, part: str, frame: pl.DataFrame, without: frozenset[str] = frozenset()
    ) -> Any:  # noqa: ANN401
        """Returns the rows of the runs that a part is responsible for.

        Another part may hold some of its runs, too.
        """
        here = self._own_keys(part, without)
        whole = len(here) == len(self._parts[part].keys)
        return frame if whole else frame.filter(pl.col("run").is_in(here))

    def _own_keys(self, part: str, without: frozenset[str] = frozenset()) -> list[str]:
        """Returns the runs that a part is responsible for."""
        keys = self._parts[part].keys
        return [key for key in keys if self._where[key] == part and key not in without]

    def _discard(self, keys: frozenset[str]) -> None:
        for name, part in list(self._parts.items()):
            if keys.isdisjoint(part.keys):
                continue
            if not keys.issuperset(part.keys):
                self._write([name], keys)
            self.files.remove_parts([name])
        self._list()

    def _small(self) -> list[str]:
        with self._lock:
            self._current()
            return sorted(name for name, part in self._parts.items() if part.bytes < SMALL)

    def _merge(self) -> None:
        """Merges small parts, first those with few bytes; removes what was merged before."""
        self.files.remove_parts(self._stale)
        group: list[str] = []
        for name in self._small():
            if sum(self._parts[one].bytes for one in (*group, name)) > LARGE:
                self._merge_group(group)
                group = []
            group.append(name)
        self._merge_group(group)
        self._list()

    def _merge_group(self, group: Sequence[str]) -> None:
        if len(group) > 1:
            self._write(group)
            self.files.remove_parts(group)

    def _write(self, group: Sequence[str], without: frozenset[str] = frozenset()) -> None:
        """Writes the runs of some parts as one that replaces them."""
        files = dict.fromkeys(file for name in group for file in self._parts[name].line["files"])
        runs = sum(len(self._own_keys(name, without)) for name in group)
        if not runs:
            return
        with self.files.new_directory() as directory:
            for file in files:
                having = [name for name in group if file in self._parts[name].line["files"]]
                write_merged(
                    directory / file,
                    [
                        self._own_rows(
                            name, self._frame(name, file.removesuffix(SUFFIX), None), without
                        )
                        for name in having
                    ],
                )
            write_line(directory, runs, group)
            self.files.publish(directory)

    def _wrong_in(self, name: str) -> str | None:
        """Returns the problem of a part; None if it is intact."""
        file = LINE
        try:
            line = self._line(name)
            for file, entry in line["files"].items():
                with self.files.open(_file(name, file)) as stream:
                    if digest_of_stream(stream) != entry["digest"]:
                        return f"{file} has changed"
            self._open(name)
        except StoreError as error:
            return f"{Path(error.place).name}: {error.problems[0].found}"
        except FileNotFoundError:
            return f"{file} is missing" if name in self.files.parts() else None
        except OSError as error:
            return str(error.strerror)
        return None


def _file(part: str, name: str) -> str:
    return f"{PARTS}/{part}/{name}"
