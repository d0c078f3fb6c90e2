"""Checks the files of `--qlog`: their structure by drafts and qvis, their contents by the run."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from captured import LOSSY, WINDING, CapturedRun, capture_run
from specimens import GOOD, TOGETHER, run_cli, write

from narrows.store import open_result

MSS = 1448
INFINITE = 0x7FFFFFFF
"""Packets: `TCP_INFINITE_SSTHRESH`."""
Record = dict[str, Any]

MEMBERS = {
    "connectivity:connection_started": {
        "ip_version": str,
        "protocol": str,
        "src_ip": str,
        "dst_ip": str,
        "src_port": int,
        "dst_port": int,
    },
    "connectivity:connection_state_updated": {"new": str},
    "transport:packet_sent": {
        "header": dict,
        "raw": dict,
        "frames": list,
        "is_retransmission": bool,
    },
    "transport:packet_received": {"header": dict, "raw": dict, "frames": list, "ecn_echo": bool},
    "recovery:packet_lost": {"header": dict},
    "recovery:congestion_state_updated": {"old": str, "new": str},
    "recovery:metrics_updated": {
        **dict.fromkeys(("min_rtt", "smoothed_rtt", "latest_rtt"), float),
        **dict.fromkeys(("congestion_window", "bytes_in_flight", "packets_in_flight"), int),
        **dict.fromkeys(("ssthresh", "pacing_rate"), int),
    },
}
"""The events, and the members of each with their types (draft-ietf-quic-qlog-quic-events-02)."""

FRAMES = {
    "stream": {"frame_type", "stream_id", "offset", "length"},
    "ack": {"frame_type", "acked_ranges"},
    "max_data": {"frame_type", "maximum"},
}


def records(file: Path) -> Iterator[Record]:
    """The records of a JSON text sequence (RFC 7464), read strictly."""
    text = file.read_text(encoding="utf-8")
    assert text[0] == "\x1e"
    for record in text[1:].split("\x1e"):
        assert record.endswith("}\n")
        yield json.loads(record)


@pytest.fixture(scope="module", params=["lossy", "together", "winding"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CapturedRun:
    text = {"lossy": LOSSY, "together": TOGETHER, "winding": WINDING}[request.param]
    return capture_run(tmp_path_factory.mktemp(request.param), text, pcap=False, qlog=True)


def logs(run: CapturedRun) -> dict[int, list[Record]]:
    """The records of every flow."""
    names = [flow["name"] for flow in run.scenario["flows"]]
    assert sorted(run.directory.iterdir()) == sorted(run.directory / f"{n}.sqlog" for n in names)
    return {i: list(records(run.directory / f"{name}.sqlog")) for i, name in enumerate(names)}


def test_qvis_accepts_the_header(run: CapturedRun) -> None:
    for header, *events in logs(run).values():
        assert list(header)[:2] == ["qlog_version", "qlog_format"], "qvis looks for them first"
        assert (header["qlog_version"], header["qlog_format"]) == ("0.3", "JSON-SEQ")
        trace = header["trace"]
        assert trace["vantage_point"]["type"] == "client"
        assert trace["common_fields"] == {
            "protocol_type": ["TCP"],
            "time_format": "relative",
            "reference_time": 0,
        }
        assert events


def test_qvis_finds_what_it_draws(run: CapturedRun) -> None:
    """Checks the file by the rules of qvis's loader and congestion graph, which silently skip
    everything else (FileLoader, TextSequenceJSONToQlog, CongestionGraphD3Renderer)."""
    for header, *events in logs(run).values():
        # The file's name ends in .sqlog; names and titles are shown, and "undefined" if missing.
        assert header["qlog_version"] in ("draft-02", "draft-02-RC1", "qlog-03-WIP", "0.3")
        assert header["trace"]["title"] == header["description"]
        assert "events" not in header["trace"]
        numbers: dict[tuple[str, int], int] = {}
        drawn: Counter[str] = Counter()
        for event in events:
            category, kind = event["name"].split(":")
            assert category in ("connectivity", "transport", "recovery")
            data, group = event["data"], event.get("group_id", "")
            if kind == "packet_sent":
                assert data["raw"]["length"] > 0, "packets without a length aren't drawn"
                numbers[group, data["header"]["packet_number"]] = data["raw"]["length"]
            elif kind == "packet_received":
                acks = [frame for frame in data["frames"] if frame["frame_type"] == "ack"]
                for first, last in (pair for ack in acks for pair in ack["acked_ranges"]):
                    assert (group, first) in numbers
                    assert (group, last) in numbers
                    drawn["acked"] += 1
            elif kind == "packet_lost":
                assert (group, data["header"]["packet_number"]) in numbers
                drawn["lost"] += 1
            elif kind == "metrics_updated":
                drawn.update(data.keys())
        lines = {"congestion_window", "bytes_in_flight", "min_rtt", "smoothed_rtt", "latest_rtt"}
        assert lines | {"acked"} <= drawn.keys()


def test_every_event_has_its_structure(run: CapturedRun) -> None:
    seen: Counter[str] = Counter()
    for flow, (_, *events) in logs(run).items():
        repeats = run.scenario["flows"][flow]["repeat_gap_ns"] is not None
        times = [event["time"] for event in events]
        assert times == sorted(times), "qvis refuses times that go back"
        for event in events:
            expected = {"time", "name", "data"} | ({"group_id"} if repeats else set())
            assert set(event) == expected
            assert event["data"], "qvis takes an empty one for the end"
            for name, value in event["data"].items():
                assert type(value) is MEMBERS[event["name"]][name]
            for frame in event["data"].get("frames", []):
                assert set(frame) - {"fin"} == FRAMES[frame["frame_type"]]
            if "header" in event["data"]:
                assert event["data"]["header"]["packet_type"] == "1RTT"
            if "raw" in event["data"]:
                assert event["data"]["raw"]["length"] >= 52
            seen[event["name"]] += 1
    assert set(seen) == set(MEMBERS)


def test_the_log_has_the_packets_of_the_run(run: CapturedRun) -> None:
    sizes = {flow: [] for flow in range(len(run.scenario["flows"]))}
    for at, flow, _, seq, size, again in run.events("sent"):
        if size > 64:  # the third packet with the option of accurate ECN
            sizes[flow].append((at, seq, size, again))
    for flow, (_, *events) in logs(run).items():
        sent = [event for event in events if event["name"] == "transport:packet_sent"]
        assert sizes[flow] == [
            (
                round(event["time"] * 1e6),
                event["data"]["frames"][0]["offset"] // MSS,
                event["data"]["raw"]["length"],
                event["data"]["is_retransmission"],
            )
            for event in sent
        ]
        acks = [event for event in events if event["name"] == "transport:packet_received"]
        # With accurate ECN the SYN-ACK has one more option; no ACK is as long.
        answer = 72 if run.scenario["flows"][flow]["ecn"] == "l4s" else 60
        rows = [row for row in run.events("ack_received") if row[1] == flow and row[4] != answer]
        assert [round(ack["time"] * 1e6) for ack in acks] == [row[0] for row in rows]


def test_every_transmission_has_one_end(run: CapturedRun) -> None:
    """A number is sent once, acknowledged at most once, and not before it is sent."""
    losses = acked = 0
    for _, *events in logs(run).values():
        sent: dict[tuple[str, int], float] = {}
        ended: set[tuple[str, int]] = set()
        for event in events:
            group, data = event.get("group_id", ""), event["data"]
            if event["name"] == "transport:packet_sent":
                assert (group, data["header"]["packet_number"]) not in sent
                sent[group, data["header"]["packet_number"]] = event["time"]
            elif event["name"] == "transport:packet_received":
                for first, last in data["frames"][0]["acked_ranges"]:
                    numbers = {(group, number) for number in range(first, last + 1)}
                    assert numbers <= sent.keys()
                    assert not numbers & ended
                    ended |= numbers
                    acked += len(numbers)
            elif event["name"] == "recovery:packet_lost":
                number = (group, data["header"]["packet_number"])
                assert number not in ended
                assert sent[number] < event["time"], "that is its retransmission"
                losses += 1
    final = pl.DataFrame(run.output.tables["flow_samples"]).group_by("flow").last()
    assert losses == final["lost"].sum() > 3
    # A packet that DSACK reports counts as delivered once more.
    copies = final["delivered"].sum() - acked
    assert copies == 0 if run.scenario["name"] != "winding" else 0 < copies < 100


def test_the_metrics_are_those_of_the_samples(run: CapturedRun) -> None:
    """The metrics that were logged last before a sample are those of the sample."""
    samples = pl.DataFrame(run.output.tables["flow_samples"]).to_dicts()
    compared = 0
    for flow, (_, *events) in logs(run).items():
        updates = [e for e in events if e["name"] == "recovery:metrics_updated"]
        connects = [e for e in events if e["name"] == "connectivity:connection_started"]
        for row in (row for row in samples if row["flow"] == flow and row["state"] != "closed"):
            ms = row["time_s"] * 1e3 + 1e-6
            start = max(e["time"] for e in connects if e["time"] <= ms)
            known: Record = {}
            for update in (e for e in updates if start <= e["time"] <= ms):
                known |= update["data"]
            assert known["congestion_window"] == row["cwnd"] * MSS
            assert known["bytes_in_flight"] == row["in_flight"] * MSS
            assert known["smoothed_rtt"] == row["srtt_ms"]
            assert known["min_rtt"] == row["min_rtt_ms"]
            assert known.get("latest_rtt") == row["rtt_ms"]
            # It is logged once there is one.
            assert known.get("ssthresh", INFINITE * MSS) == (row["ssthresh"] or INFINITE) * MSS
            assert known["pacing_rate"] == pytest.approx(row["pacing_mbps"] * 1e6, abs=1)
            compared += 1
    assert compared > 20


def test_names_become_files(tmp_path: Path) -> None:
    """A flow's name may have characters that a file's can't; two names may become the same."""
    two = GOOD + '[[flows]]\ncca = "reno"\nname = "a/b"\n[[flows]]\ncca = "reno"\nname = "a b"\n'
    spec, out = write(tmp_path, two), str(tmp_path / "out")
    run = ("run", spec, "--out", out, "--qlog", "--set", "run.duration=600ms")
    assert run_cli(*run) == 0
    result = open_result(out)
    names = {file.name for file in result.trials[0].captures}
    assert names == {"cubic-1.sqlog", "a-b-flow1.sqlog", "a-b-flow2.sqlog"}
    assert set(result.manifest["trials"][0]["captures"]) == names
    titles = {next(records(file))["trace"]["title"] for file in result.trials[0].captures}
    assert titles == {"cubic-1", "a/b", "a b"}
