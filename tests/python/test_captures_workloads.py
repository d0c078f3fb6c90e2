"""Captures of flows whose connections run side by side, or pause: short packets anywhere."""

from __future__ import annotations

import polars as pl
import pytest
from captured import CapturedRun, capture_run
from strict_pcapng import FIN, SYN
from test_qlog import records

CROWDED = """\
name = "crowded"

[path]
rate = "20mbit"
rtt = "20ms"
buffer = "0.5bdp"

[[flows]]
name = "web"
cca = "cubic"
workload = { kind = "poisson", rate = "60/s", size = { kind = "exponential", mean = "15kb" } }
[[flows]]
name = "answers"
cca = "bbr"
workload = { kind = "requests", size = { kind = "uniform", min = "1kb", max = "300kb" } }

[run]
duration = "3s"
warmup = "0s"
record = "packets"
"""
FIRST = 1_000_000_001


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> CapturedRun:
    return capture_run(tmp_path_factory.mktemp("crowded"), CROWDED, qlog=True)


def completions(run: CapturedRun, flow: int) -> dict[int, int]:
    """Payload of what was completed, by its number."""
    table = pl.DataFrame(run.output.tables["completions"]).filter(pl.col("flow") == flow)
    return dict(table.select("instance", "size_bytes").rows())


def test_bytes_follow_each_other(run: CapturedRun) -> None:
    """In each connection every new packet begins where the one before ended."""
    ends: dict[int, int] = {}
    short: set[int] = set()
    for packet in run.packets("sender", True):
        port = packet.source[1] * 2 + (packet.source[0] == "10.0.0.2")
        if packet.flags & SYN:
            ends.setdefault(port, FIRST)
        elif packet.payload and packet.seq >= ends[port]:
            assert packet.seq == ends[port]
            ends[port] += packet.payload
            short |= {port} if packet.payload < 1448 else set()
    assert len(ends) > 100
    assert len(short) > 100


def test_fins_end_what_was_completed(run: CapturedRun) -> None:
    """A connection of a crowd ends with its size; a session's stays open."""
    fins, acked = {}, {}
    for packet in run.packets("sender"):
        if packet.out and packet.flags & FIN:
            assert packet.source[0] == "10.0.0.1"
            fins[packet.source[1] - 10_000] = packet.seq + packet.payload
        elif not packet.out and packet.destination[0] == "10.0.0.1":
            acked[packet.destination[1] - 10_000] = packet.ack
    for instance, size in completions(run, 0).items():
        assert fins[instance] == FIRST + size
        assert acked[instance] == FIRST + size + 1
    assert len(completions(run, 1)) > 3


def test_qlogs_tell_connections_apart(run: CapturedRun) -> None:
    _, *events = records(run.directory / "web.sqlog")
    sizes: dict[str, int] = {}
    for event in events:
        if event["name"] == "transport:packet_sent":
            frame = event["data"]["frames"][0]
            end = frame["offset"] + frame["length"]
            sizes[event["group_id"]] = max(end, sizes.get(event["group_id"], 0))
    for instance, size in completions(run, 0).items():
        assert sizes[f"web {instance}"] == size
    assert {event["name"].split(":")[0] for event in events} == {"connectivity", "transport"}


def test_a_session_is_one_connection(run: CapturedRun) -> None:
    header, *events = records(run.directory / "answers.sqlog")
    assert header["trace"]["title"] == "answers"
    assert not any("group_id" in event for event in events)
    starts = [e for e in events if e["name"] == "connectivity:connection_started"]
    assert len(starts) == 1
    assert any(event["name"] == "recovery:metrics_updated" for event in events)
