"""The files of `--qlog-draft`: their structure as the newest drafts have it, and the same content.

The structures are those of draft-ietf-quic-qlog-main-schema-14 and
draft-ietf-quic-qlog-quic-events-13, as far as these files use them: a member that isn't listed is
an error, as is a missing one without a question mark.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from captured import LOSSY, WINDING, CapturedRun, capture_run
from specimens import GOOD, TOGETHER, run_cli, write
from test_qlog import records

from narrows.analyze import analyze
from narrows.store import open_result

Members = dict[str, Any]
TUPLE = {"ip_v4": str, "port_v4": int}
HEADER = {"packet_type": str, "packet_number": int}
RAW = {"?length": int, "?payload_length": int}
FRAMES: dict[str, Members] = {
    "stream": {"frame_type": str, "stream_id": int, "?offset": int, "?fin": bool, "?raw": RAW},
    "ack": {"frame_type": str, "?acked_ranges": list},
    "max_data": {"frame_type": str, "maximum": int},
}
METRICS = {
    **dict.fromkeys(("?min_rtt", "?smoothed_rtt", "?latest_rtt"), float),
    **dict.fromkeys(("?congestion_window", "?bytes_in_flight", "?packets_in_flight"), int),
    **dict.fromkeys(("?ssthresh", "?pacing_rate"), int),
}
EVENTS: dict[str, Members] = {
    "quic:connection_started": {"local": TUPLE, "remote": TUPLE},
    "quic:connection_state_updated": {"?old": str, "new": str},
    "quic:packet_sent": {"header": HEADER, "?frames": list, "?raw": RAW},
    "quic:packet_received": {"header": HEADER, "?frames": list, "?raw": RAW},
    "quic:packet_lost": {"?header": HEADER},
    "quic:congestion_state_updated": {"?old": str, "new": str},
    "quic:recovery_metrics_updated": METRICS,
}
FILE: Members = {
    "file_schema": str,
    "serialization_format": str,
    "?title": str,
    "?description": str,
    "trace": {
        "?title": str,
        "?description": str,
        "?common_fields": {
            "?time_format": str,
            "?reference_time": {"clock_type": str, "epoch": str},
        },
        "?vantage_point": {"?name": str, "type": str},
        "event_schemas": list,
    },
}


def check(found: Any, structure: Any, place: str = "") -> None:
    """Compares a value with its structure."""
    if not isinstance(structure, dict):
        assert type(found) is structure, f"{place}: {found!r}"
        return
    required = {name for name in structure if not name.startswith("?")}
    assert required <= set(found) <= {name.lstrip("?") for name in structure}, f"{place}: {found}"
    for name, value in found.items():
        check(value, structure.get(name, structure.get(f"?{name}")), f"{place}/{name}")


@pytest.fixture(scope="module", params=["lossy", "together", "winding"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> CapturedRun:
    text = {"lossy": LOSSY, "together": TOGETHER, "winding": WINDING}[request.param]
    directory = tmp_path_factory.mktemp(request.param)
    return capture_run(directory, text, pcap=False, qlog=True, qlog_draft=True)


def test_every_record_has_the_structure_of_the_drafts(run: CapturedRun) -> None:
    seen: Counter[str] = Counter()
    for file in run.directory.iterdir():
        header, *events = records(file)
        check(header, FILE)
        assert header["file_schema"] == "urn:ietf:params:qlog:file:sequential"
        assert header["serialization_format"] == "application/qlog+json-seq"
        assert header["trace"]["event_schemas"] == ["urn:ietf:params:qlog:events:quic-13"]
        assert header["trace"]["common_fields"]["time_format"] == "relative_to_epoch"
        for event in events:
            assert set(event) - {"group_id"} == {"time", "name", "data"}
            check(event["data"], EVENTS[event["name"]], event["name"])
            for frame in event["data"].get("frames", []):
                check(frame, FRAMES[frame["frame_type"]], frame["frame_type"])
                for numbers in frame.get("acked_ranges", [[0]]):
                    assert len(numbers) == 1 or numbers[0] < numbers[1]
                assert frame.get("acked_ranges", True), "ranges aren't empty"
            seen[event["name"]] += 1
    assert set(seen) == set(EVENTS)


def test_both_forms_are_read_as_the_same_flows(run: CapturedRun, tmp_path: Path) -> None:
    text = {"lossy": LOSSY, "together": TOGETHER, "winding": WINDING}[run.scenario["name"]]
    other = capture_run(tmp_path / "form", text, pcap=False, qlog=True)
    for file in run.directory.iterdir():
        forms = (file, other.directory / file.name)
        assert len({len(list(records(form))) for form in forms}) == 1
        drafts, third = (analyze([form], out=tmp_path / "out", force=True) for form in forms)
        assert drafts.findings["flows"] == third.findings["flows"]


def test_the_option_writes_it(tmp_path: Path) -> None:
    spec, out = write(tmp_path, GOOD), str(tmp_path / "out")
    assert run_cli("run", spec, "--out", out, "--qlog-draft", "--set", "run.duration=600ms") == 0
    (file,) = open_result(out).trials[0].captures
    assert "file_schema" in next(records(file))
