"""Impossible and damaged captures give a message, never a traceback."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import HANG_S

from narrows.analyze import analyze
from narrows.analyze.run import read_captures
from narrows.errors import InputError

SENDER, RECEIVER = b"\x0a\0\0\1", b"\x0a\0\0\2"


def segment(source: bytes, target: bytes, seq: int, ack: int, payload: int) -> bytes:
    """An IPv4 packet with TCP and `payload` bytes of zeros."""
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + payload, 1, 0, 64, 6, 0) + source + target
    ports = (5000, 80) if source == SENDER else (80, 5000)
    return ip + struct.pack(">HHIIBBHHH", *ports, seq, ack, 0x50, 16, 1000, 0, 0) + bytes(payload)


def exchange(count: int = 100) -> list[tuple[float, bytes]]:
    """Packets every 10 ms, acknowledged 5 ms later, from second 1000 on."""
    frames = []
    for number in range(count):
        at, seq = 1000 + number * 0.01, 1 + number * 1000
        frames.append((at, segment(SENDER, RECEIVER, seq, 1, 1000)))
        frames.append((at + 0.005, segment(RECEIVER, SENDER, 1, seq + 1000, 0)))
    return frames


def pcap(path: Path, frames: list[tuple[float, bytes]]) -> Path:
    content = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for at, frame in frames:
        micros = round(at * 1e6)
        times = (micros // 10**6, micros % 10**6)
        content += struct.pack("<IIII", *times, len(frame), len(frame)) + frame
    path.write_bytes(content)
    return path


def refusal(path: Path, out: Path) -> str:
    with pytest.raises(InputError) as caught:
        analyze([path], out=out)
    assert caught.value.place == str(path)
    assert not out.exists()
    return str(caught.value)


def test_a_usual_capture_is_understood(tmp_path: Path) -> None:
    made = read_captures([pcap(tmp_path / "usual.pcap", exchange())])
    assert made.summary["flows"][0]["goodput_mbps"] == pytest.approx(0.8, rel=0.02)


def test_packets_of_one_instant_are_refused(tmp_path: Path) -> None:
    path = pcap(tmp_path / "instant.pcap", [(1000, frame) for _, frame in exchange()])
    assert "found packets of a single instant; " in refusal(path, tmp_path / "out")


def test_times_that_descend_are_refused(tmp_path: Path) -> None:
    path = pcap(tmp_path / "descending.pcap", exchange()[::-1])
    said = refusal(path, tmp_path / "out")
    assert "found 199 of 200 segments earlier than one before them; " in said
    assert "in the order of time, as `reordercap` makes one" in said


def test_a_capture_of_more_than_eleven_days_is_refused_with_its_length(tmp_path: Path) -> None:
    late = [(at + 1.2e6, frame) for at, frame in exchange(101)[-2:]]
    path = pcap(tmp_path / "long.pcap", exchange() + late)
    said = refusal(path, tmp_path / "out")
    assert "found packets 1200001 s apart (13.9 days); at most 1000000 s (11.6 days)" in said


def test_damaged_captures_give_results_or_messages(tmp_path: Path) -> None:
    whole = pcap(tmp_path / "whole.pcap", exchange(20)).read_bytes()
    path, results = tmp_path / "damaged.pcap", 0
    for case in range(300):
        dice, content = random.Random(f"1 {case}"), bytearray(whole)
        for _ in range(dice.randint(1, 6)):
            at = dice.randrange(len(content))
            content[at : at + dice.randrange(3)] = dice.randbytes(dice.randrange(3))
        path.write_bytes(content)
        try:
            read_captures([path], packets=True)
            results += 1
        except InputError as error:
            assert "found" in str(error), case  # noqa: PT017
        except BaseException as error:
            error.add_note(f"case {case}")
            raise
    assert 0 < results < 300


def test_a_missing_file_gives_one_line(tmp_path: Path) -> None:
    """In a process of its own, which ends while it still loads the libraries for the results."""
    command = [sys.executable, "-m", "narrows", "analyze", str(tmp_path / "none.pcap")]
    told = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S, check=False)
    assert told.returncode == 2
    assert len(told.stderr.splitlines()) == 1, told.stderr
    assert "found no such file" in told.stderr
