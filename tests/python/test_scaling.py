"""Rates times a factor and times divided by it: the same packets, each sooner.

TCP has constants of fixed length: delayed ACKs (40 ms), loss probes and retransmission timeouts in
ticks of 4 ms, the delay of compressed ACKs (1 ms), and 1 ms in `tcp_tso_should_defer`. So the
relation holds exactly where only arriving packets make others leave, and where packets are more
than 1 ms apart: in transfers with fast retransmissions, but not over a long time.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from random_specifications import trial

from narrows.backends import get_backend
from narrows.metrics.summary import summarise

ROUNDING_NS = 3000
"""Linux counts in whole microseconds."""
PATHS = [(buffer, rtt, flows) for buffer in (8, 14, 30) for rtt in (24, 36) for flows in (1, 2, 3)]
Event = tuple[int, int, str, int, int]


def summary_of(document: dict[str, Any]) -> dict[str, Any]:
    """The summary of a run."""
    made = trial(document, Path())
    result = get_backend("sim").run(made.scenario)
    return summarise(made.scenario, result.tables, result.info)


@pytest.mark.parametrize("factor", [2, 4])
def test_datagrams_fare_the_same_where_everything_is_faster(factor: int) -> None:
    """Rates times a factor and times divided by it: the same packets, each sooner."""
    slow, fast = (run_datagrams(scale) for scale in (1, factor))
    for flow, other in zip(slow["flows"], fast["flows"], strict=True):
        assert other["goodput_mbps"] == pytest.approx(factor * flow["goodput_mbps"], rel=1e-9)
        assert other["share"] == pytest.approx(flow["share"], rel=1e-9)
    for name in ("drops", "forwarded"):
        assert slow["bottleneck"][name] == fast["bottleneck"][name] > 0
    for name, value in slow["bottleneck"]["queue_ms"].items():
        assert fast["bottleneck"]["queue_ms"][name] == pytest.approx(value / factor, rel=1e-6)


def run_datagrams(factor: int) -> dict[str, Any]:
    """The summary of two flows of datagrams that fill a queue."""
    flows = [
        {
            "cca": "none",
            "start": f"{start / factor}ms",
            "workload": {"kind": "udp", "rate": f"{rate * factor}kbit", "size": f"{size}b"},
        }
        for start, rate, size in ((0, 2600, 1200), (12, 1800, 500))
    ]
    path = {"rate": f"{4 * factor}mbit", "rtt": f"{40 / factor}ms", "buffer": "30pkt"}
    length = {"duration": f"{2000 / factor}ms", "warmup": f"{400 / factor}ms"}
    return summary_of({"name": "scaled", "path": path, "flows": flows, "run": length})


@pytest.mark.parametrize("profile", ["linux-4.9", "linux-6.12"])
@pytest.mark.parametrize("cca", ["reno", "scalable", "vegas"])
def test_transfers_that_arrivals_clock_scale_exactly(cca: str, profile: str) -> None:
    counted, with_drops = 0, 0
    for buffer, rtt, flows in PATHS:
        slow, fast = (events(cca, profile, buffer, rtt, flows, factor) for factor in (1, 2))
        if not (is_clocked(slow) and is_clocked(fast)):
            continue
        counted += 1
        with_drops += any(event[2] == "dropped" for event in slow)
        assert [event[1:] for event in slow] == [event[1:] for event in fast]
        for before, after in zip(slow, fast, strict=True):
            assert abs(before[0] - 2 * after[0]) <= ROUNDING_NS, (before, after)
    assert counted >= len(PATHS) / 3
    assert with_drops >= 4


def events(cca: str, profile: str, buffer: int, rtt: int, flows: int, factor: int) -> list[Event]:
    """When (in ns) which packet of which flow did what, in transfers of 60 kB."""
    entries = [
        {"cca": cca, "name": f"f{number}", "start": f"{3 * number / factor}ms", "size": "60kb"}
        for number in range(flows)
    ]
    document = {
        "name": "scaled",
        "path": {
            "rate": f"{5 * factor}mbit",
            "rtt": f"{rtt / factor}ms",
            "buffer": f"{buffer}pkt",
        },
        "host": {"jitter": "0s", "fq": False, "socket_buffers": "unlimited", "profile": profile},
        "flows": entries,
        "run": {"record": "packets", "duration": f"{8000 / factor}ms"},
    }
    packets = get_backend("sim").run(trial(document, Path()).scenario).tables["packets"]
    return [
        (round(time_s * 1e9), *row)
        for time_s, *row in packets.select("time_s", "flow", "event", "seq", "size").rows()
    ]


def is_clocked(found: list[Event]) -> bool:
    """Returns True if packets leave only when others arrive, so that no timer made one leave."""
    at: dict[str, set[tuple[int, int]]] = defaultdict(set)
    begins: dict[int, int] = {}
    for time_ns, flow, event, *_ in found:
        at[event].add((time_ns, flow))
        begins.setdefault(flow, time_ns)
    sent = {(time_ns, flow) for time_ns, flow in at["sent"] if time_ns != begins[flow]}
    return at["ack_sent"] <= at["received"] and sent <= at["ack_received"]
