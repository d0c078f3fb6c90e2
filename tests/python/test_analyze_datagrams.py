"""Captures without TCP: pings, UDP, and QUIC by its spin bit."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest
from specimens import run_cli

from narrows.analyze import Datagrams, analyze, describe
from narrows.errors import InputError

Frame = tuple[float, bytes]
CLIENT, SERVER = b"\x0a\x00\x00\x02", b"\x0a\x00\x00\x01"


def ip(source: bytes, destination: bytes, protocol: int, payload: bytes) -> bytes:
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0, 64, protocol, 0)
    return head + source + destination + payload


def ping(number: int, reply: bool) -> bytes:
    ends = (SERVER, CLIENT) if reply else (CLIENT, SERVER)
    return ip(*ends, 1, struct.pack(">BBHHH", 0 if reply else 8, 0, 0, 7, number) + bytes(48))


def udp(forward: bool, payload: bytes, ports: tuple[int, int] = (50_000, 4433)) -> bytes:
    ends, ways = ((CLIENT, SERVER), ports) if forward else ((SERVER, CLIENT), ports[::-1])
    return ip(*ends, 17, struct.pack(">HHHH", *ways, 8 + len(payload), 0) + payload)


def write(file: Path, frames: Iterable[Frame]) -> Path:
    """A pcap of raw IP."""
    content = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    for time_s, frame in sorted(frames, key=lambda pair: pair[0]):
        micros = round(time_s * 1e6)
        lengths = (len(frame), len(frame))
        content += struct.pack("<IIII", *divmod(micros, 1_000_000), *lengths) + frame
    file.write_bytes(content)
    return file


def pings() -> list[Frame]:
    """Ten pings of 30 ms; two have no answer."""
    asked = [(float(number), ping(number, False)) for number in range(10)]
    answered = [(n + 0.030, ping(n, True)) for n in range(10) if n not in (3, 7)]
    return asked + answered


def quic(rounds: int = 20, rtt_s: float = 0.05, beyond_s: float = 0.04) -> list[Frame]:
    """A handshake and round trips whose bit turns; the capture point is near the client."""
    long = b"\xc0\x00\x00\x00\x01" + bytes(1195)
    frames = [(0.0, udp(True, long)), (beyond_s, udp(False, long))]
    for turn in range(1, rounds):
        begin_s, bits = turn * rtt_s, 0x40 | (0x20 if turn % 2 else 0)
        short = bytes([bits])
        frames += [(begin_s + n * 1e-3, udp(True, short + bytes(30))) for n in range(3)]
        frames += [
            (begin_s + beyond_s + n * 1e-3, udp(False, short + bytes(1199))) for n in range(6)
        ]
    return frames


def test_pings_and_udp_are_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    video = [(0.02 * n, udp(False, b"\x80\x60" + bytes(998), (5004, 5004))) for n in range(100)]
    file = write(tmp_path / "ping.pcap", pings() + video)
    assert run_cli("analyze", str(file)) == 0
    said = capsys.readouterr().out
    assert "ping 10.0.0.2>10.0.0.1: 8 of 10 answered (20.0 % lost), RTT 30.00 ms" in said
    assert "UDP 10.0.0.1:5004>10.0.0.2:5004: 100 packets, 0.404 Mbit/s" in said
    assert "QUIC" not in said
    assert not list(tmp_path.glob("narrows-results"))
    assert run_cli("analyze", str(file), "--json") == 0
    found = json.loads(capsys.readouterr().out)["capture"]
    (report,) = found["files"]
    assert report["datagrams"] == 118
    assert report["pings"][0]["rtt_ms"]["min"] == pytest.approx(30)
    assert found["flows"] == []


def test_quic_shows_round_trips_by_its_spin_bit(tmp_path: Path) -> None:
    made = describe([write(tmp_path / "quic.pcap", quic())])
    assert isinstance(made, Datagrams)
    (found,) = made.findings["files"][0]["quic"]
    assert (found["name"], found["version"]) == ("10.0.0.2:50000>10.0.0.1:4433", "1")
    assert found["spin"] == "turns"
    assert found["rtt_ms"]["p50"] == pytest.approx(50, rel=0.01)
    assert found["to_server_ms"]["min"] == pytest.approx(40)
    assert found["to_client_ms"]["min"] == pytest.approx(10)
    assert found["handshake_ms"] == pytest.approx(40)
    assert found["payload_bytes"][1] > 10 * found["payload_bytes"][0]
    (line,) = (note for note in made.findings["notes"] if "QUIC" in note)
    assert "losses and windows are encrypted" in line


def test_nothing_to_simulate_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path / "ping.pcap", pings())
    assert run_cli("analyze", str(file), "--replay") == 2
    assert "--replay: found no TCP data to simulate" in capsys.readouterr().err
    with pytest.raises(InputError, match="UDP or pings alone"):
        analyze([file])


def test_a_capture_of_neither_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = write(tmp_path / "other.pcap", [(0.0, ip(CLIENT, SERVER, 89, bytes(40)))])
    assert run_cli("analyze", str(file)) == 2
    assert "1 frames, none of them TCP, UDP or a ping" in capsys.readouterr().err
