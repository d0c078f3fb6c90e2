"""A part of a store: the tables of many runs, which appear together and never change.

    PART/
        runs.parquet            a row for each run: hash, trial, seed, axes, digest, cost, scenario
        summary.parquet, flows.parquet, flow_samples.parquet, ...
        part.json               the line of the manifest: runs, files with digests, replaced parts

Each table has the column `run`. Rows go by run, and within one as it recorded them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from narrows.late import pl
from narrows.plan import Trial, canonical_json
from narrows.store.intact import digest_of, digest_of_file
from narrows.store.parquet import GROUP, SUFFIX, NativeTables, sink_parquet, write_parquet

if TYPE_CHECKING:
    from narrows._native import ArrowTable
    from narrows.store.records import RunRecord

PARTS = "parts"
"""The folder of the parts."""
RUNS = "runs"
"""The table that has a row for each run."""
DERIVED = ("summary", "flows")
"""The tables that are made from a run's summary."""
LINE = "part.json"
NAME = re.compile("part-[0-9a-f]{16}")
FILE = re.compile(rf"[a-z][a-z0-9_]*\{SUFFIX}")
INFO = ("backend", "engine", "digest", "end_s", "packets", "cpu_s", "wall_s", "created", "invalid")
"""The columns of `runs` on how a run went."""
AS_JSON = ("conditions", "losses")
_PIECE = 1 << 20

Frames = dict[str, "pl.DataFrame"]


@dataclass(frozen=True)
class FinishedRun:
    """A finished run on its way into a part; `values` are those of the axes."""

    trial: Trial
    result: RunRecord
    derived: Mapping[str, pl.DataFrame]
    values: Mapping[str, object]

    @property
    def key(self) -> str:
        """The hash of the run."""
        return self.trial.hash

    def tables(self) -> Iterator[tuple[str, pl.DataFrame]]:
        """Yields its tables as frames, except for the long ones."""
        for tables in (self.result.tables, self.derived):
            yield from ((name, tables[name]) for name in tables if not _is_long(tables, name))

    def spilled_tables(self) -> list[str]:
        """Returns the names of its tables that were written to a file because they're too long."""
        return [name for name in self.result.tables if _is_long(self.result.tables, name)]

    @property
    def bytes(self) -> int:
        """The memory that its tables take."""
        return sum(int(frame.estimated_size()) for _, frame in self.tables())


def _is_long(tables: Mapping[str, pl.DataFrame], name: str) -> bool:
    return isinstance(tables, NativeTables) and tables.native[name].piece(0, 1) is not None


def write_part(folder: Path, entries: Iterable[FinishedRun]) -> None:
    """Writes the part of some runs into an empty directory; a run with long tables is alone."""
    kept = sorted(entries, key=lambda entry: entry.key)
    for name, frame in frames_of(kept).items():
        write_parquet(frame, folder / f"{name}{SUFFIX}")
    for entry in kept:
        for name in entry.spilled_tables():
            table = cast("NativeTables", entry.result.tables).native[name]
            _write_long(table, entry.key, folder / f"{name}{SUFFIX}")
    write_line(folder, len(kept))


def write_merged(path: Path, frames: Sequence[pl.DataFrame]) -> None:
    """Writes a table of several parts, sorted by run, without a copy of all its rows in memory."""
    from polars.io.plugins import register_io_source

    schema = pl.concat([frame.clear() for frame in frames], how="diagonal").schema

    def source(*_: object) -> Iterator[pl.DataFrame]:
        return (piece.select(schema.names()) for piece in _by_run(frames))

    sink_parquet(register_io_source(source, schema=schema), path)


def _by_run(frames: Sequence[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yields the rows of frames in the order of their runs, some runs at a time."""
    frames = [f if f["run"].is_sorted() else f.sort("run", maintain_order=True) for f in frames]
    runs = pl.concat([frame["run"].unique() for frame in frames]).sort()
    rows = sum(frame.height for frame in frames)
    each = max(GROUP * len(runs) // max(rows, 1), 1)
    firsts = [0] * len(frames)
    for end in (*runs[each::each], None):
        ends = [
            frame.height if end is None else int(frame["run"].search_sorted(end))
            for frame in frames
        ]
        pieces = [f.slice(at, to - at) for f, at, to in zip(frames, firsts, ends, strict=True)]
        yield pl.concat(pieces, how="diagonal").sort("run", maintain_order=True)
        firsts = ends


def write_line(folder: Path, runs: int, replaces: Sequence[str] = ()) -> None:
    """Writes the line of the manifest, with the digests of the other files."""
    files = {
        file.name: {"bytes": file.stat().st_size, "digest": digest_of_file(file)}
        for file in sorted(folder.glob(f"*{SUFFIX}"))
    }
    line = {"runs": runs, "created": _now(), "replaces": list(replaces), "files": files}
    text = json.dumps({**line, "digest": digest_of(line)})
    (folder / LINE).write_text(text + "\n", encoding="utf-8", newline="\n")


def frames_of(entries: Sequence[FinishedRun]) -> Frames:
    """Returns the tables of several runs, without the long ones."""
    found: dict[str, list[tuple[str, pl.DataFrame]]] = {}
    for entry in entries:
        for name, frame in entry.tables():
            found.setdefault(name, []).append((entry.key, frame))
    return {RUNS: _runs(entries), **{name: _concat_runs(parts) for name, parts in found.items()}}


def _concat_runs(parts: Sequence[tuple[str, pl.DataFrame]]) -> pl.DataFrame:
    """Joins frames of runs, with the hash of each row's run in the first column."""
    frames = [frame for _, frame in parts]
    alike = all(frame.columns == frames[0].columns for frame in frames)
    whole = pl.concat(frames, how="vertical" if alike else "diagonal")
    keys = [key for key, frame in parts for _ in range(frame.height)]
    return whole.select(pl.Series("run", keys, pl.String()), pl.all())


def _write_long(table: ArrowTable, key: str, path: Path) -> None:
    """Writes a table that may not fit into memory, a piece at a time."""
    work, offset = path.with_suffix(".work"), 0
    with work.open("wb") as file:
        while piece := table.piece(offset, _PIECE):
            file.write(piece)
            offset += len(piece)
    with work.open("rb") as file, path.open("wb") as out:
        whole = pl.scan_parquet(file).select(pl.lit(key).alias("run"), pl.all())
        whole.sink_parquet(out, compression="zstd")
    work.unlink()


def _runs(entries: Sequence[FinishedRun]) -> pl.DataFrame:
    text, real = pl.String(), pl.Float64()
    kinds: dict[str, pl.DataType] = {"run": text, "trial": pl.Int64(), "seed": pl.UInt64()}
    kinds |= dict.fromkeys(("axes", *INFO, *AS_JSON, "columns", "scenario"), text)
    kinds |= {"end_s": real, "cpu_s": real, "wall_s": real, "packets": pl.Int64()}
    return pl.DataFrame([_row(entry) for entry in entries], schema=kinds)


def _row(entry: FinishedRun) -> dict[str, Any]:
    """Returns the row of a run; nested values are JSON, so that all parts are alike."""
    info = asdict(entry.result.info)
    return {
        "run": entry.key,
        "trial": entry.trial.number,
        "seed": entry.trial.seed,
        "axes": json.dumps(dict(entry.values), default=str),
        **{name: info.get(name) for name in INFO},
        "created": _now(),
        **{name: json.dumps(info[name]) for name in AS_JSON},
        "columns": json.dumps(_columns(entry)),
        "scenario": canonical_json(entry.trial.scenario),
    }


def _columns(entry: FinishedRun) -> dict[str, list[str]]:
    """Returns the columns of each table of a run.

    In a part, it may have those of other runs, too.
    """
    found = {name: frame.columns for name, frame in entry.tables()}
    if isinstance(entry.result.tables, NativeTables):
        native = entry.result.tables.native
        found |= {
            name: [column for column, _ in native[name].columns()]
            for name in entry.spilled_tables()
        }
    return found


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
