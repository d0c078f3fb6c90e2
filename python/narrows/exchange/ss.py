"""Logs of `ss -tin` in a loop, with the time before each output or each line.

    while sleep 0.1; do date +%s.%N; ss -tin dst 10.0.0.2; done > ss.log

A time is seconds since the epoch, or has the form HH:MM:SS as in what `date`, `date -Ins` and `ts`
write. Connections are told apart by their addresses; those that sent less than a hundredth of what
the largest did, such as the control connection of iperf3, are left out. Round-trip times are the
kernel's smoothed ones. Counters start at zero where the log starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

import polars as pl

from narrows.exchange.measured import Measured, MeasuredFlow, samples_of
from narrows.packets import WIRE

_EPOCH = re.compile(r"\s*\[?(?P<epoch>\d{10}(?:[.,]\d+)?|\d{13})\]?(?=\s|$)")
_CLOCK = r"(?P<h>\d?\d):(?P<m>\d\d):(?P<s>\d\d(?:[.,]\d+)?)(?: ?(?P<half>[AP]M))?"
_FIRST = re.compile(rf"\s*\[?(?:\d{{4}}-\d\d-\d\d[T ])?{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?\]?(?=\s|$)")
_ANYWHERE = re.compile(rf"(?<![\d:]){_CLOCK}(?![\d:])")
_SOCKET = re.compile(r"(?:^|\s)\d+\s+\d+\s+(?P<local>\S+:\w+)\s+(?P<peer>\S+:\w+)(?=\s|$)")
_INFO = re.compile(r"\bcwnd:\d+")
_CONTROL = re.compile(r"(?:^|\s)([a-z_0-9]+)\s+(?:wscale|rto):")
_PAIR = re.compile(r"\b([a-z_]+):(\d+(?:\.\d+)?)(?:/(\d+(?:\.\d+)?))?")
_RATE = re.compile(r"\b(pacing_rate|delivery_rate) (\d+(?:\.\d+)?)([KMGT]?)bps")
_SCALES = {"": 1e-6, "K": 1e-3, "M": 1.0, "G": 1e3, "T": 1e6}
SMALL = 0.01
"""Connections with a smaller part of the bytes of the largest are left out."""
_DAY_S, _HALF_S = 86_400.0, 43_200.0


@dataclass
class _Connection:
    """The samples of a connection: their times, and what `ss` says there."""

    born_s: float | None
    """The time of the last output without it; None if the first one has it."""
    control: str | None = None
    times: list[float] = field(default_factory=list)
    values: list[Mapping[str, float]] = field(default_factory=list)


def matches(content: bytes) -> bool:
    """Whether a file begins like a log of `ss -tin`."""
    return _INFO.search(content[:20_000].decode("utf-8", "replace")) is not None


def read(text: str, name: str) -> Measured:
    """The connections that sent data; raises ValueError without times or connections."""
    known = _connections(text)
    if not known:
        raise ValueError("no connection with cwnd, as `ss -tin` shows it")
    sent = {key: _growth(one)[-1] for key, one in known.items()}
    least = SMALL * max(sent.values())
    flows = [
        MeasuredFlow(key or name, _samples(one), one.control)
        for key, one in known.items()
        if sent[key] > 0 and sent[key] >= least
    ]
    if not flows:
        raise ValueError("no connection whose bytes_acked grow")
    start_s = min(flow.samples["time_s"][0] for flow in flows)
    shifted = [
        MeasuredFlow(f.name, f.samples.with_columns(pl.col("time_s") - start_s), f.cca)
        for f in flows
    ]
    spans = [b - a for one in known.values() for a, b in pairwise(one.times) if b > a]
    return Measured(shifted, median(spans) if spans else 0.0)


def _connections(text: str) -> dict[str, _Connection]:
    """The connections by their addresses, in the order of their first lines."""
    known: dict[str, _Connection] = {}
    key, before_s = "", None
    now_s: float | None = None
    for time_s, rest in _lines_with_times(text):
        if time_s is not None and time_s != now_s:
            before_s, now_s = now_s, time_s
        socket = _SOCKET.search(rest)
        if socket is not None:
            key = f"{socket['local']} > {socket['peer']}"
        if _INFO.search(rest) is None:
            continue
        if now_s is None:
            raise ValueError("no time before the first connection, as `date +%s.%N` writes it")
        one = known.setdefault(key, _Connection(before_s))
        if one.times and one.times[-1] >= now_s:  # a clock of whole seconds: the last one counts
            one.times.pop()
            one.values.pop()
        one.times.append(now_s)
        one.values.append(_values(rest))
        control = _CONTROL.search(rest)
        one.control = control[1] if control is not None else one.control
    return known


def _lines_with_times(text: str) -> Iterator[tuple[float | None, str]]:
    """Each line with its time, if it has one, and the rest of it."""
    days, last_s = 0, 0.0
    for line in text.splitlines():
        epoch = _EPOCH.match(line)
        if epoch is not None:
            number = epoch["epoch"].replace(",", ".")
            yield (
                float(number) / (1000 if len(number) == 13 and "." not in number else 1),
                line[epoch.end() :],
            )
            continue
        plain = _INFO.search(line) is None and _SOCKET.search(line) is None
        clock = _FIRST.match(line) or (_ANYWHERE.search(line) if plain else None)
        if clock is None:
            yield None, line
            continue
        of_day_s = _of_day(clock)
        days += of_day_s < last_s - _HALF_S
        last_s = of_day_s
        yield days * _DAY_S + of_day_s, "" if plain else line[clock.end() :]


def _of_day(clock: re.Match[str]) -> float:
    hours = int(clock["h"])
    if clock["half"]:
        hours = hours % 12 + 12 * (clock["half"] == "PM")
    return hours * 3600 + int(clock["m"]) * 60 + float(clock["s"].replace(",", "."))


def _values(line: str) -> dict[str, float]:
    """The values of a line: `rtt:40/2` gives `rtt` and `rtt/`, rates are in Mbit/s."""
    found: dict[str, float] = {}
    for key, first, second in _PAIR.findall(line):
        found.setdefault(key, float(first))
        if second:
            found.setdefault(f"{key}/", float(second))
    for key, number, scale in _RATE.findall(line):
        found[key] = float(number) * _SCALES[scale]
    return found


def _growth(one: _Connection, key: str = "bytes_acked", otherwise: float = 0.0) -> list[float]:
    """A counter since the log began; `ss` leaves out counters that are zero."""
    values = [said.get(key, otherwise) for said in one.values]
    first = values[0] if one.born_s is None else 0.0
    return [max(value - first, 0.0) for value in values]


def _samples(one: _Connection) -> pl.DataFrame:
    def column(key: str) -> list[float | None]:
        return [values.get(key) for values in one.values]

    def whole(numbers: Sequence[float | None]) -> list[int | None]:
        return [None if number is None else round(number) for number in numbers]

    received = whole(_growth(one))
    columns: dict[str, list[Any]] = {
        "time_s": list(one.times),
        "received_bytes": received,
        "wire_bytes": [round((size or 0) * WIRE) for size in received],
        "sent": whole(_growth(one, "data_segs_out")) if _counts(one, "data_segs_out") else [],
        "delivered": whole(_growth(one, "delivered")) if _counts(one, "delivered") else [],
        "retransmitted": whole(_growth(one, "retrans/")),
        "cwnd": whole(column("cwnd")),
        "ssthresh": whole(column("ssthresh")),
        "in_flight": whole([values.get("unacked", 0.0) for values in one.values]),
        "rtt_ms": column("rtt"),
        "srtt_ms": column("rtt"),
        "min_rtt_ms": column("minrtt"),
        "pacing_mbps": column("pacing_rate"),
        "delivery_mbps": column("delivery_rate"),
    }
    known = {key: values for key, values in columns.items() if values}
    if one.born_s is not None:
        known = {key: [_at_birth(one, key), *values] for key, values in known.items()}
    return samples_of(known)


_COUNTED = ("received_bytes", "wire_bytes", "sent", "delivered", "retransmitted")


def _at_birth(one: _Connection, key: str) -> float | None:
    """The value at the last output without the connection."""
    return one.born_s if key == "time_s" else 0 if key in _COUNTED else None


def _counts(one: _Connection, key: str) -> bool:
    """Whether a counter is shown at all; older kernels lack some."""
    return any(key in values for values in one.values)
