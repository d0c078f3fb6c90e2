"""Captures of `--pcap`, compared with the simulator's own records."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from captured import LOSSY, POINTS, WINDING, CapturedRun, capture_run, request
from specimens import TOGETHER, run_cli, scenario_of, write
from strict_pcapng import ACK, AE, CWR, ECE, FIN, PSH, SYN, Segment

from narrows import _native
from narrows.store import open_result

MSS = 1448
FIRST_SENT, FIRST_RECEIVED = 1_000_000_000, 2_000_000_000
NOT_ECT, ECT1, ECT0, CE = range(4)


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> CapturedRun:
    return capture_run(tmp_path_factory.mktemp("lossy"))


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> CapturedRun:
    return capture_run(tmp_path_factory.mktemp("together"), TOGETHER)


@pytest.fixture(scope="module")
def winding(tmp_path_factory: pytest.TempPathFactory) -> CapturedRun:
    return capture_run(tmp_path_factory.mktemp("winding"), WINDING)


@pytest.fixture(scope="module", params=["lossy", "together", "winding"])
def run(request: pytest.FixtureRequest) -> CapturedRun:
    """Any path."""
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module", params=["lossy", "together"])
def plain(request: pytest.FixtureRequest) -> CapturedRun:
    """A single queue on the way forward, and nothing else."""
    return request.getfixturevalue(request.param)


def connection(packet: Segment) -> tuple[int, int]:
    """Flow and instance of a packet, by the documented addresses."""
    ends = packet.source, packet.destination
    (_, sender_port), (receiver, _) = ends if ends[1][1] == 5001 else ends[::-1]
    host = [int(part) for part in receiver.split(".")]
    assert host[:2] == [10, 128]
    return host[2] * 256 + host[3] - 1, sender_port - 10_000


def test_captures_change_nothing(run: CapturedRun) -> None:
    plain = _native.run(json.dumps(run.scenario))
    assert (plain.digest, plain.packets) == (run.output.digest, run.output.packets)
    assert plain.captures == []


@pytest.mark.parametrize(
    ("point", "out", "event"),
    [
        ("sender", True, "sent"),
        ("sender", False, "ack_received"),
        ("receiver", False, "received"),
        ("receiver", True, "ack_sent"),
    ],
)
def test_every_packet_is_at_the_hosts(run: CapturedRun, point: str, out: bool, event: str) -> None:
    check_events(run, point, out, event)


@pytest.mark.parametrize(
    ("point", "out", "event"),
    [
        ("before-queue", True, "ack_received"),
        ("after-queue", False, "ack_received"),
        ("after-queue", True, "forwarded"),
    ],
)
def test_every_packet_is_at_the_queue(
    plain: CapturedRun, point: str, out: bool, event: str
) -> None:
    check_events(plain, point, out, event)


def check_events(run: CapturedRun, point: str, out: bool, event: str) -> None:
    """Each packet at its instant, of its flow, with its number in bytes and its size."""
    sizes = [flow["size_bytes"] for flow in run.scenario["flows"]]

    def edge(flow: int, seq: int) -> int:
        """The sequence number that follows `seq` packets and, at the end, the FIN."""
        size = sizes[flow]
        return seq * MSS if size is None or seq * MSS < size else size + 1

    rows, packets = run.events(event), run.packets(point, out)
    assert len(rows) == len(packets) > 300
    for (at, flow, instance, seq, size, _), packet in zip(rows, packets, strict=True):
        assert (at, flow, instance, size) == (packet.at, *connection(packet), packet.length)
        if packet.payload:
            assert packet.seq - FIRST_SENT - 1 == seq * MSS
        elif packet.flags & SYN or packet.destination[1] == 5001:
            assert seq == 0
        else:
            assert packet.ack - FIRST_SENT - 1 == edge(flow, seq)


def test_the_queue_takes_what_was_sent(plain: CapturedRun) -> None:
    def what(packet: Segment) -> tuple[object, ...]:
        return (connection(packet), packet.seq, packet.flags, packet.options[8])

    sent = Counter(map(what, plain.packets("sender", True)))
    assert Counter(map(what, plain.packets("before-queue", False))) == sent
    dropped = len(plain.events("dropped"))
    assert dropped > 0
    left = Counter(map(what, plain.packets("after-queue", True)))
    assert left <= sent
    under_way = (sent - left).total() - dropped
    assert 0 <= under_way < 100


def test_the_bottleneck_of_a_winding_path(winding: CapturedRun) -> None:
    """Its own counters, of what crosses it; what comes back passes beside its queue."""
    counters = rows_of(winding, "queue_samples")
    last = [row for row in counters if row["link"] == 0][-1]
    arrived, left = winding.packets("before-queue", False), winding.packets("after-queue", True)
    assert (len(arrived), len(left)) == (last["arrived_packets"], last["forwarded_packets"])
    marked = sum(packet.ecn == CE for packet in left)
    assert marked == last["marked_packets"] > 5
    assert not any(packet.ecn == CE for packet in arrived)
    assert {connection(packet)[0] for packet in left} == {0, 1, 3}, "one flow goes past it"
    back = winding.packets("before-queue", True)
    assert back == [replace(packet, out=True) for packet in winding.packets("after-queue", False)]
    data = [packet for packet in back if packet.payload]
    assert {connection(packet)[0] for packet in data} == {3}, "the flow the other way"
    near = [p for p in winding.packets("sender", False) if connection(p)[0] in (0, 1)]
    near += [p for p in winding.packets("receiver", False) if connection(p)[0] == 3]
    assert Counter(map(fields, back)) == Counter(map(fields, near))


def fields(packet: Segment) -> tuple[object, ...]:
    return (packet.at, connection(packet), packet.seq, packet.ack, packet.flags, packet.ecn)


def test_marks_are_echoed(winding: CapturedRun) -> None:
    """Classic: ECE until CWR. Accurate: a count. Each with its handshake (RFC 3168, 9768)."""
    at_receiver = winding.packets("receiver")
    offers = {connection(p)[0]: p.flags for p in at_receiver if p.flags & SYN and not p.out}
    accepts = {connection(p)[0]: p.flags for p in at_receiver if p.flags & SYN and p.out}
    both = SYN | ECE | CWR
    assert offers == {0: both, 1: both, 2: SYN, 3: both | AE}
    accept = SYN | ACK | ECE
    assert accepts == {0: accept, 1: accept, 2: SYN | ACK, 3: accept | CWR}
    codepoints = {flow: Counter[int]() for flow in range(4)}
    for packet in winding.packets("sender", True):
        if packet.payload:
            codepoints[connection(packet)[0]][packet.ecn] += 1
    assert set(codepoints[0]) <= {NOT_ECT, ECT0}
    assert set(codepoints[0]) >= {ECT0}
    assert (set(codepoints[1]), set(codepoints[2]), set(codepoints[3])) == (
        {ECT0},
        {NOT_ECT},
        {ECT1},
    )
    echo = reduced = False
    for packet in (p for p in at_receiver if connection(p)[0] == 0 and not p.flags & SYN):
        if packet.out:
            assert bool(packet.flags & ECE) == echo
        elif packet.payload:
            reduced |= bool(packet.flags & CWR)
            echo = (echo and not packet.flags & CWR) or packet.ecn == CE
    assert reduced


def test_duplicates_are_reported(winding: CapturedRun) -> None:
    """A copy that the path made is a DSACK (RFC 2883) unless the next ACK is lost or merged."""
    copies = Counter(
        (connection(p), p.seq) for p in winding.packets("receiver", False) if p.payload
    )
    twice = {key for key, count in copies.items() if count > 1}
    reported = {
        (connection(p), p.sacks[0][0])
        for p in winding.packets("receiver", True)
        if p.sacks and p.sacks[0][1] <= p.ack
    }
    assert reported
    assert reported <= twice


def test_connections_begin_and_end(together: CapturedRun) -> None:
    sizes = [flow["size_bytes"] for flow in together.scenario["flows"]]
    open_: dict[tuple[int, int], int] = {}
    for packet in together.packets("sender", True):
        flow, instance = connection(packet)
        if packet.flags & SYN:
            assert (packet.seq, packet.ack, packet.flags) == (FIRST_SENT, 0, SYN)
            assert list(packet.options) == [2, 4, 8, 3]
            assert packet.options[2] == (MSS + 12).to_bytes(2)
            open_.setdefault((flow, instance), packet.at)
        else:
            assert (flow, instance) in open_
            is_last = packet.seq + packet.payload == FIRST_SENT + 1 + (sizes[flow] or -1)
            assert bool(packet.flags & FIN) == (is_last and packet.payload > 0)
            assert packet.flags | PSH | FIN == ACK | PSH | FIN
            assert packet.ack == FIRST_RECEIVED + 1
    completions = {(row["flow"], row["instance"]) for row in rows_of(together, "completions")}
    acked = {
        connection(packet)
        for packet in together.packets("sender", False)
        if packet.ack == FIRST_SENT + 2 + (sizes[connection(packet)[0]] or -3)
    }
    assert acked == completions
    assert len(completions) > 2, "the chain has links"


def rows_of(run: CapturedRun, table: str) -> list[dict[str, object]]:
    import polars as pl

    return pl.DataFrame(run.output.tables[table]).to_dicts()


def test_acknowledgements_know_only_what_came(run: CapturedRun) -> None:
    """At the receiver: SACK blocks and ACKs tell of bytes that were received, no others."""
    received: dict[tuple[int, int], set[int]] = {}
    seen_blocks = 0
    for packet in run.packets("receiver"):
        known = received.setdefault(connection(packet), set())
        if not packet.out:
            if packet.payload:
                end = packet.seq + packet.payload + bool(packet.flags & FIN)
                known.update((packet.seq, -end))
            continue
        if packet.flags & SYN:
            continue
        assert packet.ack == FIRST_SENT + 1 or -packet.ack in known
        for number, (start, end) in enumerate(packet.sacks):
            assert start < end
            assert start in known
            assert -end in known
            if end <= packet.ack:
                assert number == 0, "only the first block reports a duplicate"
            else:
                seen_blocks += 1
    assert seen_blocks > 50


def test_timestamps_echo_what_was_seen(run: CapturedRun) -> None:
    """TSval is the host's clock in ms; TSecr was a TSval of the other end.

    As in Linux, TCP stamps a packet as it hands it over, and the host's queue doesn't stamp again:
    one that waits there leaves later than its TSval says.
    """
    for point in ("sender", "receiver"):
        stamps: dict[tuple[int, int], set[int]] = {}
        for packet in run.packets(point):
            value, echo = packet.stamps
            seen = stamps.setdefault(connection(packet), set())
            if packet.out:
                waited = packet.at // 1_000_000 + 1 - value
                assert 0 <= waited <= (1 if packet.payload else 0)
                assert echo in seen or (packet.flags & (SYN | ACK) == SYN and echo == 0)
            else:
                seen.add(value)


def test_the_window_is_the_receivers(run: CapturedRun) -> None:
    """Scaled as announced; its right edge never moves back; nothing is sent beyond it."""
    edges: dict[tuple[int, int], int] = {}
    scales: dict[tuple[int, int], int] = {}
    for packet in run.packets("sender"):
        key = connection(packet)
        if not packet.out:
            if packet.flags & SYN:
                scales[key] = packet.options[3][0]
                edges[key] = packet.ack + packet.window
            else:
                edge = packet.ack + (packet.window << scales[key])
                assert edge + (1 << scales[key]) > edges[key]
                edges[key] = max(edges[key], edge)
        elif packet.payload:
            assert packet.seq + packet.payload <= edges[key]


@pytest.mark.parametrize(("snaplen", "ipv6"), [(None, True), (100, False), (65_535, False)])
def test_packets_are_kept_up_to_the_snap_length(
    tmp_path: Path, snaplen: int | None, ipv6: bool
) -> None:
    run = capture_run(tmp_path, LOSSY, ("run.duration=300ms",), snaplen, ipv6=ipv6)
    headers = 72 if ipv6 else 52
    for point in POINTS:
        capture = run.capture(point)
        assert capture.interface == point
        assert capture.snaplen == (snaplen or 100)
        data = [packet for packet in capture.packets if packet.payload]
        assert {packet.length for packet in data} == {headers + MSS}
        assert {packet.kept for packet in data} == {min(snaplen or headers, headers + MSS)}
        addresses = [packet.source[0] for packet in data]
        assert {capture.names[address] for address in addresses} == {
            "cubic-1.sender",
            "bbr-1.sender",
        }
        if ipv6:
            assert set(addresses) == {"2001:db8:1::1", "2001:db8:1::2"}


def test_the_command_keeps_them_with_the_result(tmp_path: Path) -> None:
    spec, out = write(tmp_path), str(tmp_path / "out")
    run = ("run", spec, "--out", out, "--trials", "2")
    assert run_cli(*run) == 0
    assert [trial.captures for trial in open_result(out).trials] == [[], []]
    assert run_cli(*run, "--pcap", "--snaplen", "60") == 0
    result = open_result(out)
    assert (result.capture_options.pcap, result.capture_options.snaplen) == (True, 60)
    for trial in result.trials:
        assert [file.stem for file in trial.captures] == sorted(POINTS)
        entry = result.manifest["trials"][trial.number - 1]
        assert set(entry["captures"]) == {file.name for file in trial.captures}
    created = result.manifest["created"], trial.captures[0].stat().st_ino
    assert run_cli(*run, "--pcap", "--snaplen", "60") == 0
    again = open_result(out)
    assert (again.manifest["created"], again.trials[1].captures[0].stat().st_ino) == created
    assert run_cli(*run) == 0
    assert open_result(out).trials[0].captures, "what is there stays"


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--snaplen", "60"), "--snaplen: found no --pcap"),
        (("--ipv6",), "--ipv6: found no --pcap"),
        (("--pcap", "--snaplen", "0"), "--snaplen: found 0; bytes from 1 to 262144"),
        (("--pcap", "--snaplen", "x"), "'--snaplen'"),
    ],
)
def test_wrong_options_are_refused(
    tmp_path: Path, options: tuple[str, ...], found: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_cli("run", write(tmp_path), "--out", str(tmp_path / "out"), *options) == 2
    assert found in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_directory_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        _native.run(json.dumps(scenario_of()), None, request(tmp_path / "none"))


def test_a_full_disk_ends_in_words(tmp_path: Path) -> None:
    """The run continues without its captures, and reports the error at its end."""
    (tmp_path / "receiver.pcapng").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        _native.run(json.dumps(scenario_of()), None, request(tmp_path))
