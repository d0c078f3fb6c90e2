"""Runs of the simulator with captures, decoded."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import strict_pcapng
from specimens import scenario_of

from narrows import _native

POINTS = ("sender", "before-queue", "after-queue", "receiver")

LOSSY = """\
name = "lossy"

[path]
rate = "20mbit"
rtt = "20ms"
buffer = "0.5bdp"

[[flows]]
cca = "cubic"
[[flows]]
cca = "bbr"

[run]
duration = "2s"
warmup = "0s"
record = "packets"
"""
"""Two flows that lose packets in a shallow queue."""

WINDING = """\
name = "winding"

[path]
rate = "20mbit"
rtt = "20ms"
buffer = "1bdp"
queue = { kind = "codel", ecn = true }
links = [{ name = "second", rate = "15mbit", buffer = "1bdp" }]
reverse = { rate = "4mbit", buffer = "50pkt" }
impairments = [
  { kind = "duplicate", probability = 0.01, at = "behind" },
  { kind = "netem", delay = "1ms", jitter = "600us", reorder = 0.02, gap = 1, at = "before" },
  { kind = "ack_thinning", max = 4, hold = "1ms", direction = "backward" },
]

[[flows]]
name = "ahead"
cca = "cubic"
ecn = "classic"
[[flows]]
name = "dctcp"
cca = "dctcp"
links = ["bottleneck"]
[[flows]]
name = "past"
cca = "reno"
links = ["second"]
[[flows]]
name = "back"
cca = "cubic"
reverse = true
ecn = "l4s"
size = "300kb"

[run]
duration = "2s"
warmup = "0s"
record = "packets"
"""
"""Two links, a way back with a queue, marks, duplicates, reordering, merged ACKs."""


@dataclass
class CapturedRun:
    """A run: what the simulator recorded, and its captures by point."""

    scenario: dict[str, Any]
    output: _native.RunOutput
    directory: Path
    _read: dict[str, strict_pcapng.Capture] = field(default_factory=dict)

    def file(self, point: str) -> Path:
        """The capture at a point."""
        return self.directory / f"{point}.pcapng"

    def capture(self, point: str) -> strict_pcapng.Capture:
        """The same, decoded."""
        if point not in self._read:
            self._read[point] = strict_pcapng.read(self.file(point))
        return self._read[point]

    def packets(self, point: str, out: bool | None = None) -> list[strict_pcapng.Segment]:
        """The packets at a point; only those that leave or arrive, if `out` says so."""
        return [p for p in self.capture(point).packets if out is None or p.out == out]

    @cached_property
    def rows(self) -> pl.DataFrame:
        """The simulator's own record of its packets."""
        return pl.DataFrame(self.output.tables["packets"])

    def events(self, event: str) -> list[tuple[int, int, int, int, int, bool]]:
        """Instant in ns, flow, instance, packet number, size, whether sent before."""
        rows = self.rows.filter(pl.col("event") == event).select(
            (pl.col("time_s") * 1e9).round().cast(pl.Int64),
            *("flow", "instance", "seq", "size", "retransmission"),
        )
        return rows.rows()


def request(directory: Path, **options: object) -> str:
    """The request to the native module."""
    usual = {"pcap": True, "qlog": False, "qlog_draft": False, "snaplen": None, "ipv6": False}
    return json.dumps({"directory": str(directory), **usual, **options})


def capture_run(
    directory: Path,
    text: str = LOSSY,
    overrides: tuple[str, ...] = (),
    snaplen: int | None = None,
    **options: bool,
) -> CapturedRun:
    """Runs the first trial of a specification with captures into `directory`."""
    scenario: dict[str, Any] = scenario_of(text, overrides)
    directory.mkdir(exist_ok=True)
    output = _native.run(json.dumps(scenario), None, request(directory, snaplen=snaplen, **options))
    return CapturedRun(scenario, output, directory)
