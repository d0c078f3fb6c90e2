"""Captures of real transfers: at the hosts and at both sides of the bottleneck."""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain
from pathlib import Path
from statistics import median

import pytest
from kernel_here import require_on_time
from required import needs
from specimens import GOOD, scenario_of
from strict_pcapng import read_frames

from narrows.backends import CaptureRequest
from narrows.backends.kernel import Kernel
from narrows.backends.linux.traffic import FIRST_PORT
from narrows.store import CaptureOptions, RunRecord

pytestmark = needs("kernel")

POINTS = ("sender", "before-queue", "after-queue", "receiver")


@pytest.fixture(scope="module")
def capture_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunRecord]:
    """A run with captures, whose queue drops packets early."""
    overrides = ['path.queue={ kind = "codel", limit = "1000pkt" }', "run.duration=1500ms"]
    text = GOOD.replace('buffer = "1bdp"\n', "")
    place = tmp_path_factory.mktemp("captures")
    request = CaptureRequest(CaptureOptions(pcap=True), place)
    return place, Kernel("own").run(scenario_of(text, overrides), None, request)


def test_captures_at_all_points_and_a_queue_that_drops_early(
    capture_run: tuple[Path, RunRecord],
) -> None:
    place, result = capture_run
    assert list(result.captures) == sorted(f"{point}.pcapng" for point in POINTS)
    queue = result.tables["queue_samples"].row(-1, named=True)
    assert result.tables["queue_samples"]["backlog_packets"].max() != 1000
    for name, packets in result.captures.items():
        content = (place / name).read_bytes()
        assert packets > 0
        # Each packet's data are its headers: at least 52 bytes, in a block of 44 more.
        assert packets * 96 <= len(content) <= packets * 164 + 500
    # What the sender sent, less what was dropped and what is on its way.
    lost = result.captures["sender.pcapng"] - result.captures["receiver.pcapng"]
    assert abs(lost) < queue["dropped_packets"] + 150
    assert "missed_by_captures" not in result.info.conditions
    require_on_time(result)
    assert queue["dropped_packets"] > 0
    assert min(result.captures.values()) > 500


def test_captures_are_files_as_the_simulator_writes_them(
    capture_run: tuple[Path, RunRecord],
) -> None:
    place, result = capture_run
    for point in POINTS:
        file = read_frames(place / f"{point}.pcapng")
        assert file.comment.startswith("narrows on Linux")
        assert file.interface == point
        assert len(file.frames) == result.captures[f"{point}.pcapng"]
        assert file.dropped == 0
        assert {frame.out for frame in file.frames} == {False, True}
        # The headers and nothing else; a reset has no options.
        assert {len(frame.data) for frame in file.frames} <= set(range(40, 81, 4))


def test_the_routers_own_captures_fit_its_counters_and_the_hosts(
    capture_run: tuple[Path, RunRecord],
) -> None:
    """Every packet at its instant: what left the sender has arrived at the queue, what the queue
    let through it has sent at its rate, and half a round trip later it is at the receiver."""
    place, result = capture_run
    data = {point: passages(place / f"{point}.pcapng", to_receiver=True) for point in POINTS}
    acks = {point: passages(place / f"{point}.pcapng", to_receiver=False) for point in POINTS}
    times = [sorted(chain(*data[point].values())) for point in POINTS[1:3]]
    for row in result.tables["queue_samples"].iter_rows(named=True):
        at = round(row["time_s"] * 1e9)
        counted = tuple(bisect_right(seen, at) for seen in times)
        assert counted == (row["arrived_packets"], row["forwarded_packets"])
    forward_ms = delays_ms(data["sender"], data["before-queue"])
    assert min(forward_ms) >= 0
    # A full packet takes 1.5 ms at 8 Mbit/s, and no queue is longer than its 1000 packets.
    assert min(delays_ms(data["before-queue"], data["after-queue"])) >= 0
    halves = [("after-queue", "receiver", data), ("receiver", "before-queue", acks)]
    half_ms = [min(delays_ms(seen[first], seen[then])) for first, then, seen in halves]
    reverse_ms = min(delays_ms(acks["before-queue"], acks["sender"]))
    assert min(half_ms) >= 10
    assert set(delays_ms(acks["after-queue"], acks["before-queue"])) == {0.0}
    assert reverse_ms >= 0
    require_on_time(result)
    assert max(half_ms) < 15
    assert max(median(forward_ms), reverse_ms) < 5


def passages(file: Path, *, to_receiver: bool) -> dict[bytes, list[int]]:
    """When each packet of a direction passed, by what no queue changes of its headers."""
    found: dict[bytes, list[int]] = {}
    for frame in read_frames(file).frames:
        destination = int.from_bytes(frame.data[22:24])
        if (destination == FIRST_PORT) == to_receiver:
            found.setdefault(frame.data[2:6] + frame.data[20:], []).append(frame.at)
    return found


def delays_ms(first: dict[bytes, list[int]], then: dict[bytes, list[int]]) -> list[float]:
    """Of the packets that both captures saw as often."""
    both = [(first[key], then[key]) for key in first.keys() & then.keys()]
    return [
        (later - earlier) / 1e6
        for one, other in both
        if len(one) == len(other)
        for earlier, later in zip(one, other, strict=True)
    ]
