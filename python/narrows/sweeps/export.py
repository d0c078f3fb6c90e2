"""Exports everything in a results directory as one table, its rows in a fixed order.

Every row says where it comes from: `study`, `cell` (the combination's number), `trial`, `seed`,
`run` (the hash), and the value of every axis. Rows are sorted by study, combination and trial, and
keep their order within a run. Values that a run lacks are empty. In addition to the runs' tables
there is `runs`, with the cost of each run and the digest of its results.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from narrows.columns import empty
from narrows.errors import InputError
from narrows.late import pl
from narrows.metrics.completions import transfers
from narrows.metrics.tables import summary_tables
from narrows.spec.suggest import one_of
from narrows.store import Place, Store, is_store, location, open_result, open_store
from narrows.store.atomic import writing
from narrows.store.cells import harmless_frame
from narrows.store.maintenance import classes
from narrows.store.owned import owned_file
from narrows.store.parquet import parquet_bytes
from narrows.store.parts import DERIVED, INFO, RUNS

if TYPE_CHECKING:
    Kinds = dict[str, pl.DataType]

FORMATS = ("csv", "parquet", "json")
TRANSFERS, COMPLETIONS = "transfers", "completions"
"""The table made from the completions of a run: each transfer with its class and slowdown."""
_OF_ALL_RUNS = (RUNS, *DERIVED)
"""The tables that are read for all runs at once."""
_CHUNK = 256
"""The number of runs in memory at once."""


@dataclass(frozen=True)
class _Part:
    """A run's part of a table: its first columns, and a function for the others."""

    first: pl.DataFrame
    schema: Mapping[str, pl.DataType]
    read: Callable[[], pl.DataFrame | None]


def export(path: Place, table: str, form: str, stream: BinaryIO) -> int:
    """Writes `table` of the sweep or result at `path` to `stream`; returns the number of rows.

    Raises InputError if there is no such directory, table or format.
    """
    if form not in FORMATS:
        raise InputError.at("--format", f'"{form}", which is not a format', one_of(form, FORMATS))
    writers = {"csv": _write_csv, "json": _write_json, "parquet": _write_parquet}
    return writers[form](_chunks(path, table), stream)


def export_file(path: Place, table: str, form: str, file: Path) -> int:
    """Like `export`, into a file that appears complete or not at all."""
    remedy = "a file that can be written (--out FILE)"
    with writing(file, remedy), owned_file(file, follow=True) as work, work.open("wb") as stream:
        return export(path, table, form, stream)


def frame(path: Place, table: str) -> pl.DataFrame:
    """Returns `table` of the sweep or result at `path`, whole.

    Raises InputError as `export` does.
    """
    return pl.concat(_chunks(path, table))


def _chunks(path: Place, table: str) -> Iterator[pl.DataFrame]:
    """Yields the table piece by piece, every piece with all columns."""
    if not is_store(path):
        return _fitting(list(_single(location(path), table)))
    store = open_store(path)
    if not store.study_stems() and store.keys():
        found = "runs of no study, such as those of a comparison or an evaluation"
        raise InputError.at(str(path), found, "the results of `narrows run`")
    if table in _OF_ALL_RUNS:
        studies = [store.study_runs(stem) for stem in store.study_stems()]
        return TableOfRuns(store, table, studies).read()
    return _fitting(list(_series(store, table)))


class TableOfRuns:
    """A table that is read for all runs at once: "runs", "summary" or "flows".

    `studies` are the runs of all studies. `columns` are the table's own columns, with classes in
    the order of `_classes`. Raises InputError if no run has the table.
    """

    def __init__(self, store: Store, table: str, studies: Sequence[pl.DataFrame]) -> None:
        self._store, self._table, self._studies = store, table, studies
        known = store.columns(table)
        counts = [name for name in known if name.endswith(".flows")]
        whole = list(self._join(self._studies, ("run", *counts)))
        if not any(part.height for part in whole):
            runs = any(part.height for part in self._studies) and store.keys()
            _refuse(table, {*_OF_ALL_RUNS} if runs else {RUNS})
        self.columns = [
            name
            for name in _in_order(known, table, _classes(store, whole))
            if "." not in name or any(_has(part, name) for part in whole)
        ]
        self._kinds = _union(runs.schema for runs in studies)
        self._kinds |= {name: known[name] for name in self.columns}

    def read(
        self, columns: Collection[str] | None = None, study: str | None = None
    ) -> Iterator[pl.DataFrame]:
        """Yields the rows of each study, or of one, perhaps with some of all columns."""
        kinds = {n: k for n, k in self._kinds.items() if columns is None or n in columns}
        mine = [one for one in self._studies if study is None or study in one["study"].head(1)]
        return (_fit(part, kinds) for part in self._join(mine, kinds))

    def _join(
        self, studies: Sequence[pl.DataFrame], columns: Collection[str]
    ) -> Iterator[pl.DataFrame]:
        rows = self._store.rows(self._table, columns)
        for runs in studies:
            first = runs.select(name for name in runs.columns if name == "run" or name in columns)
            yield first.join(rows, on="run", how="inner", maintain_order="left_right")


def _in_order(known: Iterable[str], table: str, groups: Sequence[str]) -> list[str]:
    """Returns a table's columns: those of all flows, those of classes, the last of a summary."""
    plain: list[str] = []
    classes: list[str] = []
    for name in known:
        (classes if "." in name else plain).append(name)
    last = [name for name in ("packets", "invalid") if name in plain and table == "summary"]
    places = {group: place for place, group in enumerate(groups)}
    classes.sort(key=lambda name: places.get(name.rpartition(".")[0], len(places)))
    return [name for name in plain if name not in (*last, "run")] + classes + last


def _has(part: pl.DataFrame, name: str) -> bool:
    """Returns True if the class that a column belongs to is in a study."""
    flows = f"{name.rpartition('.')[0]}.flows"
    return flows in part.columns and part[flows].null_count() < part.height


def _classes(store: Store, studies: Iterable[pl.DataFrame]) -> list[str]:
    """Returns the classes of the first run's specification, then those that later runs add."""
    found: dict[str, None] = {}
    for runs in studies:
        counts = (column for column in runs if column.name.endswith(".flows"))
        begins = {int(rows[0]) for one in counts if len(rows := one.is_not_null().arg_true())}
        for row in sorted(begins):
            flows = store.table(runs["run"][row], "flows")
            found |= dict.fromkeys([] if flows is None else flows["class"].to_list())
    return list(found)


def _series(store: Store, table: str) -> Iterator[_Part]:
    """Yields the parts of any other table, run by run."""
    present, tables = store.keys(), {RUNS}
    count = 0
    for stem in store.studies():
        runs = store.study_runs(stem).filter(pl.col("run").is_in(sorted(present)))
        for index, key in enumerate(runs["run"]):
            names = store.tables_of(key)
            names |= {TRANSFERS} if COMPLETIONS in names else set()
            tables |= names
            if table in names:
                count += 1
                first = runs.slice(index, 1)
                if table == TRANSFERS:
                    yield _Part(first, _schema_of_transfers(), partial(_transfers, store, key))
                    continue
                schema = store.schema(key, table)
                yield _Part(first, schema, partial(store.table, key, table))
    if not count:
        _refuse(table, tables)


def _schema_of_transfers() -> Mapping[str, pl.DataType]:
    """Returns the columns of the transfers of any run."""
    none: Any = {"flows": [], "run": {"warmup_ns": 0}, "path": {}}
    return transfers(none, empty(COMPLETIONS)).frame().schema


def _transfers(store: Store, key: str) -> pl.DataFrame | None:
    """Returns the transfers of a stored run, with the classes of its table `flows`."""
    scenario = store.scenario(key)
    done, flows = store.table(key, COMPLETIONS), store.table(key, "flows")
    if done is None or flows is None:
        return None
    return transfers(scenario, done, classes(scenario, flows)).frame()


def _single(path: Place, table: str) -> Iterator[_Part]:
    """Yields the trials of a result of `narrows run`."""
    result = open_result(Path(path))
    tables: set[str] = set()
    count = 0
    for trial, entry in zip(result.trials, result.summary["runs"], strict=True):
        made = {RUNS: _info(vars(trial.info)), **summary_tables(entry, result.groups)}
        if table == TRANSFERS and COMPLETIONS in trial.tables:
            done = transfers(trial.scenario, trial.tables[COMPLETIONS], result.groups)
            made[TRANSFERS] = done.frame()
        tables.update(made, trial.tables)
        place = {"study": result.name, "cell": 1, "trial": trial.number, "seed": entry["seed"]}
        first = pl.DataFrame([place], schema_overrides={"seed": pl.UInt64()})
        if table in made:
            yield _Part(first, made[table].schema, partial(made.__getitem__, table))
        elif table in trial.tables:
            read = partial(trial.tables.__getitem__, table)
            yield _Part(first, trial.tables[table].schema, read)
        else:
            continue
        count += 1
    if not count:
        _refuse(table, tables)


def _refuse(table: str, known: set[str]) -> None:
    if known == {RUNS} and table in _OF_ALL_RUNS:
        raise InputError.at("DIR", "a store without a complete run", "`narrows run` first")
    raise InputError.at("TABLE", f'"{table}", which no run has', one_of(table, sorted(known)))


def _info(values: Mapping[str, Any]) -> pl.DataFrame:
    kinds = {"packets": pl.Int64(), "invalid": pl.String()}
    kinds |= {name: pl.Float64() for name in ("end_s", "cpu_s", "wall_s")}
    row = {name: values[name] for name in INFO if name in values}
    return pl.DataFrame([row], schema_overrides=kinds)


def _union(schemas: Iterable[Mapping[str, pl.DataType]]) -> Kinds:
    """Returns all columns; a column with different types becomes text."""
    known: Kinds = {}
    for schema in schemas:
        for name, kind in schema.items():
            if known.setdefault(name, kind) != kind:
                known[name] = pl.String()
    return known


def _fitting(parts: list[_Part]) -> Iterator[pl.DataFrame]:
    """Combines parts with different columns into one table, some at a time."""
    first = _union(part.first.schema for part in parts)
    kinds = {**first, **_union(part.schema for part in parts)}
    waiting = iter(parts)
    while chunk := list(islice(waiting, _CHUNK)):
        whole = [(part.first, part.read()) for part in chunk]
        yield pl.concat(
            _fit(first.join(rest, how="cross"), kinds) for first, rest in whole if rest is not None
        )


def _fit(frame: pl.DataFrame, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Returns the frame with exactly these columns."""
    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in columns.items()
    )


def _write_csv(chunks: Iterator[pl.DataFrame], stream: BinaryIO) -> int:
    count = 0
    for index, chunk in enumerate(chunks):
        stream.write(harmless_frame(chunk).write_csv(include_header=index == 0).encode())
        count += chunk.height
    return count


def _write_json(chunks: Iterator[pl.DataFrame], stream: BinaryIO) -> int:
    """Writes an array of objects, one on each line."""
    count = 0
    stream.write(b"[")
    for chunk in chunks:
        for line in chunk.write_ndjson().splitlines():
            stream.write((",\n" if count else "\n").encode() + line.encode())
            count += 1
    stream.write(b"\n]\n")
    return count


def _write_parquet(chunks: Iterator[pl.DataFrame], stream: BinaryIO) -> int:
    whole = pl.concat(chunks)
    stream.write(parquet_bytes(whole))
    return whole.height
