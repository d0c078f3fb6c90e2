"""Reads and writes Parquet files by their exact names.

polars interprets patterns (`*`, `?`, `[`), home directories (`~`) and columns (`name=value`) in
paths. Passing open files avoids that.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

SUFFIX = ".parquet"


def read_parquet(path: Path, columns: list[str] | None = None) -> pl.DataFrame:
    """The table in a file, or some columns of it."""
    import polars as pl

    with path.open("rb") as file:
        return pl.read_parquet(file, columns=columns)


def read_schema(path: Path) -> Mapping[str, pl.DataType]:
    """The columns of the table in a file."""
    import polars as pl

    with path.open("rb") as file:
        return pl.read_parquet_schema(file)


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Writes a table to a file."""
    path.write_bytes(parquet_bytes(frame))


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """A table as the content of a file.

    polars would tell a full disk by an exception of its own, or by an OSError without a number:
    so Python writes.
    """
    stream = BytesIO()
    frame.write_parquet(stream, compression="zstd")
    return stream.getvalue()
