"""Lists that stay beside what was reproduced: JSON files, each read and written whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from narrows.store.atomic import write_text

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


def read_list(file: Path, key: str, made: Callable[[dict[str, Any]], T]) -> list[T]:
    """What a file holds under `key`, `made` of its fields; nothing if it is no such file."""
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        return [made(fields) for fields in stored[key]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def write_list(file: Path, key: str, items: Iterable[DataclassInstance]) -> None:
    """Writes the fields of dataclasses under `key`."""
    document = {key: [asdict(item) for item in items]}
    write_text(file, json.dumps(document, indent=1) + "\n")
