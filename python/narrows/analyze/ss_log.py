"""Logs of `ss -tin` in a loop, with the time before each output or each line.

    while sleep 0.1; do date +%s.%N; ss -tin dst 10.0.0.2; done > ss.log

A time is seconds since the epoch, or has the form HH:MM:SS as in what `date`, `date -Ins` and `ts`
write. Connections are told apart by their addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

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
_DAY_S, _HALF_S = 86_400.0, 43_200.0


@dataclass
class SsConnection:
    """The samples of a connection: their times, and what `ss` says there."""

    born_s: float | None
    """The time of the last output without it; None if the first one has it."""
    control: str | None = None
    times: list[float] = field(default_factory=list)
    values: list[Mapping[str, float]] = field(default_factory=list)


def matches(content: bytes) -> bool:
    """Returns True if a file begins like a log of `ss -tin`."""
    return _INFO.search(content[:20_000].decode("utf-8", "replace")) is not None


def connections(text: str) -> dict[str, SsConnection]:
    """The connections by their addresses, in the order of their first lines."""
    known: dict[str, SsConnection] = {}
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
        one = known.setdefault(key, SsConnection(before_s))
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


def growth(one: SsConnection, key: str = "bytes_acked", otherwise: float = 0.0) -> list[float]:
    """A counter since the log began; `ss` leaves out counters that are zero."""
    values = [said.get(key, otherwise) for said in one.values]
    first = values[0] if one.born_s is None else 0.0
    return [max(value - first, 0.0) for value in values]
