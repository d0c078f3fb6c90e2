"""Other programs' files: what they say comes in, and what goes out can be read again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from specimens import GOOD, run_cli, write

from narrows.errors import InputError
from narrows.exchange import FORMATS, export_run, import_files
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


def test_a_table_says_goodputs(tmp_path: Path) -> None:
    result = import_files([file(tmp_path, "t.csv", CSV)], out=tmp_path / "out")
    assert [flow(result, i)["cca"] for i in (0, 1)] == ["cubic", "bbr"]
    assert flow(result, 1)["goodput_mbps"] == pytest.approx(3.0)


def test_what_is_known_replaces_estimates_and_files_go_together(
    tmp_path: Path, capsys: Capture
) -> None:
    files = [str(file(tmp_path, f"{n}.json", IPERF3)) for n in ("one", "two")]
    out = str(tmp_path / "out")
    assert run_cli("import", *files, "--set", "path.rate=100mbit", "--out", out) == 0
    assert "two" in capsys.readouterr().out
    result = open_result(out)
    assert len(result.summary["runs"][0]["flows"]) == 2
    assert result.trials[0].scenario["path"]["rate_bps"] == 100_000_000


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("ran")
    text = GOOD.replace('cca = "cubic"', 'cca = "cubic"\n\n[[flows]]\ncca = "bbr"')
    text = text.replace('warmup = "500ms"', 'record = "packets"')
    assert run_cli("run", write(directory, text), "--out", str(directory / "out")) == 0
    return directory / "out"


@pytest.mark.parametrize("form", FORMATS)
def test_what_goes_out_comes_in_again(form: str, ran: Path, tmp_path: Path) -> None:
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


def test_what_cannot_go_out_or_in(ran: Path, tmp_path: Path, capsys: Capture) -> None:
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
