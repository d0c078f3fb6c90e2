"""The programs of a guest: the receiver, and senders that write as a case says."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
import time
from pathlib import Path
from typing import Any

PORT = 5001
RECEIVER = "10.0.4.2"
IPV4, SO_RCVBUFFORCE = 0x0800, 33
DEVICES = ("e21", "e30")
"""The devices of the policer, in the direction of the data."""
NEXT_HOP = bytes.fromhex("020000000302020000000301")
"""Destination and source of a frame that leaves it."""
CHUNK = b"\0" * (1 << 16)


def receive(case: dict[str, Any]) -> None:
    """Takes every connection; reads the first one's data as slowly as the case says."""
    for number in range(1 + len(case.get("others", ()))):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if number == 0 and "rcvbuf" in case:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, case["rcvbuf"])
        listener.bind((RECEIVER, PORT + number))
        listener.listen()
        mbps = case.get("read_mbps") if number == 0 else None
        threading.Thread(target=_read, args=(listener, mbps), daemon=True).start()
    while True:
        time.sleep(1000)


def _read(listener: socket.socket, mbps: float | None) -> None:
    connection, _ = listener.accept()
    with contextlib.suppress(OSError):
        if mbps is None:
            while connection.recv(1 << 18, socket.MSG_WAITALL):
                pass
            return
        piece = round(mbps * 1e6 / 8 * 0.02)
        while connection.recv(piece, socket.MSG_WAITALL):
            time.sleep(0.02)


def send(case: dict[str, Any], number: int) -> None:
    """Connects and writes: 0 is the observed flow, others compete with it."""
    sender = socket.socket()
    cca = case["others"][number - 1] if number else case["cca"]
    sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cca.encode())
    if number == 0 and "sndbuf" in case:
        sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, case["sndbuf"])
    sender.connect((RECEIVER, PORT + number))
    with contextlib.suppress(OSError):
        if number == 0 and "size_bytes" in case:
            sender.sendall(b"\0" * case["size_bytes"])
        elif number == 0 and "piece_bytes" in case:
            _write_pieces(sender, case)
        else:
            _write_until(sender, time.monotonic() + case["duration_s"] + (4 if number else 0))
    if number == 0:
        sender.shutdown(socket.SHUT_WR)
        time.sleep(1.0)


def _write_until(sender: socket.socket, end: float) -> None:
    sender.settimeout(0.5)
    while time.monotonic() < end:
        with contextlib.suppress(TimeoutError):
            sender.send(CHUNK)


def _write_pieces(sender: socket.socket, case: dict[str, Any]) -> None:
    piece, begin = b"\0" * case["piece_bytes"], time.monotonic()
    for number in range(int(case["duration_s"] / case["interval_s"])):
        time.sleep(max(begin + number * case["interval_s"] - time.monotonic(), 0))
        sender.sendall(piece)


def police(case: dict[str, Any]) -> None:
    """Passes frames from one device to the next as long as a token bucket has enough for them."""
    ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(IPV4)) for _ in DEVICES]
    for end, device in zip(ends, DEVICES, strict=True):
        end.bind((device, IPV4))
    ends[0].setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
    rate, burst = case["police_mbps"] * 1e6 / 8, float(case["police_burst"])
    tokens, last = burst, time.monotonic()
    while True:
        frame, (_, _, kind, *_) = ends[0].recvfrom(2048)
        if kind == socket.PACKET_OUTGOING:
            continue
        now = time.monotonic()
        tokens, last = min(tokens + (now - last) * rate, burst), now
        if len(frame) <= tokens:
            tokens -= len(frame)
            ends[1].send(NEXT_HOP + frame[12:])


def main() -> None:
    """`guest.py CASE receive`, `guest.py CASE police`, or `guest.py CASE NUMBER`."""
    case = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if sys.argv[2] == "receive":
        receive(case)
    elif sys.argv[2] == "police":
        police(case)
    else:
        send(case, int(sys.argv[2]))


if __name__ == "__main__":
    main()
