"""Compares shares of limited time with the kernel's on M-Lab's files: `mlab.py ARCHIVE...`.

An archive of NDT (`*.tgz`, of the years with Web100's kernel) holds tests from the server to a
client, some with the capture (`s2c_ndttrace`) and the log of the server's kernel (`s2c_snaplog`).
At any time that kernel says what limits a sender: the receiver's window, the congestion window, or
the sender itself (application and socket buffer). The difference is taken over the time that the
capture shows. Tests without one of the two files are passed over.
"""

from __future__ import annotations

import gzip
import re
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from narrows.analyze.run import read_captures
from narrows.errors import InputError

NEAR = 0.10
"""Shares that differ by no more than this agree."""
COUNTERS = {
    "receiver": "SndLimTimeRwin",
    "network": "SndLimTimeCwnd",
    "sender": "SndLimTimeSender",
}
"""The kernel's three states and the counters of their time in microseconds (RFC 4898)."""
ENTRIES = {
    "receiver": "SndLimTransRwin",
    "network": "SndLimTransCwnd",
    "sender": "SndLimTransSender",
}
"""How often the kernel entered each state."""
GROUPS = {"receiver_window": "receiver", "application": "sender", "send_buffer": "sender"}
"""Causes by the state in which the kernel counts their time; the rest are the network's."""
_HEADER_END, _SNAP = b"----End-Of-Header----", b"----Begin-Snap-Data----\n"
_FIELD = re.compile(r"(\w+) (\d+) \d+ (\d+)$")
_BEGIN = re.compile(r"(?P<test>[^/]+?Z)_[^/]*\.(?P<kind>s2c_ndttrace|s2c_snaplog)(\.gz)?$")


@dataclass(frozen=True)
class Snapshot:
    """The kernel's counters at an instant, in seconds since 1970.

    By state: microseconds spent in it until the last count, and how often it was entered.
    """

    time_s: float
    spent_us: Mapping[str, int]
    entered: Mapping[str, int]


def fields(header: str) -> dict[str, tuple[int, int]]:
    """Offset and size of each variable of the group `/read`, as the header of a log states them."""
    group = header.partition("\n/read\n")[2].partition("\n/")[0]
    found = (_FIELD.match(line) for line in group.splitlines())
    return {match[1]: (int(match[2]), int(match[3])) for match in found if match}


def snapshots(log: bytes) -> list[Snapshot]:
    """The snapshots of a log of Web100: seconds since 1970, and the variables used here."""
    header, _, rest = log.partition(_HEADER_END)
    places = fields(header.decode("latin1"))
    length = max(at + size for at, size in places.values())

    def value(record: bytes, name: str) -> int:
        at, size = places[name]
        return int.from_bytes(record[at : at + size], "little")

    found = []
    place = rest.find(_SNAP)
    while place >= 0:
        record = rest[place + len(_SNAP) :][:length]
        if len(record) < length:
            break
        since_us = value(record, "StartTimeSec") * 1_000_000 + value(record, "StartTimeUsec")
        time_s = (since_us + value(record, "Duration")) / 1e6
        spent_us, entered = (
            {state: value(record, name) for state, name in names.items()}
            for names in (COUNTERS, ENTRIES)
        )
        found.append(Snapshot(time_s, spent_us, entered))
        place = rest.find(_SNAP, place + len(_SNAP) + length)
    return found


def shares_by_kernel(log: list[Snapshot], begin_s: float, end_s: float) -> dict[str, float]:
    """The part of each state in the time that the kernel counted between two instants.

    The kernel counts a state's time when it leaves it or sends new data: a counter that grows
    between two snapshots covers the time before the second by which it grew. What follows the last
    count belongs to the state that the kernel is in then, which the numbers of entries show.
    """
    spent = dict.fromkeys(COUNTERS, 0.0)
    counted_s, state = begin_s, _state(None, dict.fromkeys(ENTRIES, 0), log[0].entered)
    for before, after in pairwise(log):
        for name in COUNTERS:
            since_s = after.time_s - (after.spent_us[name] - before.spent_us[name]) / 1e6
            spent[name] += max(min(after.time_s, end_s) - max(since_s, begin_s), 0.0)
        if after.spent_us != before.spent_us:
            counted_s = max(after.time_s, begin_s)
        state = _state(state, before.entered, after.entered)
    if state is not None and log[-1].time_s > begin_s:
        spent[state] += max(min(log[-1].time_s, end_s) - counted_s, 0.0)
    total = sum(spent.values())
    return {state: time / total for state, time in spent.items()} if total else {}


def _state(state: str | None, before: Mapping[str, int], after: Mapping[str, int]) -> str | None:
    """The state after some entries: the one with more than the others, or else as before."""
    entries = {name: after[name] - before[name] for name in ENTRIES}
    most = max(entries.values())
    last = [name for name, count in entries.items() if count == most]
    return last[0] if len(last) == 1 else state


def shares_by_packets(flow: Mapping[str, Any]) -> dict[str, float]:
    """The same shares from a flow's causes.

    While a sender waits for a timeout without anything new to send, the kernel counts the time as
    the sender's.
    """
    found = dict.fromkeys(COUNTERS, 0.0)
    causes = flow["causes"]
    for one in causes["shares"]:
        found[GROUPS.get(one["cause"], "network")] += one["share"]
    life_s = sum(one["time_s"] for one in causes["shares"])
    drained = min(causes["evidence"]["drained_s"] / life_s, found["network"])
    found["network"] -= drained
    found["sender"] += drained
    return found


def tests(archive: Path) -> Iterator[tuple[str, bytes, bytes]]:
    """The name, the capture and the kernel's log of each test that has both."""
    parts: dict[str, dict[str, bytes]] = {}
    with tarfile.open(archive) as opened:
        for member in opened:
            match = _BEGIN.search(member.name)
            stream = opened.extractfile(member) if match else None
            if match is None or stream is None:
                continue
            content = stream.read()
            content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
            parts.setdefault(match["test"], {})[match["kind"]] = content
    for test, part in sorted(parts.items()):
        if len(part) == 2:
            yield test, part["s2c_ndttrace"], part["s2c_snaplog"]


def compare(capture: bytes, log: bytes) -> tuple[dict[str, float], dict[str, float], str]:
    """The shares by packets and by the kernel, and the sentence that the analysis says."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "s2c.pcap"
        file.write_bytes(capture)
        findings = read_captures([file]).findings
    flow = max(findings["flows"], key=lambda flow: flow["received_bytes"])
    begin_s, end_s = (findings["origin_unix_s"] + flow[name] for name in ("start_s", "end_s"))
    kernel = shares_by_kernel(snapshots(log), begin_s, end_s)
    return shares_by_packets(flow), kernel, flow["causes"]["sentence"]


def main() -> None:
    """Prints a row for each test, and how many agree."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} ARCHIVE...")
    near = total = 0
    print(f"| test | {' | '.join(COUNTERS)} | largest difference |")
    print(f"| --- |{' --- |' * (len(COUNTERS) + 1)}")
    for archive in map(Path, sys.argv[1:]):
        for test, capture, log in tests(archive):
            try:
                packets, kernel, sentence = compare(capture, log)
            except InputError as error:
                print(f"{test}: {error}", file=sys.stderr)
                continue
            if not kernel:
                print(f"{test}: no snapshot of the kernel in the capture's time", file=sys.stderr)
                continue
            most = max(abs(packets[state] - kernel[state]) for state in COUNTERS)
            cells = [f"{packets[state]:.1%}, kernel {kernel[state]:.1%}" for state in COUNTERS]
            print(f"| {test} | {' | '.join(cells)} | {most:.1%} |")
            print(f"{test}: {sentence}", file=sys.stderr)
            total += 1
            near += most <= NEAR
    print(f"{near} of {total} within {NEAR:.0%}")


if __name__ == "__main__":
    main()
