"""Captures of a kernel in virtual time."""

from __future__ import annotations

from pathlib import Path

import pytest
from required import needs, require
from specimens import GOOD, scenario_of
from strict_pcapng import AE, CWR, ECE, SYN, Frame, read_frames

from narrows.analyze import analyze
from narrows.backends import CaptureRequest, get_backend
from narrows.backends.linux.traffic import FIRST_PORT
from narrows.backends.protocol import CapturingBackend
from narrows.backends.uml import Uml, get_kernel, kernels
from narrows.metrics import summarise
from narrows.store import CaptureOptions

pytestmark = needs("uml")

CE = 3
HOSTS, QUEUE = ("receiver", "sender"), ("after-queue", "before-queue")


@pytest.mark.parametrize(
    ("change", "points"),
    [("path.queue=droptail", HOSTS), ("path.queue=dualpi2", (*QUEUE, *HOSTS))],
    ids=["one guest", "the router's path"],
)
def test_captures_tell_what_the_tables_tell(
    tmp_path: Path, change: str, points: tuple[str, ...]
) -> None:
    uml = Uml(get_kernel().name)
    scenario = scenario_of(GOOD, [change, "run.duration=2s", "run.warmup=100ms"])
    request = CaptureRequest(CaptureOptions(pcap=True), tmp_path)
    result = uml.run(scenario, None, request)
    assert list(result.captures) == [f"{point}.pcapng" for point in points]
    frames = {point: read_frames(tmp_path / f"{point}.pcapng").frames for point in points}
    for point in points:
        assert len(frames[point]) == result.captures[f"{point}.pcapng"] > 800
        times = [frame.at for frame in frames[point]]
        assert times == sorted(times)

    # The flow starts at 0, though the tool has waited for 23.5 s then.
    assert 0 <= frames["sender"][0].at < 50_000

    data = {point: [f for f in frames[point] if is_data(f)] for point in points}
    last = result.tables["flow_samples"].row(-1, named=True)
    assert len(data["sender"]) == pytest.approx(last["sent"], abs=2)
    assert sum(map(payload, data["receiver"])) == pytest.approx(last["received_bytes"], abs=5000)
    # Half of 20 ms, and the 1.5 ms of its transmission.
    first = {point: data[point][0].at for point in HOSTS}
    assert 11.4e6 < first["receiver"] - first["sender"] < 11.6e6

    flow = analyze([tmp_path / "sender.pcapng"], out=tmp_path / "found").findings["flows"][0]
    summary = summarise(scenario, result.tables, result.info)["flows"][0]
    assert flow["goodput_mbps"] == pytest.approx(summary["goodput_mbps"], rel=0.05)
    assert flow["rtt_ms"]["mean"] == pytest.approx(summary["rtt_ms"]["mean"], rel=0.05)
    if points == HOSTS:
        return
    queue = result.tables["queue_samples"].row(-1, named=True)
    passed = [sum(to_receiver(frame) for frame in frames[point]) for point in QUEUE]
    assert passed == [queue["forwarded_packets"], queue["arrived_packets"]]
    assert uml.run(scenario).info.digest == result.info.digest, "captures change nothing"


def test_a_handshake_of_14_seconds_is_the_simulators(tmp_path: Path) -> None:
    slow = ["path.rate=1mbit", "path.rtt=14s", "path.buffer=300kb", "run.duration=22s"]
    scenario = scenario_of(GOOD, slow)
    ways: list[tuple[str, CapturingBackend]] = [
        ("uml", Uml(get_kernel().name)),
        ("sim", get_backend("sim")),
    ]
    small = {}
    for name, backend in ways:
        (tmp_path / name).mkdir()
        backend.run(scenario, None, CaptureRequest(CaptureOptions(pcap=True), tmp_path / name))
        for end in HOSTS:
            frames = read_frames(tmp_path / name / f"{end}.pcapng").frames
            small[name, end] = [f for f in frames if f.length < 1000 and f.at < 22e9]
    # Eight SYNs, with the answers to all and to some timeouts, and the answers to these. A SYN
    # takes 0.1 ms more on uml, where tc counts its Ethernet header.
    for end in HOSTS:
        theirs, ours = small["uml", end], small["sim", end]
        assert [(f.out, f.length) for f in theirs] == [(f.out, f.length) for f in ours]
        assert len(theirs) > 20
        assert max(abs(a.at - b.at) for a, b in zip(theirs, ours, strict=True)) < 300_000


MARKS = 'path.queue={ kind = "codel", ecn = true, target = "1s", ce_threshold = "2ms" }'


def test_receivers_count_marks_as_the_simulators_do(tmp_path: Path) -> None:
    newest = next((kernel for kernel in kernels() if kernel.profile == "linux-7.3"), None)
    require("uml", "" if newest else "no kernel with accurate ECN: Linux 7.0 or later")
    assert newest is not None
    changes = ["flows.0.ecn=accurate", "host.profile=linux-7.3", "run.duration=5s", MARKS]
    scenario = scenario_of(GOOD, changes)
    ways: list[tuple[str, CapturingBackend]] = [
        ("uml", Uml(newest.name)),
        ("sim", get_backend("sim")),
    ]
    handshake = {}
    for name, backend in ways:
        (tmp_path / name).mkdir()
        backend.run(scenario, None, CaptureRequest(CaptureOptions(pcap=True), tmp_path / name))
        packets = read_frames(tmp_path / name / "receiver.pcapng").frames
        handshake[name] = [flags(packet) for packet in packets[:3]]
        marked = sum(packet.data[1] & 3 == CE for packet in packets if not packet.out)
        counted = [flags(packet) // ECE & 7 for packet in packets if packet.out][-1]
        assert marked > 20
        # The counter begins at 5 (RFC 9768, section 3.2.1) and has three bits.
        assert counted == (5 + marked) % 8, name
    assert handshake["uml"] == handshake["sim"]
    assert handshake["uml"][0] == SYN | ECE | CWR | AE


def flags(frame: Frame) -> int:
    return int.from_bytes(frame.data[32:34]) & 0x1FF


def to_receiver(frame: Frame) -> bool:
    return int.from_bytes(frame.data[22:24]) == FIRST_PORT


def payload(frame: Frame) -> int:
    return int.from_bytes(frame.data[2:4]) - 20 - (frame.data[32] >> 4) * 4


def is_data(frame: Frame) -> bool:
    return to_receiver(frame) and payload(frame) > 0
