"""Reads and writes Parquet files by their exact names.

The native module writes and reads the tables of a run, polars writes and reads frames. polars
interprets patterns (`*`, `?`, `[`), home directories (`~`) and columns (`name=value`) in paths.
Passing open files avoids that.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from narrows.errors import StoreError
from narrows.files import open_regular
from narrows.late import _native, pl
from narrows.store.on_use import TablesOnUse

if TYPE_CHECKING:
    from narrows._native import ArrowTable
    from narrows.columns import Columns

SUFFIX = ".parquet"
_ROWS, _ROWS_PER_BYTE = 10_000, 8
"""The rows that any table may have, and per byte; no two events of a run have the same time."""
GROUP = 1 << 15
"""Rows of a group: a reader of one run skips the groups of others."""
_PIECE = 1 << 20
"""Bytes that are copied at a time from the file of a long table."""


class NativeTables(TablesOnUse["pl.DataFrame"]):
    """Tables of the native module by name, each converted to a frame on first use.

    `columns` has them for code that doesn't use polars.
    """

    def __init__(self, tables: Mapping[str, ArrowTable]) -> None:
        from narrows.columns import columns

        self.native = native = dict(tables)
        self.columns = {name: columns(table) for name, table in native.items()}
        super().__init__(native, lambda name: pl.DataFrame(native[name]))


def drop_tables(
    tables: Mapping[str, pl.DataFrame], left_out: Collection[str]
) -> Mapping[str, pl.DataFrame]:
    """Returns the tables except for some."""
    if isinstance(tables, NativeTables):
        return NativeTables({n: t for n, t in tables.native.items() if n not in left_out})
    return {name: table for name, table in tables.items() if name not in left_out}


def parquet_files(tables: Mapping[str, pl.DataFrame]) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yields the tables as names and contents of files, in pieces."""
    for name in tables:
        yield f"{name}{SUFFIX}", _content(tables, name)


def _content(tables: Mapping[str, pl.DataFrame], name: str) -> Iterator[bytes]:
    if not isinstance(tables, NativeTables):
        yield parquet_bytes(tables[name])
        return
    table, offset = tables.native[name], 0
    piece = table.piece(offset, _PIECE)
    if piece is None:
        yield table.parquet()
    while piece:
        yield piece
        offset += len(piece)
        piece = table.piece(offset, _PIECE)


def read_parquet(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """Reads the table in a file, or some columns of it."""
    with damage_of(str(path)), open_regular(path, follow=False) as file:
        return pl.read_parquet(file, columns=columns)


@contextmanager
def damage_of(place: str) -> Iterator[None]:
    """Turns the errors of a damaged table, or of a link or a pipe, into a StoreError."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EISDIR, errno.ELOOP):
            raise
        raise StoreError.at(place, str(error.strerror), "a table of narrows") from None
    except Exception as error:
        if not type(error).__module__.startswith("polars"):
            raise
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise StoreError.at(place, f"a damaged table ({first})", "a fresh run") from None


def check_rows(path: Path, file: BinaryIO, size: int, most: Callable[[], int]) -> None:
    """Raises StoreError for a table with more rows than `most`, and than its bytes can well hold.

    A column of equal values takes nearly no bytes, so a small file from somebody else could fill
    the memory.
    """
    rows = int(pl.scan_parquet(file).select(pl.len()).collect().item())
    if rows > _ROWS + _ROWS_PER_BYTE * size and rows > most():
        raise StoreError.at(str(path), f"{rows:,} rows", "a table that its run can give")


def check_rows_of(path: Path, most: int) -> None:
    """Does the same for a file in a result."""
    with damage_of(str(path)), open_regular(path, follow=False) as file:
        rows = _rows(path, file)
    if rows > max(most, _ROWS + _ROWS_PER_BYTE * path.stat().st_size):
        raise StoreError.at(str(path), f"{rows:,} rows", "a table that its run can give")


def _rows(path: Path, file: BufferedReader) -> int:
    try:
        return len(_native.read_parquet(path))
    except ValueError:  # polars wrote it
        return int(pl.scan_parquet(file).select(pl.len()).collect().item())


def read_columns(path: Path) -> Columns:
    """Reads the table in a file as plain columns; with polars if polars wrote it."""
    from narrows.columns import columns

    try:
        return columns(_native.read_parquet(path))
    except ValueError:
        return columns(read_parquet(path))


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Writes a table to a file."""
    path.write_bytes(parquet_bytes(frame))


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """Returns a table as the content of a file.

    polars would report a full disk by its own exception, or by an OSError without a number.
    So Python writes the file.
    """
    stream = BytesIO()
    frame.write_parquet(stream, compression="zstd", row_group_size=GROUP)
    return stream.getvalue()


def sink_parquet(rows: pl.LazyFrame, path: Path) -> None:
    """Writes rows to a file like `write_parquet`, some at a time; only the file is in memory."""
    stream = BytesIO()
    rows.sink_parquet(stream, compression="zstd", row_group_size=GROUP, engine="streaming")
    path.write_bytes(stream.getvalue())
