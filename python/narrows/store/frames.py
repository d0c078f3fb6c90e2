"""Keeps frames computed from runs under a key of everything that they depend on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from narrows.late import pl
from narrows.store.atomic import publish
from narrows.store.owned import owned_directory
from narrows.store.parquet import read_parquet, write_parquet

KEY = "key.json"


def read_frames(folder: Path, key: str) -> dict[str, pl.DataFrame] | None:
    """Returns the frames in `folder` by name; None if they are missing or have another key."""
    try:
        if json.loads((folder / KEY).read_text(encoding="utf-8"))["key"] != key:
            return None
        return {file.stem: read_parquet(file) for file in sorted(folder.glob("*.parquet"))}
    except (OSError, ValueError, KeyError, pl.exceptions.PolarsError):
        return None


def write_frames(folder: Path, key: str, frames: Mapping[str, pl.DataFrame]) -> None:
    """Keeps `frames` in `folder`, all at once, replacing frames with another key."""
    with owned_directory(folder) as work:
        for name, frame in frames.items():
            write_parquet(frame, work / f"{name}.parquet")
        (work / KEY).write_text(json.dumps({"key": key}) + "\n", encoding="utf-8")
        publish(work, folder)
