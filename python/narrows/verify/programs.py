"""Finds the first packet, and the files, in which the programs of two runs differ."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

DIRECTORY = "programs"
PACKETS = f"{DIRECTORY}/packets.csv"
"""A row for each packet that hosts of programs sent: time, sender, length, and a digest."""


def differences(old: Path, new: Mapping[str, bytes], flows: Sequence[str]) -> Iterator[str]:
    """Yields differences between programs in the run kept in `old` and in a repetition.

    `new` has the repetition's files by their names, `flows` the flows' names.
    """
    kept = {str(file.relative_to(old)): file for file in _files(old / DIRECTORY)}
    if PACKETS in kept or PACKETS in new:
        before = kept[PACKETS].read_bytes() if PACKETS in kept else b""
        yield from _first_packet(before, new.get(PACKETS, b""), flows)
    for name in sorted({*kept, *new} - {PACKETS}):
        if name not in kept or name not in new:
            yield f"{name}: {'not kept' if name not in kept else 'not written now'}"
        elif (place := _first_byte(kept[name].read_bytes(), new[name])) is not None:
            yield f"{name}: other content from byte {place + 1} on"


def _files(directory: Path) -> Iterator[Path]:
    return (file for file in directory.rglob("*") if file.is_file())


def _first_packet(old: bytes, new: bytes, flows: Sequence[str]) -> Iterator[str]:
    """Yields the first packet that differs, as both runs have it."""
    rows = (csv.DictReader(text.decode().splitlines()) for text in (old, new))
    for number, (before, now) in enumerate(zip_longest(*rows), 1):
        if before != now:
            same = before is not None and now is not None and _columns(before) == _columns(now)
            told = "other bytes now" if same else f"{_packet(now, flows)} now"
            yield f"packet {number} of programs: {_packet(before, flows)} kept, {told}"
            return


def _columns(row: Mapping[str, str]) -> list[str]:
    return [row[name] for name in ("time_ns", "flow", "from", "size")]


def _packet(row: Mapping[str, str] | None, flows: Sequence[str]) -> str:
    if row is None:
        return "none"
    at, size = int(row["time_ns"]) / 1e9, row["size"]
    return f'{size} bytes from the {row["from"]} of "{flows[int(row["flow"])]}" at {at:.9f} s'


def _first_byte(old: bytes, new: bytes) -> int | None:
    """Returns the first byte at which the contents differ; None if they are equal."""
    if old == new:
        return None
    pairs = enumerate(zip(old, new, strict=False))
    return next((place for place, (one, two) in pairs if one != two), min(len(old), len(new)))
