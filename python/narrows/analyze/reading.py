"""Reads captures with the native module.

It loads no library beside that: others load meanwhile (`narrows.analyze.describe`).
"""

from __future__ import annotations

import filecmp
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from narrows import _native
from narrows.analyze import ss_log
from narrows.errors import InputError
from narrows.late import pl

_KEYS = re.compile(rb"^(?:CLIENT|SERVER)_\w*TRAFFIC_SECRET\w* [0-9a-fA-F]+ [0-9a-fA-F]+\s*$", re.M)
"""A line of a key log (RFC 9850)."""

Watcher = Callable[[int], None]
"""A function that is called with the number of segments read so far."""


@dataclass(frozen=True)
class Captures:
    """The content of captures, the logs of `ss` beside them, and when reading began."""

    captures: Sequence[str | Path]
    findings: dict[str, Any]
    tables: dict[str, pl.DataFrame]
    logs: Sequence[Path]
    began_s: float
    cpu_s: float


def read_files(files: Sequence[str | Path], packets: bool, watcher: Watcher | None) -> Captures:
    """Reads captures, with logs of `ss` and key logs among the files.

    Raises InputError for files that can't be read, and for one that is given twice.
    """
    _refuse_copies([Path(file) for file in files])
    began_s, cpu_s = time.perf_counter(), time.process_time()
    begins = {Path(file): _begin(Path(file)) for file in files}
    logs = [file for file, begin in begins.items() if ss_log.matches(begin)]
    keys = [file for file, begin in begins.items() if _KEYS.search(begin)]
    captures = [file for file in files if Path(file) not in (*logs, *keys)]
    if not captures:
        remedy = "a capture and its log of `ss`" if logs else "a capture of QUIC and its key log"
        raise InputError.at(str((*logs, *keys)[0]), "no capture beside it", remedy)
    secrets = "".join(file.read_text(encoding="ascii", errors="replace") for file in keys)
    findings, tables = _read(captures, packets, watcher, secrets)
    note_far_quic(findings)
    return Captures(captures, findings, tables, logs, began_s, cpu_s)


def _refuse_copies(files: Sequence[Path]) -> None:
    """Raises InputError for a file given twice, which would pass for captures of two points."""
    earlier: dict[int, list[Path]] = {}
    for file in filter(Path.is_file, files):
        alike = earlier.setdefault(file.stat().st_size, [])
        for other in alike:
            if file.samefile(other):
                raise InputError.at(str(file), "the same file given twice", "each file once")
            if filecmp.cmp(file, other, shallow=False):
                found = f"the same content as in {other}, so a capture given twice"
                raise InputError.at(str(file), found, "each capture once")
        alike.append(file)


def has_datagrams(findings: Mapping[str, Any]) -> bool:
    """Returns True if a capture has datagrams of UDP, or pings."""
    return any(file["datagrams"] for file in findings["files"])


def without_data(place: str, findings: Mapping[str, Any]) -> InputError:
    """The error for captures without TCP data."""
    found = "UDP or pings alone" if has_datagrams(findings) else "connections that carry no data"
    return InputError.at(place, found, "a capture with TCP data")


def _read(
    files: Sequence[str | Path], packets: bool, watcher: Watcher | None, keys: str
) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    try:
        output = _native.analyze([str(file) for file in files], packets, watcher, keys)
    except _native.CaptureError as error:
        said, remedy = error.args
        place, _, found = said.partition(": found ")
        if not Path(place).exists():
            found = "no such file"
        if Path(place).suffix == ".json":
            remedy = "a capture or a qlog, or `narrows import` for what iperf3 writes"
        raise InputError.at(place, found or "files that can't be analysed", remedy) from None
    findings: dict[str, Any] = json.loads(output.summary)
    findings["engine"] = f"narrows {_native.engine_version}"
    return findings, {name: pl.DataFrame(table) for name, table in output.tables.items()}


def note_far_quic(findings: Mapping[str, Any]) -> None:
    """Adds to flows of QUIC that weren't captured at their sender what that leaves unsure.

    There the sender's round trips show by the spin bit; acknowledgements may be delayed.
    """
    every = [quic for file in findings["files"] for quic in file["quic"]]
    ends = {tuple(quic["name"].split(">")) for quic in every if quic["spin"] != "turns"}
    for flow in findings["flows"]:
        source = (flow["source"], flow["destination"])
        if flow["vantage"] != "sender" and (source in ends or source[::-1] in ends):
            flow["notes"].append(
                "QUIC captured away from its sender, whose round trips its spin bit doesn't show: "
                "the cause is unsure"
            )


def _begin(file: Path) -> bytes:
    """The first bytes of a file, by which logs are told from captures."""
    if not file.is_file():
        return b""
    with file.open("rb") as stream:
        return stream.read(20_000)
