"""Other programs' files: what they say comes in, and what goes out can be read again."""

from __future__ import annotations

import gzip
import itertools
import json
import re
from pathlib import Path

import polars as pl
import pytest
from specimens import GOOD, run_cli, write

from narrows.compare import compare
from narrows.compare.text import lines
from narrows.diff import Effect, diff
from narrows.errors import InputError
from narrows.exchange import FORMATS, export_run, import_files
from narrows.exchange.beside import import_beside
from narrows.packets import WIRE
from narrows.spec import load_study
from narrows.store import Result, open_result
from narrows.sweeps import export_file

Capture = pytest.CaptureFixture[str]


def interval(number: int, size: int, **more: object) -> dict[str, object]:
    return {"socket": 5, "start": number * 0.5, "end": number * 0.5 + 0.5, "seconds": 0.5,
            "bytes": size, "bits_per_second": size * 16, "omitted": False, "sender": True,
            **more}  # fmt: skip


IPERF3 = {
    "start": {
        "version": "iperf 3.12",
        "tcp_mss_default": 1448,
        "test_start": {"protocol": "TCP", "num_streams": 1},
    },
    "intervals": [
        {"streams": [interval(0, 999, omitted=True)], "sum": {}},
        {"streams": [interval(0, 500_000, retransmits=0, snd_cwnd=28_960, rtt=20_500)], "sum": {}},
        {"streams": [interval(1, 250_000, retransmits=3, snd_cwnd=14_480, rtt=40_500)], "sum": {}},
    ],
    "end": {"sender_tcp_congestion": "cubic"},
}
FLENT = {
    "version": 3,
    "metadata": {"NAME": "tcp_nup", "TITLE": "two"},
    "x_values": [0.0, 0.5, 1.0],
    "results": {
        "TCP upload::1": [8.0, 8.0, None],
        "TCP upload::2": [2.0, 2.0, 2.0],
        "TCP upload sum": [10.0, 10.0, 2.0],
        "TCP upload avg": [5.0, 5.0, 1.0],
        "Ping (ms) ICMP": [20.0, 30.0, 40.0],
    },
    "raw_values": {},
}
LOG = """\
# mahimahi mm-link (uplink) [trace] > log
# base timestamp: 1000
1000 + 1504
1000 + 1504
1001 + 1504
1001 d 1 1504
1050 # 1504
1050 - 1504 50
1150 # 1504
1150 - 1504 150
1250 # 1504
"""
CSV = "time_s,flow,cca,goodput_mbps\n1,0,cubic,8\n1,1,bbr,2\n2,0,cubic,8\n2,1,bbr,4\n"


def file(directory: Path, name: str, content: object) -> Path:
    path = directory / name
    text = content if isinstance(content, str) else json.dumps(content)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def flow(result: Result, number: int = 0) -> dict[str, object]:
    found: dict[str, object] = result.summary["runs"][0]["flows"][number]
    return found


def test_iperf3_says_bytes_windows_round_trips_and_retransmissions(tmp_path: Path) -> None:
    result = import_files([file(tmp_path, "one.json", IPERF3)], out=tmp_path / "out")
    samples = result.trials[0].tables["flow_samples"]
    assert samples["time_s"].to_list() == [0.0, 0.5, 1.0]
    assert samples["received_bytes"].to_list() == [0, 500_000, 750_000]
    assert samples["cwnd"].to_list() == [None, 20, 10]
    assert samples["rtt_ms"].to_list() == [None, 20.5, 40.5]
    found = flow(result)
    assert (found["name"], found["cca"], found["retransmits"]) == ("one", "cubic", 3)
    assert found["goodput_mbps"] == pytest.approx(6.0)
    assert result.trials[0].info.backend == "import"
    assert (tmp_path / "out" / "report.html").is_file()


def test_bytes_left_in_the_senders_buffer_are_not_goodput(tmp_path: Path) -> None:
    ends = {"sender": {"socket": 5, "bytes": 750_000}, "receiver": {"socket": 5, "bytes": 150_000}}
    document = {**IPERF3, "end": {"streams": [ends]}}
    result = import_files([file(tmp_path, "one.json", document)], out=tmp_path / "out")
    samples = result.trials[0].tables["flow_samples"]
    assert samples["received_bytes"].to_list() == [0, 0, 150_000]
    assert samples["delivery_mbps"].to_list() == [None, 0.0, 2.4]
    receiver = [{**interval(0, 150_000), "sender": False}]
    reverse = {**document, "intervals": [{"streams": receiver, "sum": {}}]}
    result = import_files([file(tmp_path, "two.json", reverse)], out=tmp_path / "reverse")
    assert flow(result)["goodput_mbps"] == pytest.approx(2.4)


def test_goodput_is_that_of_the_receivers_bytes_and_seconds(tmp_path: Path) -> None:
    receiver = {"socket": 5, "bytes": 500_000, "seconds": 1.25, "bits_per_second": 3.2e6}
    ends = {"sender": {"socket": 5, "bytes": 750_000, "seconds": 1.0}, "receiver": receiver}
    document = {**IPERF3, "end": {"streams": [ends], "sum_received": receiver}}
    result = import_files([file(tmp_path, "one.json", document)], out=tmp_path / "out")
    assert flow(result)["goodput_mbps"] == pytest.approx(receiver["bits_per_second"] / 1e6)
    samples = result.trials[0].tables["flow_samples"]
    assert samples["time_s"].to_list() == [0.0, 0.5, 1.25]
    assert samples["delivery_mbps"].to_list() == [None, 4.0, pytest.approx(250_000 * 8e-6 / 0.75)]


def test_a_receiver_measures_until_its_end_not_for_the_senders_seconds(tmp_path: Path) -> None:
    # As iperf 3.12 writes it: the receiver's seconds repeat the sender's.
    rate = 500_000 * 8 / 1.25
    receiver = {"socket": 5, "start": 0, "end": 1.25, "seconds": 1.0, "bytes": 500_000}
    ends = {"sender": {"socket": 5, "bytes": 750_000, "seconds": 1.0}, "receiver": receiver}
    received = {**receiver, "seconds": 1.25, "bits_per_second": rate}
    document = {**IPERF3, "end": {"streams": [ends], "sum_received": received}}
    source = file(tmp_path, "one.json", document)
    result = import_files([source], overrides=["path.rate=4mbit"], out=tmp_path / "out")
    assert flow(result)["goodput_mbps"] == pytest.approx(rate / 1e6)
    used = result.summary["runs"][0]["bottleneck"]["utilization"]
    assert used == pytest.approx(rate * WIRE / 4e6, rel=1e-3)


def test_the_command_says_what_the_delays_are(tmp_path: Path, capsys: Capture) -> None:
    said = "rtt: as measured; its minimum, {} ms, is taken as the delay without a queue"
    for content, least in ((IPERF3, "20.5"), (FLENT, "20.0")):
        source = str(file(tmp_path, f"{least}.json", content))
        assert run_cli("import", source, "--out", str(tmp_path / least)) == 0
        assert said.format(least) in capsys.readouterr().out
    table = str(file(tmp_path, "t.csv", CSV))
    assert run_cli("import", table, "--out", str(tmp_path / "csv")) == 0
    assert "without a queue" not in capsys.readouterr().out


def test_flent_says_rates_and_pings(tmp_path: Path) -> None:
    result = import_files([file(tmp_path, "two.flent.gz", FLENT)], out=tmp_path / "out")
    assert [flow(result, i)["name"] for i in (0, 1)] == ["TCP upload::1", "TCP upload::2"]
    assert flow(result, 0)["goodput_mbps"] == pytest.approx(16 / 3)
    assert flow(result, 1)["goodput_mbps"] == pytest.approx(2.0)
    assert flow(result, 0)["rtt_ms"]["p50"] == 30.0  # type: ignore[index]


def test_mahimahi_says_what_the_queue_did(tmp_path: Path) -> None:
    result = import_files([file(tmp_path, "up.log", LOG)], out=tmp_path / "out")
    queue = result.trials[0].tables["queue_samples"]
    assert queue["backlog_bytes"].to_list() == [0, 1500, 0, 0]
    assert queue["dropped_packets"].to_list() == [0, 1, 1, 1]
    assert queue["forwarded_bytes"].to_list() == [0, 1500, 3000, 3000]
    assert result.trials[0].scenario["path"]["rate_bps"] == 3 * 1500 * 8 / 0.3
    assert result.summary["runs"][0]["bottleneck"]["loss_rate"] == pytest.approx(1 / 3)


SS_TIMES = {
    "epoch": lambda at: f"{1_732_550_000.25 + at:.9f}",
    "epoch in ms": lambda at: f"{1_732_550_000_250 + at * 1000:.0f}",
    "iso": lambda at: f"2024-11-25T15:53:{20 + at:012.9f}".replace(".", ",") + "+00:00",
    "clock": lambda at: f"[23:59:{58 + at:06.3f}]" if at < 1.9 else f"[00:00:{at - 2:06.3f}]",
    "date": lambda at: f"Mon Nov 25 15:53:{20 + at:02.0f} UTC 2024",
}


def ss_log(times: str, count: int = 4, step: float = 1.0, prefix: bool = False) -> str:
    """The output of `ss -tin` in a loop: a control connection, and one that sends 250 kB a step."""
    lines = []
    for number in range(count):
        at, acked = SS_TIMES[times](number * step), 1_000_001 + 250_000 * number
        retransmitted = f" retrans:0/{3 + number}" if number else ""
        told = [
            "State Recv-Q Send-Q Local Address:Port  Peer Address:Port Process",
            'ESTAB 0      0      10.0.0.1:43208  10.0.0.2:5201  users:(("iperf3",pid=7,fd=4))',
            (
                "\t cubic wscale:7,7 rto:240 rtt:40.2/20.1 ato:40 mss:1448 cwnd:10 bytes_sent:200"
                " bytes_acked:201 bytes_received:4 data_segs_out:3 send 2.88Mbps minrtt:40.1"
            ),
            'ESTAB 0      28962  10.0.0.1:43210  10.0.0.2:5201  users:(("iperf3",pid=7,fd=5))',
            (
                f"\t bbr wscale:7,7 rto:244 rtt:{45 + number}/0.5 mss:1448 cwnd:{60 + number}"
                f" bytes_sent:{acked} bytes_acked:{acked} data_segs_out:{700 + 180 * number}"
                " bbr:(bw:19.1Mbps,mrtt:40.01,pacing_gain:1,cwnd_gain:2) send 17.4Mbps"
                f" pacing_rate 950Kbps delivery_rate 1.9Gbps unacked:60{retransmitted} minrtt:40.01"
            ),
        ]
        lines += [f"{at} {line}" for line in told] if prefix else [at, *told]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("times", "step", "prefix"),
    [
        ("epoch", 0.1, False),
        ("epoch", 0.1, True),
        ("epoch in ms", 0.5, False),
        ("iso", 0.1, False),
        ("iso", 0.1, True),
        ("clock", 1.0, False),
        ("clock", 1.0, True),
        ("date", 1.0, False),
    ],
)
def test_ss_says_windows_and_bytes(times: str, step: float, prefix: bool, tmp_path: Path) -> None:
    log = file(tmp_path, "ss.log", ss_log(times, step=step, prefix=prefix))
    result = import_files([log], out=tmp_path / "out")
    samples = result.trials[0].tables["flow_samples"]
    assert samples["time_s"].to_list() == pytest.approx([0, step, 2 * step, 3 * step], abs=1e-6)
    assert samples["received_bytes"].to_list() == [0, 250_000, 500_000, 750_000]
    assert samples["sent"].to_list() == [0, 180, 360, 540]
    assert samples["retransmitted"].to_list() == [0, 4, 5, 6]
    assert samples["cwnd"].to_list() == [60, 61, 62, 63]
    assert samples["srtt_ms"].to_list() == [45, 46, 47, 48]
    assert samples["pacing_mbps"][0] == pytest.approx(0.95)
    assert samples["delivery_mbps"][0] == pytest.approx(1900)
    found = flow(result)
    assert (found["name"], found["cca"]) == ("10.0.0.1:43210 > 10.0.0.2:5201", "bbr")
    assert result.trials[0].scenario["path"]["rtt_ns"] == 40_010_000


def test_a_connection_that_begins_in_a_log_counts_from_zero(tmp_path: Path) -> None:
    text = f"{SS_TIMES['epoch'](-1.0)}\n{ss_log('epoch')}"
    result = import_files([file(tmp_path, "ss.log", text)], out=tmp_path / "out")
    samples = result.trials[0].tables["flow_samples"]
    assert samples["received_bytes"].to_list()[:2] == [0, 1_000_001]


def test_lines_of_information_alone_are_one_flow(tmp_path: Path) -> None:
    lines = [line for line in ss_log("epoch", prefix=True).splitlines() if "bbr:(" in line]
    result = import_files([file(tmp_path, "cwnd.log", "\n".join(lines))], out=tmp_path / "out")
    assert (flow(result)["name"], flow(result)["cca"]) == ("cwnd", "bbr")


def test_ss_without_times_is_refused(tmp_path: Path) -> None:
    lines = [line for line in ss_log("epoch").splitlines() if not line[0].isdigit()]
    with pytest.raises(InputError, match=r"no time before the first connection"):
        import_files([file(tmp_path, "ss.log", "\n".join(lines))], out=tmp_path / "out")


def test_quantities_that_a_measurement_lacks_are_blank(tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "out"
    assert run_cli("import", str(file(tmp_path, "t.csv", CSV)), "--out", str(out)) == 0
    said = capsys.readouterr().out
    assert "bottleneck: unknown, since nothing shows its capacity" in said
    bottleneck = open_result(out).summary["runs"][0]["bottleneck"]
    assert bottleneck["utilization"] is bottleneck["loss_rate"] is bottleneck["forwarded"] is None
    written = (out / "spec.toml").read_text()
    assert "# the highest seen: the capacity is unknown" in written
    rate, buffer = (re.search(rf'{key} = "(\d+)b', written) for key in ("rate", "buffer"))
    assert rate is not None
    assert buffer is not None
    assert float(buffer[1]) == pytest.approx(float(rate[1]) * 0.1 / 8, rel=1e-3)
    assert '" # a guess: the measurement shows no queue\n' in written
    page = (out / "report.html").read_text()
    assert "unknown capacity" in page
    assert "No queue lasted, so the capacity is unknown" in page
    assert "% of the rate" not in page
    assert "unknown delay" in page
    assert "Round-trip time" not in page
    assert "t: windows" not in page
    assert (
        run_cli(
            "import",
            str(tmp_path / "t.csv"),
            "--set",
            "path.rate=20mbit",
            "--out",
            str(out),
            "--force",
        )
        == 0
    )
    assert "bottleneck: utilization 57.0 %\n" in capsys.readouterr().out
    assert "wasn't reached" not in (out / "spec.toml").read_text()


def test_samples_at_odd_times_dont_raise_the_rate(tmp_path: Path) -> None:
    rows = "".join(f"{0.1 * n - 1e-6 * (n % 3)},8\n" for n in range(1, 40))
    log = file(tmp_path, "odd.csv", "time_s,goodput_mbps\n" + rows)
    result = import_files([log], out=tmp_path / "out")
    assert result.trials[0].scenario["path"]["rate_bps"] == pytest.approx(
        8e6 * 1500 / 1448, rel=0.01
    )


SIMULATED = """
name = "link"
[path]
rate = "10mbit"
rtt = "40ms"
buffer = "50kb"
[[flows]]
cca = "bbr"
[host]
jitter = "100us"
[run]
duration = "5s"
warmup = "1s"
"""


def test_an_import_is_the_reference_of_a_comparison(tmp_path: Path, capsys: Capture) -> None:
    log = file(tmp_path, "ss.log", ss_log("epoch", 20))
    place = import_files([log], out=tmp_path / "measured").path
    spec = file(tmp_path, "link.toml", SIMULATED)
    backends = ["sim", f"import:{place}"]
    (made,) = compare(spec, backends=backends, trials=3, max_trials=3, out=tmp_path / "out").made
    assert made.reference == f"import:{place}"
    rows = {row.cell.quantity: row for row in made.rows}
    assert rows["goodput"].reference[0] == pytest.approx(2.0, rel=1e-3)
    assert rows["goodput"].observed
    assert "drop_rate" not in rows  # which ss doesn't show
    two = file(tmp_path, "two.toml", SIMULATED.replace('cca = "bbr"', 'cca = "bbr"\ncount = 2'))
    beside = ("--backends", f"sim,import:{place}", "--out", str(tmp_path / "other"))
    assert run_cli("compare", str(two), *beside) == 2
    assert "found 2 flows (bbr); the 1 flow of the measurement" in capsys.readouterr().err
    spec.write_text(SIMULATED.replace('"bbr"', '"cubic"'))
    assert run_cli("compare", str(spec), *beside) == 2


def cover(tmp_path: Path, measured_s: float, text: str, *options: str) -> int:
    """Compares a scenario with a measurement of this length, and returns the exit status."""
    rows = [interval(number, 250_000) for number in range(round(measured_s / 0.5))]
    document = {**IPERF3, "intervals": [{"streams": [one], "sum": {}} for one in rows]}
    place = import_files(
        [file(tmp_path, "client.json", document)], out=tmp_path / "measured", force=True
    ).path
    spec = file(tmp_path, "link.toml", text.replace('"bbr"', '"cubic"'))
    given = ("--trials", "2", "--max-trials", "2", "--out", str(tmp_path / "out"), *options)
    return run_cli("compare", str(spec), "--backends", f"sim,import:{place}", *given)


def test_a_measurement_of_less_than_the_measured_time_is_refused(
    tmp_path: Path, capsys: Capture
) -> None:
    long = SIMULATED.replace('"5s"', '"30s"').replace('"1s"', '"10s"')
    assert cover(tmp_path, 6.0, long) == 2
    said = capsys.readouterr().err
    assert "run.duration: found 30s, measured from 10s on, of which import:" in said
    assert said.endswith(
        "measured covers only 6s; --set run.duration=6s --set run.warmup=2s would be right\n"
    )
    remedy = ("--set", "run.duration=6s", "--set", "run.warmup=2s")
    assert cover(tmp_path, 6.0, long, *remedy) in (0, 1)
    assert cover(tmp_path, 4.5, SIMULATED) in (0, 1), "one sampling interval less"
    capsys.readouterr()
    assert cover(tmp_path, 4.0, SIMULATED) == 2
    assert capsys.readouterr().err.endswith("; --set run.duration=4s would be right\n")


def test_a_scenario_that_ends_before_its_duration_needs_no_longer_measurement(
    tmp_path: Path,
) -> None:
    for end in ('size = "500kb"', 'stop = "3s"'):
        sized = SIMULATED.replace("[host]", f"{end}\n[host]")
        assert cover(tmp_path, 3.0, sized) in (0, 1)


@pytest.mark.parametrize("warmup", ["2s", "2.5s"])
def test_bytes_of_an_interval_that_ends_just_after_the_warm_up_come_before_it(
    tmp_path: Path, warmup: str
) -> None:
    """iperf3 prints a little after each whole second."""
    ends = [0.0, *(number + 0.0003 for number in range(1, 6))]
    streams = [
        {"socket": 5, "start": begin, "end": end, "bytes": round((end - begin) * 250_000)}
        for begin, end in itertools.pairwise(ends)
    ]
    document = {"start": {}, "intervals": [{"streams": [one]} for one in streams], "end": {}}
    client = file(tmp_path, "client.json", json.dumps(document))
    spec = file(tmp_path, "link.toml", SIMULATED.replace('warmup = "1s"', f'warmup = "{warmup}"'))
    backends = ["sim", f"import:{import_files([client], out=tmp_path / 'measured').path}"]
    (made,) = compare(spec, backends=backends, trials=3, max_trials=3, out=tmp_path / "out").made
    (goodput,) = (row for row in made.rows if row.cell.quantity == "goodput")
    assert goodput.reference_values == pytest.approx([2.0], rel=1e-3)


def test_an_imports_round_trips_and_retransmissions_are_compared(tmp_path: Path) -> None:
    text = SIMULATED.replace('"bbr"', '"cubic"')
    spec = file(tmp_path, "link.toml", text)
    assert run_cli("run", str(spec), "--set", "run.warmup=0s", "--out", str(tmp_path / "r")) == 0
    export_run(tmp_path / "r", "iperf3", tmp_path / "client")
    (client,) = tmp_path.glob("client-*.json")
    intervals = json.loads(client.read_text())["intervals"]
    backends = ["sim", f"import:{import_files([client], out=tmp_path / 'measured').path}"]
    (made,) = compare(spec, backends=backends, trials=3, max_trials=3, out=tmp_path / "out").made
    rows = {row.cell.quantity: row for row in made.rows}
    rtts = [one["streams"][0].get("rtt", 0) / 1e3 for one in intervals]
    assert (
        max(rtts)
        >= rows["rtt_max"].reference_values[0]
        >= rows["rtt_p95"].reference_values[0]
        > rows["rtt"].reference_values[0]
    )
    assert "retransmissions" in rows
    assert "retransmission_rate" not in rows  # iperf3 doesn't say how many packets were sent
    assert "queue" not in rows  # which follows from the round trips
    assert made.notes[0] in list(lines(made))
    assert made.notes[0].startswith(f"{backends[1]}: It shows no queue.")
    assert "It shows no queue." in Path(made.files["page"]).read_text()
    assert all(len(row.reference_values) == 1 for row in made.rows)
    told = [line.split(backends[1])[0] for line in lines(made) if " agree" in line]
    assert told
    assert all(line.count("±") == 1 for line in told[:-1])  # of the simulator's trials alone
    cells = json.loads((tmp_path / "out" / "compare.json").read_text())["cells"]
    assert all(cell["reference_sd"] is None for cell in cells)
    assert all(cell["sd"] is not None for cell in cells)


def test_a_comparison_says_that_the_capacity_is_unknown(tmp_path: Path) -> None:
    steady = [interval(number, 250_000, rtt=40_000) for number in range(10)]
    document = {**IPERF3, "intervals": [{"streams": [one], "sum": {}} for one in steady]}
    measured = file(tmp_path, "steady.json", document)
    spec = file(tmp_path, "link.toml", SIMULATED.replace('"bbr"', '"cubic"'))
    for given in ([], ["path.rate=10mbit"]):
        place = import_files(
            [measured], overrides=given, out=tmp_path / f"measured{len(given)}"
        ).path
        backends = ["sim", f"import:{place}"]
        (made,) = compare(
            spec, backends=backends, trials=3, max_trials=3, out=tmp_path / "out"
        ).made
        told = [line for line in lines(made) if "the bottleneck's capacity" in line]
        assert len(told) == (0 if given else 1)
        used = [row for row in made.rows if row.cell.quantity == "utilization"]
        assert len(used) == (1 if given else 0)


@pytest.mark.parametrize("first", ["measured", "simulated"])
def test_an_import_stands_beside_an_interval_in_a_diff(first: str, tmp_path: Path) -> None:
    log = file(tmp_path, "ss.log", ss_log("epoch", 20))
    import_files([log], out=tmp_path / "measured")
    spec = file(tmp_path, "link.toml", SIMULATED)
    out = str(tmp_path / "simulated")
    assert run_cli("run", str(spec), "--set", "run.trials=5", "--out", out) == 0
    second = {"measured": "simulated", "simulated": "measured"}[first]
    made = diff(str(tmp_path / first), str(tmp_path / second), tmp_path / "diff")
    (row,) = (row for row in made.rows if row.metric == "bbr.goodput_mbps")
    simulated = open_result(out).summary["runs"]
    mean = sum(run["flows"][0]["goodput_mbps"] for run in simulated) / 5
    sign = 1 if first == "measured" else -1
    assert row.apart.mean == pytest.approx(sign * (mean - 2.0), rel=1e-2)
    assert not any(row.metric == "loss_rate" for row in made.rows)
    changed = (Effect.BETTER, Effect.WORSE, Effect.CHANGED)
    assert not any(row.change in changed for row in made.rows)
    places = {place for place, *_ in made.changes}
    assert not places & {"flows[0].start", "flows[0].stop", "run.trials", "host.jitter"}
    *_, said, _ = made.lines()
    assert said.endswith(f"narrows compare SPEC --backends sim,import:{tmp_path / 'measured'}")


def test_a_table_says_goodputs(tmp_path: Path) -> None:
    result = import_files([file(tmp_path, "t.csv", CSV)], out=tmp_path / "out")
    assert [flow(result, i)["cca"] for i in (0, 1)] == ["cubic", "bbr"]
    assert flow(result, 1)["goodput_mbps"] == pytest.approx(3.0)


def test_given_values_replace_estimates_and_files_are_merged(
    tmp_path: Path, capsys: Capture
) -> None:
    files = [str(file(tmp_path, f"{n}.json", IPERF3)) for n in ("one", "two")]
    out = str(tmp_path / "out")
    assert run_cli("import", *files, "--set", "path.rate=100mbit", "--out", out) == 0
    assert "two" in capsys.readouterr().out
    result = open_result(out)
    assert len(result.summary["runs"][0]["flows"]) == 2
    assert result.trials[0].scenario["path"]["rate_bps"] == 100_000_000


def standing_queue(shift_ms: int = 0, late_s: float = 0.0) -> dict[str, object]:
    """A measurement at 10 Mbit/s whose RTT is 60 to 80 ms, as of a queue that never empties."""
    rtts = [60, 70, 80, 70, 60, 70, 80, 70]
    rows = [
        interval(n, 603_000, rtt=(ms + shift_ms) * 1000, end=n * 0.5 + 0.5 + late_s)
        for n, ms in enumerate(rtts)
    ]
    return {**IPERF3, "intervals": [{"streams": [one], "sum": {}} for one in rows]}


def test_the_buffer_follows_from_the_given_rate_and_rtt(tmp_path: Path) -> None:
    given, source = ["path.rate=10mbit", "path.rtt=40ms"], standing_queue()
    measured = file(tmp_path, "one.json", source)
    result = import_files([measured], overrides=given, out=tmp_path / "out")
    buffer_bytes = 10e6 * (80 - 40) / 8e3
    assert result.trials[0].scenario["path"]["buffer"] == {"bytes": buffer_bytes}
    assert 'buffer = "50000b"' in result.spec
    queue = result.trials[0].tables["queue_samples"]
    least, most = (round(10e6 * ms / 8e3) for ms in (60 - 40, 80 - 40))
    assert queue["backlog_bytes"].to_list()[:4] == [None, least, (least + most) / 2, most]
    assert queue["backlog_bytes"].max() == most == buffer_bytes


def test_clients_that_report_at_different_times_each_show_the_whole_queue(tmp_path: Path) -> None:
    clients = [file(tmp_path, f"{ms}.json", standing_queue(late_s=ms / 1e3)) for ms in (0, 20)]
    overrides = ["path.rate=20mbit", "path.rtt=40ms"]
    result = import_files(clients, overrides=overrides, out=tmp_path / "out")
    queue = result.trials[0].tables["queue_samples"].drop_nulls("backlog_bytes")
    assert queue["backlog_bytes"].to_list()[:4] == [50_000, 50_000, 75_000, 75_000]


def test_a_given_rtt_is_that_of_every_flow(tmp_path: Path) -> None:
    files = [file(tmp_path, f"{ms}.json", standing_queue(shift_ms=ms)) for ms in (0, 20)]
    for ms in (40, 70, 100):
        result = import_files(files, overrides=[f"path.rtt={ms}ms"], out=tmp_path / f"out{ms}")
        scenario = result.trials[0].scenario
        assert scenario["path"]["rtt_ns"] == ms * 1_000_000
        assert all(each["rtt_ns"] is None for each in scenario["flows"])


RATE, EXCESS = "the highest rate of all flows together", "the excess of round trips over the given"
ALL = f"{RATE}, the shortest round trip, and the excess of the others over it."
FIRST = ["path.rate=10mbit", "path.rtt=40ms"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], f"rate, delay, buffer and queue are estimates: {ALL}"),
        (FIRST[1:], f"rate, buffer and queue are estimates: {RATE} and {EXCESS} delay."),
        (FIRST, f"buffer and queue are estimates: {EXCESS} delay."),
        ([*FIRST, "path.buffer=1bdp"], f"queue is an estimate: {EXCESS} delay."),
    ],
)
def test_the_page_names_only_what_was_estimated(
    given: list[str], said: str, tmp_path: Path
) -> None:
    measured = file(tmp_path, "client.json", standing_queue())
    result = import_files([measured], overrides=given, out=tmp_path / "out")
    page = (result.path / "report.html").read_text().replace("&#39;", "'")
    assert f"This is a measurement. The path's {said} iperf3 counts blocks" in page
    assert "so the throughput of an interval can exceed the path's rate.<" in page
    comment = " ".join(line[2:] for line in result.spec.splitlines() if line.startswith("# "))
    if comment:
        assert ("delay" in comment.partition(" are estimates")[0]) == (not given)


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ({}, "unknown"),
        ({"system_info": "Linux vm 6.18.44-fc #1 SMP x86_64"}, "Linux 6.18.44-fc"),
        ({"system_info": "?"}, "unknown"),
    ],
)
def test_the_page_names_the_system_that_was_measured(
    start: dict[str, str], said: str, tmp_path: Path
) -> None:
    source = {**IPERF3, "start": {**IPERF3["start"], **start}}
    result = import_files([file(tmp_path, "client.json", source)], out=tmp_path / "out")
    page = (result.path / "report.html").read_text()
    assert f"<dt>Hosts</dt><dd>{said}</dd>" in page
    assert not [
        word for word in ("linux-6.12", "droptail", "<dt>Seed", "--backend") if word in page
    ]


def test_a_file_is_imported_with_the_path_of_its_specification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    measured = file(tmp_path, "client.json", standing_queue())
    spec = file(tmp_path, "link.toml", SIMULATED.replace('"bbr"', '"cubic"'))
    beside = ("--trials", "2", "--max-trials", "2", "--set", "run.duration=4s", "--out", "out")
    run_cli("compare", str(spec), "--backends", f"sim,import:{measured}", *beside)
    # the heading, the verdict and the note on the queue
    assert capsys.readouterr().out.count("import:client.json") == 3
    assert json.loads(Path("out/compare.json").read_text())["reference"] == "import:client.json"
    (place,) = Path("narrows-results").glob("client-*")
    path = open_result(place).trials[0].scenario["path"]
    assert (path["rate_bps"], path["rtt_ns"]) == (10_000_000, 40_000_000)


@pytest.mark.parametrize(
    ("count", "changes", "rtts_ms", "shortest_ms"),
    [
        (2, ["flows[1].rtt=60ms"], [None, 60], 40),
        (1, ["flows[1].rtt=60ms"], [None], 40),
        (2, ["flows[1].rtt=60ms,70ms"], [None, None], 40),
        (2, ["path.rtt=30ms,40ms"], [None, 80], 60),
    ],
)
def test_an_import_takes_what_all_combinations_agree_on(
    count: int, changes: list[str], rtts_ms: list[int | None], shortest_ms: int, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    rows = [
        {"streams": [interval(n, 300_000, rtt=(60 + 20 * (one + n % 2)) * 1000, socket=one)
                     for one in range(count)]}
        for n in range(6)
    ]  # fmt: skip
    measured = file(tmp_path, "client.json", {**IPERF3, "intervals": rows})
    two = SIMULATED.replace('cca = "bbr"', 'cca = "cubic"\n[[flows]]\ncca = "cubic"')
    study = load_study(file(tmp_path, "link.toml", two), changes)
    scenario = import_beside(measured, study).trials[0].scenario
    assert scenario["path"]["rate_bps"] == 10_000_000
    assert scenario["path"]["rtt_ns"] == shortest_ms * 1_000_000
    found = [flow["rtt_ns"] and flow["rtt_ns"] / 1e6 for flow in scenario["flows"]]
    assert found == rtts_ms


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("ran")
    text = GOOD.replace('cca = "cubic"', 'cca = "cubic"\n\n[[flows]]\ncca = "bbr"')
    text = text.replace('warmup = "500ms"', 'record = "packets"')
    assert run_cli("run", write(directory, text), "--out", str(directory / "out")) == 0
    return directory / "out"


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "ss"])
def test_exported_files_can_be_imported_again(form: str, ran: Path, tmp_path: Path) -> None:
    before = pl.read_parquet(ran / "trial-1" / "flow_samples.parquet")
    if form == "csv":
        files = [tmp_path / "x.csv"]
        export_file(ran, "flow_samples", "csv", files[0])
    else:
        files = export_run(ran, form, tmp_path / "x")
    result = import_files(files, out=tmp_path / "out")
    after = result.trials[0].tables["flow_samples"]
    last = pl.col("received_bytes").filter(pl.col("time_s") == pl.col("time_s").max()).sum()
    whole = before.select(last).item()
    allowed = 0.02 if form == "mahimahi" else 1e-6
    assert after.select(last).item() == pytest.approx(whole, rel=allowed)
    if form == "mahimahi":
        queues = [pl.read_parquet(ran / "trial-1" / "queue_samples.parquet"),
                  result.trials[0].tables["queue_samples"]]  # fmt: skip
        dropped = [queue["dropped_packets"].max() for queue in queues]
        assert dropped[0] == dropped[1]
        assert result.trials[0].scenario["path"]["rate_bps"] == pytest.approx(8e6, rel=0.01)
    else:
        assert len(result.summary["runs"][0]["flows"]) == 2


def test_the_same_run_gives_the_same_files(ran: Path, tmp_path: Path) -> None:
    for form in ("iperf3", "flent", "mahimahi"):
        one, two = (export_run(ran, form, tmp_path / n / form) for n in ("a", "b")
                    if (tmp_path / n).mkdir(exist_ok=True) is None)  # fmt: skip
        assert [p.read_bytes() for p in one] == [p.read_bytes() for p in two]


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("a.json", {"error": "unable to connect", "start": {}, "intervals": []}, None),
        ("a.json", {"start": {}}, "iperf3"),
        ("a.json", [1, 2], "flent"),
        ("a.flent.gz", {**FLENT, "version": 9}, None),
        ("a.flent.gz", {**FLENT, "results": {"Ping (ms) ICMP": [1, 2, 3]}}, None),
        ("a.log", "# mahimahi\n12 ? 1504\n", None),
        ("a.log", "# mahimahi\nno number\n", None),
        ("a.csv", "time,rate\n1,2\n", None),
        ("a.csv", "", None),
        ("a.json", "{broken", None),
        ("a.bin", "\x00\x01", "mahimahi"),
    ],
)
def test_files_that_are_something_else(
    name: str, content: object, form: str | None, tmp_path: Path
) -> None:
    path = file(tmp_path, name, content)
    with pytest.raises(InputError) as caught:
        import_files([path], form, out=tmp_path / "out")
    assert caught.value.place == str(path)
    assert not (tmp_path / "out").exists()


def test_impossible_imports_and_exports_are_refused(
    ran: Path, tmp_path: Path, capsys: Capture
) -> None:
    assert run_cli("import", str(tmp_path / "nothing.json")) == 2
    assert run_cli("import", str(tmp_path)) == 2
    path = str(file(tmp_path, "one.json", IPERF3))
    assert run_cli("import", path, "--format", "iperf2") == 2
    plain = str(tmp_path / "plain")
    assert run_cli("run", write(tmp_path, GOOD), "--out", plain) == 0
    stem = str(tmp_path / "x")
    assert run_cli("export", plain, "packets", "--format", "mahimahi", "--out", stem) == 2
    assert run_cli("export", str(ran), "flow_samples", "--format", "flent", "--out", stem) == 0
    assert (tmp_path / "x.flent.gz").is_file()
    assert "Traceback" not in capsys.readouterr().err


def test_a_given_round_trip_is_the_delay_without_a_queue(tmp_path: Path, capsys: Capture) -> None:
    """The least round trip that was seen is 20.5 ms; the path's may be shorter."""
    source, mean = str(file(tmp_path, "one.json", IPERF3)), {}
    for rtt in ("10ms", "20.5ms"):
        known = ("--set", "path.rate=20mbit", "--set", f"path.rtt={rtt}")
        assert run_cli("import", source, *known, "--out", str(tmp_path / rtt)) == 0
        assert "path.rtt is taken as the delay without a queue" in capsys.readouterr().out
        summary = json.loads((tmp_path / rtt / "summary.json").read_text())
        mean[rtt] = summary["runs"][0]["bottleneck"]["queue_ms"]["mean"]
    assert mean["10ms"] > mean["20.5ms"] + 3
