"""Logs beside a capture or in its place: those of `ss` and those of QUIC."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

import narrows.runner
from narrows import cli
from narrows.analyze import analyze
from narrows.analyze.ss_log import connections
from narrows.errors import InputError
from narrows.store import CaptureOptions

SPEC = """
name = "logs"
[path]
rate = "20mbit"
rtt = "40ms"
buffer = "1bdp"
[[flows]]
cca = "reno"
FLOW
[run]
duration = "10s"
sample_interval = "100ms"
"""


@pytest.fixture(scope="module", params=["", 'receive_window = "40kb"'], ids=["free", "held"])
def run(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("logs")
    spec = directory / "spec.toml"
    spec.write_text(SPEC.replace("FLOW", request.param))
    options = CaptureOptions(pcap=True, qlog=True)
    return narrows.runner.execute(
        narrows.runner.prepare(spec), out=directory / "out", captures=options
    ).result.trials[0]


def capture_of(run, name):
    (file,) = (run.path / "captures").glob(name)
    return file


def log_of(run, ahead_s=0.0):
    """A log as `ss` would have written it every 100 ms, on a clock that may be ahead."""
    lines = []
    for row in run.tables["flow_samples"].iter_rows(named=True):
        threshold = f" ssthresh:{row['ssthresh']}" if row["ssthresh"] else ""
        window = f"rtt:{row['srtt_ms'] or 40}/2 mss:1448 cwnd:{row['cwnd']}{threshold}"
        acked = f"bytes_acked:{row['received_bytes'] + 1}"
        busy_ms = round(row["time_s"] * 1e3)
        account = f"busy:{busy_ms}ms rwnd_limited:{round(0.9 * busy_ms)}ms(90.0%)"
        lines += [
            f"00:00:{row['time_s'] + ahead_s:06.3f}",
            "ESTAB 0 0 10.0.0.1:10000 10.128.0.1:5001",
            f"\t reno wscale:7,7 rto:240 {window} {acked} {account}",
        ]
    return "\n".join(lines) + "\n"


def write(text, directory):
    file = directory / "ss.log"
    file.write_text(text)
    return file


@pytest.mark.parametrize("ahead_s", [0.0, 3.25])
def test_a_log_of_ss_gives_what_packets_do_not_show(run, tmp_path, ahead_s):
    log = write(log_of(run, ahead_s), tmp_path)
    made = analyze([capture_of(run, "sender.pcapng"), log], out=tmp_path / "out")
    (flow,) = made.findings["flows"]
    assert flow["ss"]["control"] == flow["control"]["control"] == "reno"
    assert flow["ss"]["ahead_s"] == pytest.approx(ahead_s, abs=0.1)
    assert flow["ss"]["limited"]["receiver_window"] == pytest.approx(0.9, abs=0.02)
    theirs = made.result.trials[0].tables["flow_samples"].filter(pl.col("cwnd").is_not_null())
    ours = run.tables["flow_samples"]
    late = theirs.sort("time_s").join_asof(
        ours.select("time_s", pl.col("cwnd").alias("own")).sort("time_s"), on="time_s"
    )
    assert len(theirs) > 50
    near = (late["cwnd"].cast(pl.Float64) / late["own"]).drop_nulls()
    assert near.quantile(0.1) > 0.7
    assert near.quantile(0.9) < 1.5


def test_the_terminal_compares_the_kernels_account(run, tmp_path, capsys):
    log = write(log_of(run), tmp_path)
    files = [str(capture_of(run, "sender.pcapng")), str(log)]
    assert cli.main(["analyze", *files, "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert re.search(r"own account: busy \d+ %, receiver window 90 % \(by packets \d+ %\)", said)


def test_a_log_of_another_connection_is_named(run, tmp_path):
    log = write(log_of(run).replace("10.128.0.1", "10.128.0.9"), tmp_path)
    made = analyze([capture_of(run, "sender.pcapng"), log], out=tmp_path / "out")
    assert any("no log of `ss` has it" in note for note in made.findings["notes"])
    with pytest.raises(InputError, match="no capture beside it"):
        analyze([log], out=tmp_path / "alone")


def test_names_of_addresses_and_devices_are_the_same_connection():
    text = "1700000000.5\nESTAB 0 0 [::ffff:10.0.0.1]%eth0:10000 10.128.0.1:5001\n cubic cwnd:10\n"
    (key,) = connections(text)
    assert key == "[::ffff:10.0.0.1]%eth0:10000 > 10.128.0.1:5001"


def test_a_qlog_gives_the_same_causes_as_the_capture(run, tmp_path):
    qlog = capture_of(run, "*.sqlog")
    by_log = analyze([qlog], out=tmp_path / "qlog").findings["flows"][0]
    by_packets = analyze([capture_of(run, "sender.pcapng")], out=tmp_path / "pcap").findings[
        "flows"
    ]
    (packets,) = by_packets
    assert by_log["vantage"] == packets["vantage"] == "sender"
    assert by_log["causes"]["first"] == packets["causes"]["first"]
    assert by_log["control"]["control"] == packets["control"]["control"]
    assert by_log["packets"] == packets["packets"]
    assert by_log["loss"]["retransmitted"] == packets["loss"]["retransmitted"]
    assert by_log["goodput_mbps"] == pytest.approx(packets["goodput_mbps"], rel=0.01)
    assert by_log["rtt_ms"]["mean"] == pytest.approx(packets["rtt_ms"]["mean"], rel=0.02)


def test_a_file_that_is_no_qlog_is_refused(tmp_path):
    file = tmp_path / "x.qlog"
    file.write_text(json.dumps({"flows": []}))
    with pytest.raises(InputError, match="without qlog_version"):
        analyze([file], out=tmp_path / "out")
    assert not Path(tmp_path / "out").exists()
