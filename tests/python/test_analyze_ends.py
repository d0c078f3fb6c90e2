"""Captures of several points of a path: exactly what happened to each packet in between."""

from dataclasses import dataclass

import polars as pl
import pytest

import narrows.runner
from narrows import cli
from narrows.analyze import analyze
from narrows.store import CaptureOptions

POINTS = ("sender", "before-queue", "after-queue", "receiver")
BUFFERS = ("1.4bdp", "1.5bdp", "1.6bdp", "1.7bdp", "2bdp")
"""In each, flows find other queues when they begin and other packets are lost at the end."""
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
    """From the sender to the point where `arrival` is the event.

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
    # What left later might have come after the last packet that did, so it isn't known to be lost.
    certain = both["time_s_there"].max() - delays.max()
    lost = gone.filter(pl.col("time_s") < certain).height
    least, mean = delays.min() * 1e3, delays.mean() * 1e3
    return Passage(len(sent), len(both), lost, least, mean)


def check(way, expected):
    """Whether a way's findings are `expected`, times to the nanosecond."""
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


def test_all_points_of_a_path_give_what_happened_from_each_to_the_next(run, tmp_path, capsys):
    ends = analyze(captures(run, "sender", "receiver"), out=tmp_path / "ends").findings
    # In any order: as they lie along the path, the other way, as a shell gives them.
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
        least = sum(stage["least_delay_ms"] for stage in stages)
        assert least == pytest.approx(two["ends"]["least_delay_ms"], abs=1e-6)
        lost += within["lost"]
    assert 0 <= queue["dropped_packets"] - lost <= 3
