"""A strict decoder of pcapng files of raw IP, and of TCP in them; whatever is odd is an error.

It shares nothing with narrows, so that both can't be wrong in the same way.
"""

from __future__ import annotations

import itertools
import struct
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

SECTION, INTERFACE, NAMES, STATISTICS, PACKET = 0x0A0D0D0A, 1, 4, 5, 6
LINKTYPE_RAW = 101
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR, AE = (1 << bit for bit in range(9))


@dataclass(frozen=True)
class Segment:
    """A packet: `at` in ns, `out` whether it left the point, TCP's fields as on the wire."""

    at: int
    out: bool
    source: tuple[str, int]
    destination: tuple[str, int]
    ecn: int
    seq: int
    ack: int
    flags: int
    window: int
    options: dict[int, bytes]
    payload: int
    length: int
    kept: int

    @property
    def stamps(self) -> tuple[int, int]:
        """TSval and TSecr."""
        value, echo = struct.unpack(">II", self.options[8])
        return value, echo

    @property
    def sacks(self) -> list[tuple[int, int]]:
        """The SACK blocks."""
        words = struct.unpack(f">{len(self.options.get(5, b'')) // 4}I", self.options.get(5, b""))
        return list(zip(words[::2], words[1::2], strict=True))


@dataclass(frozen=True)
class Capture:
    """A file: its packets, the interface's name and snap length, names of addresses."""

    packets: list[Segment]
    interface: str
    snaplen: int
    names: dict[str, str]


@dataclass(frozen=True)
class Frame:
    """A packet as it was captured: `at` in ns, `out` whether it left the point."""

    at: int
    out: bool
    data: bytes
    length: int


@dataclass(frozen=True)
class File:
    """A file of any packets; `received` and `dropped` are the interface's counters."""

    frames: list[Frame]
    comment: str
    interface: str
    snaplen: int
    names: dict[str, str]
    received: int
    dropped: int


def read(path: Path) -> Capture:
    """Reads a file of one section with one interface; AssertionError if anything is odd."""
    file = read_frames(path)
    assert file.names
    packets = [_ip(frame.at, frame.out, frame.data, frame.length) for frame in file.frames]
    return Capture(packets, file.interface, file.snaplen, file.names)


def read_frames(path: Path) -> File:
    """Reads a file of one section with one interface, without a look into the packets."""
    blocks = list(_blocks(path.read_bytes()))
    assert [kind for kind, _ in blocks[:2]] == [SECTION, INTERFACE]
    names = [body for kind, body in blocks[2:3] if kind == NAMES]
    packets = blocks[2 + len(names) : -1]
    assert blocks[-1][0] == STATISTICS
    assert {kind for kind, _ in packets} <= {PACKET}
    assert struct.unpack_from("<IHHq", blocks[0][1]) == (0x1A2B3C4D, 1, 0, -1)
    section = dict(_options(blocks[0][1][16:]))
    assert section[4].startswith(b"narrows ")
    link, reserved, snaplen = struct.unpack_from("<HHI", blocks[1][1])
    about = dict(_options(blocks[1][1][8:]))
    assert (link, reserved, about[9]) == (LINKTYPE_RAW, 0, b"\x09")
    frames = [_frame(body, snaplen) for _, body in packets]
    assert all(a.at <= b.at for a, b in itertools.pairwise(frames)), "times go back"
    counters = dict(_options(blocks[-1][1][12:]))
    received, dropped = (struct.unpack("<Q", counters[code])[0] for code in (4, 5))
    assert received == len(frames) + dropped
    return File(
        frames,
        section[1].decode(),
        about[2].decode(),
        snaplen,
        dict(_names(names[0])) if names else {},
        received,
        dropped,
    )


def _blocks(data: bytes):
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0
        assert length >= 12
        assert at + length <= len(data)
        assert struct.unpack_from("<I", data, at + length - 4) == (length,)
        yield kind, data[at + 8 : at + length - 4]
        at += length


def _options(data: bytes):
    at = 0
    while True:
        code, length = struct.unpack_from("<HH", data, at)
        if code == 0:
            assert length == 0
            assert at + 4 == len(data), "something after the last option"
            return
        yield code, data[at + 4 : at + 4 + length]
        padded = -(-length // 4) * 4
        assert not any(data[at + 4 + length : at + 4 + padded])
        at += 4 + padded


def _names(data: bytes):
    for code, value in _options(data):
        size = {1: 4, 2: 16}[code]
        assert value[-1] == 0
        assert 0 not in value[size:-1]
        yield str(ip_address(value[:size])), value[size:-1].decode()


def _frame(body: bytes, snaplen: int) -> Frame:
    interface, high, low, kept, length = struct.unpack_from("<IIIII", body)
    padded = -(-kept // 4) * 4
    data = body[20 : 20 + kept]
    way = dict(_options(body[20 + padded :]))[2]
    assert interface == 0
    assert kept <= min(length, snaplen or length)  # 0 is no limit
    assert struct.unpack("<I", way)[0] in (1, 2)
    return Frame(high << 32 | low, way[0] == 2, data, length)


def _ip(at: int, out: bool, data: bytes, length: int) -> Segment:
    if data[0] >> 4 == 4:
        assert data[0] == 0x45
        assert struct.unpack_from(">H", data, 2) == (length,)
        assert data[9] == 6
        assert _sum(data[:20]) == 0xFFFF, "IP header checksum"
        source, destination, tcp, traffic = data[12:16], data[16:20], data[20:], data[1]
    else:
        assert data[0] >> 4 == 6
        assert data[6] == 6
        assert struct.unpack_from(">H", data, 4) == (length - 40,)
        source, destination, tcp = data[8:24], data[24:40], data[40:]
        traffic = (data[0] & 15) << 4 | data[1] >> 4
    assert traffic >> 2 == 0
    size = length - (len(data) - len(tcp))
    pseudo = source + destination + struct.pack(">II", size, 6)
    header = (tcp[12] >> 4) * 4
    assert not any(tcp[header:]), "a payload that isn't zeros"
    assert _sum(pseudo + tcp[:header]) == 0xFFFF, "TCP checksum"
    ports = struct.unpack_from(">HH", tcp)
    seq, ack, word, window, _, urgent = struct.unpack_from(">IIHHHH", tcp, 4)
    flags = word & 0xFFF
    assert flags < 2 * AE
    assert urgent == 0
    assert not flags & (URG | RST)
    options = dict(_tcp_options(tcp[20:header]))
    return Segment(
        at=at,
        out=out,
        source=(str(ip_address(source)), ports[0]),
        destination=(str(ip_address(destination)), ports[1]),
        ecn=traffic & 3,
        seq=seq,
        ack=ack,
        flags=flags,
        window=window,
        options=options,
        payload=size - header,
        length=length,
        kept=len(data),
    )


def _tcp_options(data: bytes):
    at = 0
    while at < len(data):
        if data[at] == 1:
            at += 1
            continue
        kind, length = data[at], data[at + 1]
        assert kind != 0
        assert length >= 2
        assert at + length <= len(data)
        yield kind, data[at + 2 : at + length]
        at += length


def _sum(data: bytes) -> int:
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total >> 16) + (total & 0xFFFF)
    return total
