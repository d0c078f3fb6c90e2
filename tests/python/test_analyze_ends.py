"""Captures at several points of a path show exactly what happened to each packet in between."""

import struct
from dataclasses import dataclass

import polars as pl
import pytest

import narrows.runner
from narrows import cli
from narrows.analyze import analyze
from narrows.store import CaptureOptions

POINTS = ("sender", "before-queue", "after-queue", "receiver")
BUFFERS = ("1.4bdp", "1.5bdp", "1.6bdp", "1.7bdp", "2bdp")
"""Each gives different queues at the start of flows, and loses different packets at the end."""
SPEC = """
name = "ends"
[path]
rate = "10mbit"
rtt = "20ms"
buffer = "BUFFER"
[[flows]]
cca = "cubic"
[[flows]]
cca = "bbr"
start = "0.5s"
[[flows]]
name = "short"
cca = "reno"
start = "1s"
size = "300kb"
[run]
duration = "12s"
record = "packets"
"""


@pytest.fixture(scope="module", params=BUFFERS)
def run(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    spec = directory / "spec.toml"
    spec.write_text(SPEC.replace("BUFFER", request.param))
    job = narrows.runner.prepare(spec)
    captures = CaptureOptions(pcap=True)
    return narrows.runner.execute(job, out=directory / "out", captures=captures).result


def captures(run, *points):
    return [run.trials[0].path / "captures" / f"{point}.pcapng" for point in points]


@dataclass(frozen=True)
class Passage:
    """The fate of a flow's packets on the way to a point, by the table of packets."""

    sent: int
    arrived: int
    lost: int
    least_ms: float
    mean_ms: float

    @property
    def under_way(self):
        return self.sent - self.arrived - self.lost


def passage(run, flow, arrival):
    """The passage from the sender to the point where `arrival` is the event.

    The queue drops packets as they come, and nothing is overtaken: of the packets with one number,
    those that weren't dropped arrive in the order in which they were sent.
    """
    table = run.trials[0].tables["packets"]
    data = table.filter(pl.col("flow") == flow, pl.col("size") > 60)  # SYNs have 60 bytes.

    def at(event):
        return data.filter(event=event).select("seq", "time_s")

    dropped = at("dropped").with_columns(dropped=True)
    sent = at("sent").join(dropped, on=["seq", "time_s"], how="left")
    gone, left = sent.filter(pl.col("dropped")), sent.filter(pl.col("dropped").is_null())
    assert len(gone) == len(dropped)
    copy = pl.int_range(pl.len()).over("seq").alias("copy")
    here = left.sort("time_s").with_columns(copy)
    there = at(arrival).sort("time_s").with_columns(copy)
    both = here.join(there, on=["seq", "copy"], suffix="_there")
    delays = both["time_s_there"] - both["time_s"]
    # A packet that left later might have arrived after the last one that did: it may not be lost.
    certain = both["time_s_there"].max() - delays.max()
    lost = gone.filter(pl.col("time_s") < certain).height
    least, mean = delays.min() * 1e3, delays.mean() * 1e3
    return Passage(len(sent), len(both), lost, least, mean)


def check(way, expected):
    """Asserts that a way's findings are `expected`, times to the nanosecond."""
    counts = (expected.sent, expected.lost, expected.under_way, 0, 0)
    names = ("sent", "lost", "under_way", "appeared_bytes", "overtaken")
    assert tuple(way[name] for name in names) == counts
    assert way["least_delay_ms"] == pytest.approx(expected.least_ms, abs=1e-6)
    variation = way["delay_variation_ms"]
    assert variation["samples"] == expected.arrived
    assert variation["mean"] == pytest.approx(expected.mean_ms - expected.least_ms, abs=1e-6)


def test_both_ends_give_exact_loss(run, tmp_path):
    made = analyze(captures(run, "receiver", "sender"), out=tmp_path / "out")
    samples = run.trials[0].tables["flow_samples"]
    last = samples.filter(pl.col("time_s") == samples["time_s"].max()).sort("flow")
    found = made.findings["flows"]
    assert "taken to be synchronised" in made.findings["notes"][-1]
    for number, (flow, counters) in enumerate(zip(found, last.iter_rows(named=True), strict=True)):
        expected = passage(run, number, "received")
        check(flow["ends"], expected)
        assert flow["ends"]["sent"] == counters["sent"]
        # The flow counts drops to the end; the captures know of those that couldn't still come.
        missing = counters["dropped"] - expected.lost
        assert 0 <= missing <= min(expected.under_way, 3)
    assert {flow["vantage"] for flow in found} == {"sender"}
    # Half of the round trip without queueing, and a packet's time at the bottleneck.
    assert found[0]["ends"]["least_delay_ms"] == pytest.approx(10.0 + 1.2, abs=0.01)
    queue = made.result.trials[0].tables["queue_samples"]
    assert queue["dropped_packets"].max() == sum(flow["ends"]["lost"] for flow in found)
    turned = analyze(captures(run, "sender", "receiver"), out=tmp_path / "turned")
    assert turned.findings["flows"] == found


def test_captures_at_all_points_give_the_stages_of_the_path(run, tmp_path, capsys):
    ends = analyze(captures(run, "sender", "receiver"), out=tmp_path / "ends").findings
    # In any order: along the path, against it, and as a shell sorts them.
    for number, order in enumerate((POINTS, POINTS[::-1], sorted(POINTS))):
        files = captures(run, *order)
        found = analyze(files, out=tmp_path / f"{number}").findings
        assert "4 points of a path" in found["notes"][-1]
        assert "taken to be synchronised" in found["notes"][-1]
        check_stages(run, found, ends)
    assert cli.main(["analyze", *map(str, files), "--out", str(tmp_path / "said")]) == 0
    said = capsys.readouterr().out
    assert "before-queue.pcapng to after-queue.pcapng: " in said


def check_stages(run, found, ends):
    queue = run.trials[0].tables["queue_samples"].row(-1, named=True)
    lost = 0
    for number, (flow, two) in enumerate(zip(found["flows"], ends["flows"], strict=True)):
        assert {**flow, "stages": []} == two
        stages = flow["stages"]
        assert [stage["from"] for stage in stages] == [f"{point}.pcapng" for point in POINTS[:3]]
        assert [stage["to"] for stage in stages] == [f"{point}.pcapng" for point in POINTS[1:]]
        # Nothing happens beside the queue; half of the round trip is behind it.
        near, within, behind = stages
        assert (near["lost"], behind["lost"]) == (0, 0)
        assert (near["least_delay_ms"], near["delay_variation_ms"]["p99"]) == (0, 0)
        assert behind["least_delay_ms"] == pytest.approx(10, abs=1e-6)
        expected = passage(run, number, "forwarded")
        check(within, expected)
        assert behind["sent"] == expected.arrived
        assert within["least_delay_ms"] > 1.19
        # No acknowledgement is lost, also between points that it passes at the same instant.
        backs = [stage["reverse_path"] for stage in stages]
        assert [back["lost"] for back in backs] == [0, 0, 0]
        assert [back["delay_variation_ms"]["samples"] for back in backs[:2]] == [
            back["sent"] for back in backs[:2]
        ]
        least = sum(stage["least_delay_ms"] for stage in stages)
        assert least == pytest.approx(two["ends"]["least_delay_ms"], abs=1e-6)
        lost += within["lost"]
    assert 0 <= queue["dropped_packets"] - lost <= 3


def set_clock(file, copy, ahead_ns, drift):
    """Copies a pcapng file as a clock that is ahead and runs faster would have written it."""
    content = bytearray(file.read_bytes())
    at = 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == 6:  # a packet
            high, low = struct.unpack_from("<II", content, at + 12)
            time = round(((high << 32) + low) * (1 + drift)) + ahead_ns
            struct.pack_into("<II", content, at + 12, time >> 32, time & 0xFFFFFFFF)
        at += length
    copy.write_bytes(content)
    return copy


def test_acknowledgements_and_a_clock_that_drifts(run, tmp_path, capsys):
    sender, receiver = captures(run, "sender", "receiver")
    late = set_clock(receiver, tmp_path / "receiver.pcapng", 3_000_000_000, 50e-6)
    plain = analyze([sender, receiver], out=tmp_path / "plain").findings
    moved = analyze([sender, late], out=tmp_path / "moved").findings
    assert [clock["drift_ppm"] for clock in plain["clocks"]] == [0.0, 0.0]
    assert moved["clocks"][1]["drift_ppm"] == pytest.approx(50.0, abs=5.0)
    assert moved["clocks"][1]["ahead_ms"] == pytest.approx(3000.0, abs=11.0)
    for one, other in zip(plain["flows"], moved["flows"], strict=True):
        assert one["ends"]["lost"] == other["ends"]["lost"]
        means = [flow["ends"]["delay_variation_ms"]["mean"] for flow in (one, other)]
        assert means[1] == pytest.approx(means[0], abs=0.3)
        back = other["ends"]["reverse_path"]
        assert back["sent"] > 100
        assert back["lost"] == one["ends"]["reverse_path"]["lost"] == 0
        assert back["delay_variation_ms"]["mean"] < 0.3
    files = [str(sender), str(late)]
    assert cli.main(["analyze", *files, "--out", str(tmp_path / "said")]) == 0
    said = capsys.readouterr().out
    assert "the forward path delays more" in said
    assert "ppm fast; times are corrected for that" in said
