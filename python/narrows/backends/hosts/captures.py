"""Merges the captures of all hosts on one side into one file, in the order of time.

The times in each host's file are on the run's clock, accurate to the clocks' uncertainty. Files are
as crates/pcapng writes them: little-endian, one interface, nanoseconds.
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import IO

from narrows.backends.hosts.inventory import Inventory
from narrows.backends.hosts.plan import RunPlan

_PACKET, _STATISTICS = 6, 5
_Block = tuple[int, bytes]
"""The kind of a block, and all its bytes."""


def gather_captures(
    plan: RunPlan, inventory: Inventory, folder: Path, directory: Path
) -> dict[str, int]:
    """Writes the captures of a run into `directory`; returns the number of packets in each.

    `measure` put the hosts' files into `folder`.
    """
    found: dict[str, list[Path]] = {}
    for number, host in enumerate(plan.hosts):
        place = folder / f"host-{number}"
        if host.entry is inventory.router:
            own = ("before-queue.pcapng", "after-queue.pcapng")
            found |= {name: [place / name] for name in own if (place / name).exists()}
            continue
        name = "sender.pcapng" if host.entry in inventory.senders else "receiver.pcapng"
        found.setdefault(name, []).extend(
            file for file in (place / "sender.pcapng", place / "receiver.pcapng") if file.exists()
        )
    return {name: merge_captures(files, directory / name) for name, files in sorted(found.items())}


def merge_captures(files: Sequence[Path], merged: Path) -> int:
    """Merges captures by time into one file; returns the number of its packets."""
    opened = [file.open("rb") for file in files]
    packets, passed, missed, last = 0, 0, 0, b"\0" * 8
    try:
        streams = [_blocks(file) for file in opened]
        with merged.open("wb") as out:
            heads = [_head(stream) for stream in streams]
            out.write(b"".join(heads[0][0]))
            rows = [
                _with_times(first, stream)
                for (_, first), stream in zip(heads, streams, strict=True)
            ]
            for _, (kind, block) in heapq.merge(*rows, key=itemgetter(0)):
                if kind == _PACKET:
                    out.write(block)
                    packets, last = packets + 1, block[12:20]
                elif kind == _STATISTICS:
                    received, dropped = _counters(block)
                    passed, missed = passed + received, missed + dropped
            out.write(_statistics(last, passed, missed))
    finally:
        for file in opened:
            file.close()
    return packets


def _blocks(file: IO[bytes]) -> Iterator[_Block]:
    while len(start := file.read(8)) == 8:
        kind, length = struct.unpack("<II", start)
        yield kind, start + file.read(length - 8)


def _head(stream: Iterator[_Block]) -> tuple[list[bytes], list[_Block]]:
    """Reads the blocks before the first packet, and that packet.

    Without a packet, the statistics take its place.
    """
    before: list[bytes] = []
    for kind, block in stream:
        if kind in (_PACKET, _STATISTICS):
            return before, [(kind, block)]
        before.append(block)
    return before, []


def _with_times(first: Sequence[_Block], stream: Iterator[_Block]) -> Iterator[tuple[int, _Block]]:
    for part in (first, stream):
        for kind, block in part:
            high, low = struct.unpack_from("<II", block, 12)
            yield high << 32 | low, (kind, block)


def _counters(block: bytes) -> tuple[int, int]:
    """Reads an interface statistics block: packets that passed, and packets that were missed."""
    found, at = {4: 0, 5: 0}, 20
    while at + 4 <= len(block) - 4:
        code, length = struct.unpack_from("<HH", block, at)
        if code in found and length == 8:
            found[code] = struct.unpack_from("<Q", block, at + 4)[0]
        at += 4 + -(-length // 4) * 4
    return found[4], found[5]


def _statistics(time: bytes, passed: int, missed: int) -> bytes:
    options = struct.pack("<HHQHHQI", 4, 8, passed, 5, 8, missed, 0)
    length = 8 + 12 + len(options) + 4
    return struct.pack("<III", _STATISTICS, length, 0) + time + options + struct.pack("<I", length)
