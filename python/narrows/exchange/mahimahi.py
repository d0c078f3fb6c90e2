"""Logs of mahimahi's mm-link: arrivals at the queue, departures and drops.

    TIME + BYTES            an arrival
    TIME - BYTES DELAY      a departure, after DELAY
    TIME # BYTES            an opportunity to deliver, used or not
    TIME d PACKETS BYTES    a drop

Times are in ms, since the epoch or the base timestamp. Sizes include 4 bytes of the TUN device
beyond the IP packet.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from narrows.columns import schema
from narrows.errors import InputError
from narrows.exchange.measured import FileMeasurements, MeasuredFlow, samples_of
from narrows.late import pl
from narrows.packets import PACKET_BYTES
from narrows.spec.scenario import Scenario

TUN_BYTES = 4
BIN_S = 0.1
MAX_MS = 10**9
"""No specification can describe a longer log (11 days)."""
HEADER_BYTES = 52
"""IP and TCP headers with timestamps of a data packet."""


def matches(text: str) -> bool:
    """Returns True if a file's beginning is that of a log."""
    return text.startswith(("# mahimahi", "# base timestamp"))


@dataclass
class _Bin:
    """Counters up to the end of a bin."""

    arrived: int = 0
    dropped: int = 0
    forwarded: int = 0
    forwarded_bytes: int = 0
    payload: int = 0
    backlog: int = 0
    capacity: int = 0
    delays: list[int] = field(default_factory=list)


def read(text: str, name: str) -> FileMeasurements:
    """The log as one flow, and its queue; raises ValueError for a malformed line."""
    events = list(_events(text))
    if not events:
        raise ValueError("no events")
    first = events[0][0]
    if min(time for time, *_ in events) < first:
        raise ValueError("times that descend")
    if max(time for time, *_ in events) - first > MAX_MS:
        raise ValueError(f"events more than {MAX_MS} ms apart")
    bins: dict[int, _Bin] = defaultdict(_Bin)
    for time, kind, size, extra in events:
        _note(bins[int((time - first) / 1e3 / BIN_S)], kind, size, extra)
    rows = list(_running([bins[number] for number in range(max(bins) + 1)]))
    times = [round((number + 1) * BIN_S, 6) for number in range(len(rows))]
    samples = samples_of(
        {
            "time_s": [0.0, *times],
            "received_bytes": [0, *(row.payload for row in rows)],
            "wire_bytes": [0, *(row.forwarded_bytes for row in rows)],
            "dropped": [0, *(row.dropped for row in rows)],
        }
    )
    span_s = len(rows) * BIN_S
    rate = round(rows[-1].capacity * 8 / span_s) if rows[-1].capacity else None
    return FileMeasurements([MeasuredFlow(name, samples)], BIN_S, _queue(times, rows), rate)


def _events(text: str) -> Iterator[tuple[int, str, int, int]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("#") or not line.strip():
            continue
        parts = line.split()
        try:
            time, kind, size = _number(parts[0]), parts[1], _number(parts[2])
            extra = _number(parts[3]) if len(parts) > 3 else 0
        except (IndexError, ValueError):
            raise ValueError(f"line {number}: {line[:60]!r}") from None
        if kind not in "+-#d":
            raise ValueError(f"line {number}: the event {kind!r}")
        yield time, kind, size, extra


def _number(text: str) -> int:
    """A time or a size; raises ValueError for anything else."""
    value = int(text)
    if not 0 <= value < 2**48:
        raise ValueError(text)
    return value


def _note(here: _Bin, kind: str, size: int, extra: int) -> None:
    if kind == "+":
        here.arrived += 1
        here.backlog += size - TUN_BYTES
    elif kind == "#":
        here.capacity += size - TUN_BYTES
    elif kind == "d":
        here.dropped += size
        here.backlog -= extra - TUN_BYTES * size
    else:
        here.forwarded += 1
        here.forwarded_bytes += size - TUN_BYTES
        here.payload += max(size - TUN_BYTES - HEADER_BYTES, 0)
        here.backlog -= size - TUN_BYTES
        here.delays.append(extra)


def _running(bins: list[_Bin]) -> Iterator[_Bin]:
    """The cumulative counters."""
    total = _Bin()
    for here in bins:
        total = _Bin(
            *(
                getattr(total, name) + getattr(here, name)
                for name in ("arrived", "dropped", "forwarded", "forwarded_bytes", "payload",
                             "backlog", "capacity")
            )
        )  # fmt: skip
        yield total


def _queue(times: list[float], rows: list[_Bin]) -> pl.DataFrame:
    columns: dict[str, list[Any]] = {
        "time_s": [0.0, *times],
        "link": [0] * (len(times) + 1),
        "backlog_bytes": [0, *(max(row.backlog, 0) for row in rows)],
        "backlog_packets": [0, *(max(row.arrived - row.dropped - row.forwarded, 0)
                                 for row in rows)],
        "arrived_packets": [0, *(row.arrived for row in rows)],
        "dropped_packets": [0, *(row.dropped for row in rows)],
        "marked_packets": [0] * (len(times) + 1),
        "forwarded_packets": [0, *(row.forwarded for row in rows)],
        "forwarded_bytes": [0, *(row.forwarded_bytes for row in rows)],
    }  # fmt: skip
    return pl.DataFrame(columns, schema=dict(schema("queue_samples")))


def write(scenario: Scenario, tables: Mapping[str, pl.DataFrame], stem: Path) -> list[Path]:
    """Writes the log of the bottleneck, `STEM.log`, of a run that recorded packets.

    Raises InputError for another run, and OSError if the file can't be written.
    """
    if "packets" not in tables:
        remedy = 'run.record = "packets"'
        raise InputError.at("--format", "mahimahi of a run without packets", remedy)
    path = stem.with_name(f"{stem.name}.log")
    lines = [
        f"# mahimahi mm-link (uplink) [narrows: {scenario['name']}] > {path.name}",
        "# base timestamp: 0",
        *(line for _, _, line in sorted(_lines(scenario, tables["packets"]))),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return [path]


def _lines(scenario: Scenario, packets: pl.DataFrame) -> Iterator[tuple[int, int, str]]:
    """Every line with its time and its rank among those of the same ms."""
    waiting: dict[tuple[int, int, int], deque[float]] = defaultdict(deque)
    last = 0
    wanted = packets.filter(pl.col("event").is_in(["sent", "forwarded", "dropped"]))
    columns = ("time_s", "event", "flow", "instance", "seq", "size")
    for time, event, flow, instance, seq, size in wanted.select(columns).iter_rows():
        ms, key, whole = int(time * 1e3 + 1e-9), (flow, instance, seq), size + TUN_BYTES
        last = max(last, ms)
        if event == "sent":
            waiting[key].append(time)
            yield ms, 0, f"{ms} + {whole}"
        elif waiting[key]:
            began = waiting[key].popleft()
            if event == "dropped":
                yield ms, 1, f"{ms} d 1 {whole}"
            else:
                yield ms, 3, f"{ms} - {whole} {ms - int(began * 1e3 + 1e-9)}"
    service = scenario["path"].get("service", {"kind": "constant"})
    if service["kind"] == "constant":
        gap = PACKET_BYTES * 8e3 / scenario["path"]["rate_bps"]
        for number in range(int((last + 1) / gap)):
            ms = int((number + 1) * gap)
            yield ms, 2, f"{ms} # {PACKET_BYTES + TUN_BYTES}"
