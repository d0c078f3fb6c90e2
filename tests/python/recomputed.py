"""Random scenarios, and what the events of their packets tell, without `narrows.metrics`."""

from __future__ import annotations

import math
import random
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

SEGMENT = 1448
"""Bytes of payload in a full packet of TCP."""
HEADERS = {"tcp": 52, "udp": 28}
HANDSHAKE = 60
"""IP bytes of a SYN, the longest packet without payload."""
Steps = list[tuple[float, float]]
"""Values and the times in s from which they hold, the first from 0 on."""


@dataclass
class Case:
    """A random scenario as text, with the values that the expectations need."""

    text: str
    rates: Steps
    rtts: Steps
    warmup_s: float
    flows: dict[str, dict[str, Any]] = field(default_factory=dict)


def case_of(seed: int) -> Case:
    """The scenario of a seed: its warm-up ends early or late, and half of the paths change."""
    draw = random.Random(seed)
    rate, rtt = draw.choice([3, 8, 20]) * 1e6, draw.choice([12, 40, 130]) / 1e3
    duration, warmup = draw.choice([4, 7]), draw.choice([0.0, 0.31, 1.5])
    case = Case("", [(0.0, rate)], [(0.0, rtt)], warmup)
    lossy = draw.random() < 0.4
    text = f'[path]\nrate = "{rate:.0f}bit"\nrtt = "{rtt * 1e3:.0f}ms"\n'
    text += f'buffer = "{draw.choice([0.6, 1, 3])}bdp"\nloss = {0.01 if lossy else 0.0}\n'
    for number in range(draw.randint(1, 4)):
        entry, flow = _flow(draw, number)
        case.flows[flow["name"]] = flow
        text += entry
    text += _changes(draw, case, duration)
    text += f'[run]\nduration = "{duration}s"\nwarmup = "{warmup}s"\nseed = {seed}\n'
    case.text = text + 'record = "packets"\n'
    return case


def _flow(draw: random.Random, number: int) -> tuple[str, dict[str, Any]]:
    kind = draw.choice(["endless", "endless", "sized", "chain", "udp"])
    start = draw.choice([0.0, 0.0, 0.4])
    name = f"{kind}-{number}"
    flow = {"name": name, "kind": kind, "start_s": start, "headers": HEADERS["tcp"]}
    text = f'[[flows]]\nname = "{name}"\nstart = "{start}s"\n'
    if kind == "udp":
        flow["headers"] = HEADERS["udp"]
        rate = draw.choice([0.5, 2])
        return text + f'cca = "none"\nworkload = {{ kind = "udp", rate = "{rate}mbit" }}\n', flow
    text += f'cca = "{draw.choice(["reno", "cubic", "bbr"])}"\n'
    if kind in ("sized", "chain"):
        flow["size"] = draw.choice([9_000, 150_000, 900_000])
        text += f'size = "{flow["size"]}b"\n'
    if kind == "chain":
        flow["gap_s"] = draw.choice([0.0, 0.05, 0.3])
        text += f'repeat_gap = "{flow["gap_s"]}s"\n'
    if "size" in flow and draw.random() < 0.5:
        flow["deadline_s"] = draw.choice([0.1, 0.6])
        text += f'deadline = "{flow["deadline_s"]}s"\n'
    return text, flow


def _changes(draw: random.Random, case: Case, duration: float) -> str:
    text = ""
    for _ in range(draw.choice([0, 0, 1, 2])):
        at = max(case.rates[-1][0], case.rtts[-1][0]) + draw.choice([0.2, 0.9])
        if at >= duration:
            break
        text += f'[[changes]]\nat = "{at:.1f}s"\n'
        if draw.random() < 0.6:
            case.rates.append((round(at, 1), draw.choice([2, 12, 50]) * 1e6))
            text += f'rate = "{case.rates[-1][1]:.0f}bit"\n'
        else:
            case.rtts.append((round(at, 1), draw.choice([5, 60]) / 1e3))
            text += f'rtt = "{case.rtts[-1][1] * 1e3:.0f}ms"\n'
    return text


def integral(steps: Steps, begin: float, end: float) -> float:
    """The value times seconds in a span."""
    total = 0.0
    for (since, value), (until, _) in pairwise([*steps, (math.inf, 0.0)]):
        total += value * max(min(until, end) - max(since, begin), 0.0)
    return total


def time_to_send(rates: Steps, begin: float, bits: float) -> float:
    """How long a link needs for `bits` from the time `begin` on."""
    for (since, rate), (until, _) in pairwise([*rates, (math.inf, 0.0)]):
        begins = max(since, begin)
        if until <= begin:
            continue
        if bits <= rate * (until - begins):
            return begins + bits / rate - begin
        bits -= rate * (until - begins)
    raise AssertionError("the last rate lasts for ever")


class Events:
    """The events of packets, in their order."""

    def __init__(self, case: Case, rows: list[dict[str, Any]], end_s: float) -> None:
        self.case, self.end_s = case, end_s
        self.rows = [row for row in rows if row["time_s"] <= end_s]
        self.names = list(case.flows)

    def counted_rows(self, *events: str, flow: str | None = None) -> list[dict[str, Any]]:
        """The rows from the warm-up on; without one, those at time 0 count, too."""
        since = self.case.warmup_s if self.case.warmup_s > 0 else -1.0
        return [
            row
            for row in self.rows
            if row["event"] in events
            and row["time_s"] > since + 1e-10
            and (flow is None or self.names[row["flow"]] == flow)
        ]

    def data(self, *events: str, flow: str | None = None) -> list[dict[str, Any]]:
        """Packets with payload."""
        return [row for row in self.counted_rows(*events, flow=flow) if row["size"] > HANDSHAKE]

    def payload(self) -> dict[str, int]:
        """The bytes that each flow's receiver got after the warm-up, each once."""
        seen: set[tuple[int, int, int]] = set()
        new = []
        for row in self.rows:
            key = (row["flow"], row["instance"], row["seq"])
            if row["event"] == "received" and row["size"] > HANDSHAKE and key not in seen:
                seen.add(key)
                new.append(id(row))
        first = set(new)
        found = dict.fromkeys(self.names, 0)
        for row in self.data("received"):
            if id(row) in first:
                name = self.names[row["flow"]]
                found[name] += row["size"] - self.case.flows[name]["headers"]
        return found

    def lives(self, name: str) -> list[tuple[float, float | None]]:
        """Start and end in s of each connection of a flow with a size; no end if it isn't done."""
        flow, number = self.case.flows[name], self.names.index(name)
        last = math.ceil(flow["size"] / SEGMENT)
        starts: dict[int, float] = {}
        ends: dict[int, float] = {}
        for row in self.rows:
            if row["flow"] != number:
                continue
            starts.setdefault(row["instance"], row["time_s"])
            if row["event"] == "ack_received" and row["seq"] >= last:
                ends.setdefault(row["instance"], row["time_s"])
        return [(starts[instance], ends.get(instance)) for instance in sorted(starts)]

    def backlog(self) -> list[tuple[float, int]]:
        """The bytes that wait and for how many seconds, ascending, where the rate is constant."""
        steps: dict[int, int] = defaultdict(int)
        begins, ends = (round(at_s * 1e9) for at_s in (self.case.warmup_s, self.end_s))
        for row, left in self._departures():
            steps[max(round(row["time_s"] * 1e9), begins)] += row["size"]
            steps[max(round(left * 1e9), begins)] -= row["size"]
        waiting, held = 0, []
        for begin, until in pairwise(sorted({*steps, begins, ends})):
            waiting += steps.get(begin, 0)
            held.append(((until - begin) / 1e9, waiting))
        return sorted(((span, size) for span, size in held), key=lambda one: one[1])

    def _departures(self) -> Iterator[tuple[dict[str, Any], float]]:
        """Each packet that waits, with the time at which it stops to."""
        rate = self.case.rates[0][1]
        waiting: dict[tuple[int, int, int], deque[dict[str, Any]]] = defaultdict(deque)
        left = 0.0
        for row in self.rows:
            queue = waiting[row["flow"], row["instance"], row["seq"]]
            if row["event"] == "sent":
                queue.append(row)
            elif row["event"] == "dropped":
                queue.pop()
            elif row["event"] == "forwarded":
                left = row["time_s"]
                yield queue.popleft(), left - row["size"] * 8 / rate
        kept = {id(row) for queue in waiting.values() for row in queue}
        still = [row for row in self.rows if id(row) in kept]
        # The first of those still there is in transmission since the last one left.
        yield from ((row, max(left, row["time_s"])) for row in still[:1])
        yield from ((row, self.end_s) for row in still[1:])


class WeightedValues:
    """Values with weights, and what may be told as their statistics."""

    def __init__(self, rows: list[tuple[float, float]]) -> None:
        self._rows = sorted((row for row in rows if row[0] > 0), key=lambda row: row[1])
        self._total = math.fsum(weight for weight, _ in self._rows)

    def __bool__(self) -> bool:
        return bool(self._rows)

    def has(self, key: str, told: float, bucket: float) -> bool:
        """Returns True if a number may be the "min", "mean", "max" or a percentile such as "p95".

        A percentile may differ by `bucket`, a fraction of the number, from the value that this part
        of the weight doesn't exceed.
        """
        if not key.startswith("p"):
            return agree(self.statistic(key), told)
        share, off = int(key[1:]) / 100, bucket * abs(told) + 1e-6
        below = math.fsum(weight for weight, value in self._rows if value < told - off)
        until = math.fsum(weight for weight, value in self._rows if value <= told + off)
        return below - 1e-9 <= share * self._total <= until + 1e-9

    def statistic(self, key: str) -> float:
        """The statistic itself."""
        values = [value for _, value in self._rows]
        if key == "mean":
            return math.fsum(weight * value for weight, value in self._rows) / self._total
        if key in ("min", "max"):
            return values[0 if key == "min" else -1]
        reached = accumulate(weight for weight, _ in self._rows)
        share = int(key[1:]) / 100 * self._total
        return next(value for value, at in zip(values, reached, strict=True) if at >= share - 1e-9)


def agree(found: float | None, value: Any, rounding: float = 0.0) -> bool:
    """Returns True if a number of the summary is the expected one, up to the error of rounding."""
    if isinstance(value, float) and found is not None:
        return math.isclose(found, value, rel_tol=1e-6, abs_tol=max(rounding, 1e-9))
    return bool(found == value)


def quantile(values: list[float], share: int) -> float:
    """The smallest value that this share of the values doesn't exceed."""
    return sorted(values)[max(math.ceil(share * len(values) / 100), 1) - 1]
