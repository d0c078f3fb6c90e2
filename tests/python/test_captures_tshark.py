"""tshark reads our captures without a complaint, and sees what the simulator recorded.

What tshark calls a retransmission and what "out of order" is a guess by time (a
retransmission that follows new data within a round trip is "out of order" to it), so
the two are counted as one here; docs/reference/captures.md says more.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from captured import LOSSY, CapturedRun, capture_run
from required import needs
from specimens import TOGETHER
from test_captures_workloads import CROWDED
from waiting import HANG_S

TSHARK = shutil.which("tshark")
pytestmark = needs("tshark")

AGAIN = ("retransmission", "fast_retransmission", "spurious_retransmission", "out_of_order")
REPEATED = ("duplicate_ack", "window_update")
UNSEEN = ("lost_segment",)
COMPLAINTS = ("ack_lost_segment", "reused_ports", "keep_alive", "zero_window", "window_full")
FIELDS = (
    *(f"tcp.analysis.{name}" for name in (*AGAIN, *REPEATED, *UNSEEN, *COMPLAINTS)),
    "_ws.malformed",
    "tcp.checksum.status",
    "ip.checksum.status",
)
GOOD_CHECKSUM, UNVERIFIED = "1", "2"
SYN_SIZE = 60
"""Bytes; the other packet without payload that reaches a receiver has 52."""

RUNS = {
    "shallow": (LOSSY, ()),
    "deep": (LOSSY, ("path.buffer=4bdp", "flows.1.cca=reno")),
    "far": (LOSSY, ("path.rtt=80ms", "path.loss=0.001", "flows.1.cca=copa")),
    "chain": (TOGETHER, ("run.seed=3",)),
    "crowd": (CROWDED, ()),
}


@pytest.fixture(scope="module", params=RUNS)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CapturedRun:
    text, overrides = RUNS[request.param]
    snaplen = 65_535 if request.param == "shallow" else None
    return capture_run(tmp_path_factory.mktemp(request.param), text, overrides, snaplen)


class Dissection:
    """tshark's reading of a file: its fields by frame, from 0 on."""

    def __init__(self, file: Path) -> None:
        options = [f"-e{field}" for field in FIELDS]
        checks = ["-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"]
        command = [str(TSHARK), "-r", str(file), *checks, "-T", "fields", *options]
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG_S)
        complaints = [line for line in told.stderr.splitlines() if "Running as" not in line]
        assert not complaints
        self._rows = [line.split("\t") for line in told.stdout.splitlines()]

    def __len__(self) -> int:
        return len(self._rows)

    def values(self, field: str) -> set[str]:
        """Everything that a field says."""
        return {row[FIELDS.index(field)] for row in self._rows}

    def frames(self, names: Iterable[str]) -> set[int]:
        """The frames with one of these findings."""
        at = [FIELDS.index(f"tcp.analysis.{name}") for name in names]
        return {frame for frame, row in enumerate(self._rows) if any(row[i] for i in at)}


@cache
def dissect(file: Path) -> Dissection:
    return Dissection(file)


def number_rows(run: CapturedRun, point: str, out: bool, event: str) -> list[tuple[int, tuple]]:
    """The simulator's rows with the frames in which they must be."""
    frames = [n for n, packet in enumerate(run.packets(point)) if packet.out == out]
    return list(zip(frames, run.events(event), strict=True))


@pytest.mark.parametrize("point", ["sender", "receiver", "before-queue", "after-queue"])
def test_nothing_is_malformed(run: CapturedRun, point: str) -> None:
    dissection = dissect(run.file(point))
    assert len(dissection) == len(run.packets(point))
    assert dissection.values("_ws.malformed") == {""}
    assert dissection.values("ip.checksum.status") == {GOOD_CHECKSUM}
    whole = run.capture(point).snaplen > 1500
    expected = {GOOD_CHECKSUM} if whole else {GOOD_CHECKSUM, UNVERIFIED}
    assert dissection.values("tcp.checksum.status") == expected
    assert not dissection.frames(COMPLAINTS)


def test_the_sender_resends_what_the_simulator_resent(run: CapturedRun) -> None:
    dissection = dissect(run.file("sender"))
    sent = number_rows(run, "sender", True, "sent")
    resent = {frame for frame, (*_, again) in sent if again}
    assert len(resent) > 3
    assert dissection.frames(AGAIN) == resent
    assert not dissection.frames(UNSEEN)


def test_the_sender_gets_the_duplicate_acks(run: CapturedRun) -> None:
    dissection = dissect(run.file("sender"))
    last: dict[tuple[int, int], int] = {}
    repeated = set()
    for frame, (_, flow, instance, seq, _, _) in number_rows(run, "sender", False, "ack_received"):
        if last.get((flow, instance)) == seq:
            repeated.add(frame)
        last[flow, instance] = seq
    assert len(repeated) > 20
    assert dissection.frames(REPEATED) == repeated
    assert dissection.frames(("duplicate_ack",))


def test_the_receiver_sees_the_gaps(run: CapturedRun) -> None:
    dissection = dissect(run.file("receiver"))
    expected: dict[tuple[int, int], int] = {}
    gaps, late = set(), set()
    for frame, (_, flow, instance, seq, size, _) in number_rows(run, "receiver", False, "received"):
        if size <= SYN_SIZE:
            continue
        edge = expected.setdefault((flow, instance), 0)
        if seq > edge:
            gaps.add(frame)
        elif seq < edge:
            late.add(frame)
        expected[flow, instance] = max(edge, seq + 1)
    assert gaps
    assert late
    assert dissection.frames(UNSEEN) == gaps
    assert dissection.frames(AGAIN) == late
