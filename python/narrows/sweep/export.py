"""One table of everything in a results directory, its rows in a fixed order.

Every row says where it comes from: `study`, `cell` (the combination's number),
`trial`, `seed`, `run` (the hash), and the value of every axis. Rows go by study,
combination, trial, and within a run as the run has them. What a run hasn't is
empty. Besides the tables of the runs there is `runs`: what each run cost, and
the digest of its results.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from narrows.errors import InputError
from narrows.spec.suggest import one_of
from narrows.store import RunStore, is_store, open_result, open_store, unwritable
from narrows.sweep.rows import summary_tables

if TYPE_CHECKING:
    import polars as pl

FORMATS = ("csv", "parquet", "json")
RUNS = "runs"
_CHUNK = 256
"""Runs that are in memory at once."""
_FILE = "file of the run"
"""A column that no table has; it goes again."""
_INFO = ("backend", "engine", "digest", "end_s", "packets", "cpu_s", "wall_s", "created")


@dataclass(frozen=True)
class _Source:
    """A run's part of the table: what is in the first columns, and where the others are.

    That is a file, or a frame where there is none.
    """

    first: pl.DataFrame
    schema: Mapping[str, pl.DataType]
    part: Path | pl.DataFrame


def export(path: str | Path, table: str, form: str, stream: BinaryIO) -> int:
    """Writes `table` of the sweep or result at `path` to `stream`; gives the number of rows.

    Raises InputError if there is no such directory, table or format.
    """
    if form not in FORMATS:
        raise InputError.at("--format", f'"{form}", which is no format', one_of(form, FORMATS))
    sources = list(_stored(open_store(path), table) if is_store(path) else _single(path, table))
    first: dict[str, pl.DataType] = {}
    columns: dict[str, pl.DataType] = {}
    for source in sources:
        _join(first, source.first.schema)
        _join(columns, source.schema)
    chunks = _chunks(sources, first, columns)
    writers = {"csv": _write_csv, "json": _write_json, "parquet": _write_parquet}
    return writers[form](chunks, stream)


def export_file(path: str | Path, table: str, form: str, file: Path) -> int:
    """As `export`, into a file that appears complete or not at all."""
    work = file.with_name(f".{file.name}.{secrets.token_hex(4)}.partial")
    try:
        try:
            with work.open("wb") as stream:
                rows = export(path, table, form, stream)
            work.replace(file)
        finally:
            work.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(error, file) from error
    return rows


def _join(known: dict[str, pl.DataType], more: Mapping[str, pl.DataType]) -> None:
    """Adds columns; one that studies hold in different types becomes a text."""
    import polars as pl

    for name, kind in more.items():
        if known.setdefault(name, kind) != kind:
            known[name] = pl.String()


def _stored(store: RunStore, table: str) -> Iterator[_Source]:
    """The complete runs of every study of a store."""
    import polars as pl

    present, tables = store.keys(), {RUNS}
    count = 0
    for stem in store.studies():
        runs = store.study_runs(stem).filter(pl.col("run").is_in(sorted(present)))
        for index, key in enumerate(runs["run"]):
            file = store.run_path(key) / f"{table}.parquet"
            first = runs.slice(index, 1)
            if table == RUNS:
                yield _of_frame(first, _info(store.info(key)))
            elif file.is_file():
                yield _of_file(first, file)
            else:
                tables.update(path.stem for path in store.run_path(key).glob("*.parquet"))
                continue
            count += 1
    if not count:
        _refuse(table, tables)


def _single(path: str | Path, table: str) -> Iterator[_Source]:
    """The trials of what `narrows run` left."""
    import polars as pl

    result = open_result(path)
    tables: set[str] = set()
    count = 0
    for trial, entry in zip(result.trials, result.summary["runs"], strict=True):
        made = {RUNS: _info(vars(trial.info)), **summary_tables(entry, result.groups)}
        tables.update(made, trial.tables)
        place = {"study": result.name, "cell": 1, "trial": trial.number, "seed": entry["seed"]}
        first = pl.DataFrame([place], schema_overrides={"seed": pl.UInt64()})
        if table in made:
            yield _of_frame(first, made[table])
        elif table in trial.tables:
            yield _of_file(first, trial.path / f"{table}.parquet")
        else:
            continue
        count += 1
    if not count:
        _refuse(table, tables)


def _refuse(table: str, known: set[str]) -> None:
    if known == {RUNS} and table == RUNS:
        raise InputError.at("DIR", "a store without a complete run", "`narrows sweep` first")
    raise InputError.at("TABLE", f'"{table}", which no run has', one_of(table, sorted(known)))


def _info(values: Mapping[str, Any]) -> pl.DataFrame:
    import polars as pl

    whole = {"packets": pl.Int64()}
    kinds = {
        name: whole.get(name, pl.Float64()) for name in ("end_s", "packets", "cpu_s", "wall_s")
    }
    row = {name: values[name] for name in _INFO if name in values}
    return pl.DataFrame([row], schema_overrides=kinds)


def _of_frame(first: pl.DataFrame, frame: pl.DataFrame) -> _Source:
    return _Source(first, frame.schema, frame)


def _of_file(first: pl.DataFrame, file: Path) -> _Source:
    import polars as pl

    schema = pl.scan_parquet(file, glob=False, hive_partitioning=False).collect_schema()
    return _Source(first, schema, file)


def _chunks(
    sources: Sequence[_Source],
    first: Mapping[str, pl.DataType],
    columns: Mapping[str, pl.DataType],
) -> Iterator[pl.DataFrame]:
    """The table piece by piece, every piece with all columns."""
    import polars as pl

    rest = iter(sources)
    while chunk := list(islice(rest, _CHUNK)):
        alike = groupby(chunk, lambda source: (type(source.part), list(source.schema.items())))
        parts = [_together(list(group)) for _, group in alike]
        yield pl.concat(_fitted(part, {**first, **columns}) for part in parts)


def _together(sources: Sequence[_Source]) -> pl.DataFrame:
    """Runs with the same columns; files are read at once, which is ten times faster."""
    import polars as pl

    places = pl.concat((source.first for source in sources), how="diagonal_relaxed")
    files = [source.part for source in sources if isinstance(source.part, Path)]
    if files:
        # A partition's name in the path is no column of the file.
        frame = pl.read_parquet(
            files, glob=False, hive_partitioning=False, include_file_paths=_FILE
        )
        names = [str(file) for file in files]
    else:
        names = [str(index) for index in range(len(sources))]
        frame = pl.concat(
            source.part.with_columns(pl.lit(name).alias(_FILE))
            for source, name in zip(sources, names, strict=True)
            if isinstance(source.part, pl.DataFrame)
        )
    places = places.with_columns(pl.Series(_FILE, names))
    return places.join(frame, on=_FILE, how="inner", maintain_order="left_right").drop(_FILE)


def _fitted(frame: pl.DataFrame, columns: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The frame with exactly these columns."""
    import polars as pl

    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(None)).cast(kind).alias(name)
        for name, kind in columns.items()
    )


def _write_csv(chunks: Iterator[pl.DataFrame], stream: BinaryIO) -> int:
    rows = 0
    for index, chunk in enumerate(chunks):
        stream.write(chunk.write_csv(include_header=index == 0).encode())
        rows += chunk.height
    return rows


def _write_json(chunks: Iterator[pl.DataFrame], stream: BinaryIO) -> int:
    """An array of objects, one on each line."""
    rows = 0
    stream.write(b"[")
    for chunk in chunks:
        for line in chunk.write_ndjson().splitlines():
            stream.write((",\n" if rows else "\n").encode() + line.encode())
            rows += 1
    stream.write(b"\n]\n")
    return rows


def _write_parquet(chunks: Iterator[pl.DataFrame], stream: BinaryIO) -> int:
    import polars as pl

    whole = pl.concat(chunks)
    whole.write_parquet(stream, compression="zstd")
    return whole.height
