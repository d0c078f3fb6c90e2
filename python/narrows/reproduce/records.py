"""Lists beside the reproductions: JSON files, each read and written as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from narrows.store import RESULTS
from narrows.store.atomic import write_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
OUT = Path(RESULTS) / "reproduce"
"""The default directory of reproductions."""


def read_list(file: Path, key: str, made: Callable[[dict[str, Any]], T]) -> list[T]:
    """Reads the entries of a file under `key`, `made` of their fields.

    None if it has no such list.
    """
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        return [made(fields) for fields in stored[key]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write_list(file: Path, key: str, items: Iterable[DataclassInstance]) -> None:
    """Writes the fields of dataclasses under `key`."""
    document = {key: [asdict(item) for item in items]}
    write_text(file, json.dumps(document, indent=1) + "\n")
