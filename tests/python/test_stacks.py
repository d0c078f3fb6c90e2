"""Transport stacks of other projects, in the simulator."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from captured import capture_run
from required import needs
from waiting import HANG_S

import narrows as nw
from narrows import _native
from narrows.backends import features, get_backend
from narrows.backends.kernel import backend as kernel_backend
from narrows.backends.uml import checks
from narrows.errors import SpecError
from narrows.evaluate import evaluate
from narrows.evaluate.runs import attempts, contestants
from narrows.evaluate.suite import load_suite

CASES = Path(__file__).parents[2] / "crates/stacks/tests"
SPEC = """\
name = "stacks"
[path]
rate = "10mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "bbr"
stack = "quinn"
count = 2
[[flows]]
cca = "bbr"
[run]
duration = "2s"
"""


def test_release_build_gives_the_digest_that_the_rust_tests_pin() -> None:
    scenario = json.loads((CASES / "bbr_beside_cubic.json").read_text())
    pinned = dict(
        line.split() for line in (CASES / "bbr_beside_cubic.digests").read_text().splitlines()
    )
    for stack, cca in {"quinn": "bbr", "noq": "bbr3"}.items():
        scenario["flows"][1] |= {"stack": stack, "cca": cca}
        assert _native.run(json.dumps(scenario)).digest == pinned[stack]


def test_a_stack_is_named_and_shows_its_state_in_the_usual_tables(tmp_path: Path) -> None:
    path = tmp_path / "stacks.toml"
    path.write_text(SPEC)
    result = nw.run(path, out=tmp_path / "result")
    assert result.flows["name"].to_list() == ["quinn-bbr-1", "quinn-bbr-2", "bbr-1"]
    quinn = result.table("flow_samples").filter(flow=0).tail(1).row(0, named=True)
    assert quinn["srtt_ms"] > 20
    assert quinn["received_bytes"] > 100_000
    assert quinn["pacing_mbps"] is None
    internals = result.table("internals").filter(flow=0, name="mtu_bytes")
    assert internals["value"].max() == 1452


@needs("tshark")
@pytest.mark.parametrize("stack", ["quinn", "noq"])
def test_captures_hold_the_bytes_and_the_key_log_decrypts_them(tmp_path: Path, stack: str) -> None:
    spec = SPEC.replace('cca = "bbr"\nstack = "quinn"', f'cca = "cubic"\nstack = "{stack}"')
    run = capture_run(tmp_path / "run", spec, ("run.record=packets",), snaplen=1500)
    assert dict(run.output.captures)["keys.log"] == 2 * 5
    keys = (run.directory / "keys.log").read_text().splitlines()
    assert {line.split()[0] for line in keys} >= {"CLIENT_TRAFFIC_SECRET_0", "EXPORTER_SECRET"}
    words = ["tshark", "-r", str(run.file("receiver"))]
    fields = [
        "-Y",
        "quic.stream.stream_id",
        "-T",
        "fields",
        "-e",
        "udp.stream",
        "-e",
        "udp.checksum.status",
    ]
    secret = [
        "-o",
        f"tls.keylog_file:{run.directory / 'keys.log'}",
        "-o",
        "udp.check_checksum:TRUE",
    ]

    def streams(*options: str) -> list[str]:
        command = [*words, *options, *fields]
        told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG_S)
        return told.stdout.splitlines()

    assert streams() == []
    decrypted = [line.split("\t") for line in streams(*secret)]
    sent = run.rows.filter((run.rows["event"] == "received") & (run.rows["flow"] < 2))
    assert {stream for stream, _ in decrypted} == {"0", "1"}
    assert {status.split(",")[0] for _, status in decrypted} == {"1"}, "good checksums"
    assert 0.9 * len(sent) < len(decrypted) <= len(sent)


@pytest.mark.parametrize(("stack", "cca"), [("quinn", "bbr"), ("noq", "bbr3")])
def test_a_stack_writes_its_own_qlog(tmp_path: Path, stack: str, cca: str) -> None:
    spec = SPEC.replace('cca = "bbr"\nstack = "quinn"', f'cca = "{cca}"\nstack = "{stack}"')
    run = capture_run(tmp_path / "run", spec, pcap=False, qlog=True)
    files = dict(run.output.captures)
    assert set(files) == {f"{stack}-{cca}-1.sqlog", f"{stack}-{cca}-2.sqlog", "bbr-1.sqlog"}
    name = f"{stack}-{cca}-1.sqlog"
    lines = (run.directory / name).read_text().split("\x1e")[1:]
    events = [json.loads(line) for line in lines[1:]]
    assert len(events) == files[name]
    sent = [event for event in events if event["name"].endswith("packet_sent")]
    last = pl.DataFrame(run.output.tables["flow_samples"]).filter(flow=0).tail(1)
    assert abs(len(sent) - last["sent"].item()) <= 20, "but for packets that nobody acknowledges"
    assert 1_900 < events[-1]["time"] <= 2_000, "ms of the run"


def test_real_kernels_refuse_a_stack_with_the_reason() -> None:
    (feature,) = (one for one in features.features() if one.name == "stack")
    for check in (lambda scenario: checks.check(scenario, None), kernel_backend._check):
        with pytest.raises(SpecError, match="hosts with a kernel send by its TCP") as caught:
            check(feature.scenario())
        assert caught.value.place == "flows[0].stack"


def test_a_control_that_the_stack_lacks_is_refused_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "stacks.toml"
    path.write_text(SPEC.replace('"bbr"', '"vegas"', 1))
    with pytest.raises(SpecError, match=r"stacks.toml:7.*flows\[0\].cca.*which quinn lacks"):
        nw.run(path, out=tmp_path / "result")


def test_an_evaluation_tests_a_control_of_the_stack_beside_the_usual_one() -> None:
    suite = load_suite("quick")
    entrants = contestants(["cubic"], ["cubic"], "quinn")
    assert [one.title for one in entrants] == ["quinn CUBIC", "CUBIC"]
    tried = attempts(suite, entrants, get_backend("sim"), None)
    cells = [(one, one.cell) for one in tried if one.cell is not None]
    stacks = {
        (one.contestant.key, flow.get("stack"))
        for one, cell in cells
        for flow in cell.plan.trials[0].scenario["flows"]
        if flow["name"].startswith("subject")
    }
    assert stacks == {("quinn-cubic", "quinn"), ("cubic", None)}


ALONE = """\
name = "alone"
[path]
rate = "10mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
name = "subject"
cca = "bbr"
[run]
duration = "2s"
trials = 3
[[check]]
metric = "utilization"
at_least = 0.5
[[check]]
series = "subject.cca_state"
is = ["startup"]
take = "times"
from = "0s"
at_least = 1
"""
SUITE = """\
title = "Mine"
source = "A test"
[[situation]]
file = "alone.toml"
section = "1"
asks = "Does it send?"
because = ["It is alone.", "It begins in STARTUP."]
"""


@pytest.mark.parametrize(("stack", "cca"), [("quinn", "bbr"), ("noq", "bbr3")])
def test_an_evaluation_refuses_to_judge_what_a_stack_does_not_show(
    tmp_path: Path, stack: str, cca: str
) -> None:
    (tmp_path / "alone.toml").write_text(ALONE)
    (tmp_path / "suite.toml").write_text(SUITE)
    made = evaluate([cca], suite=tmp_path, beside=["bbr"], stack=stack, out=tmp_path / "out")
    theirs, ours = made.judged
    assert [one.verdict for one in theirs.results] == ["met", "refused"]
    assert (theirs.verdict, theirs.trouble) == (
        "refused",
        f"{stack} doesn't show subject.cca_state",
    )
    assert [one.verdict for one in ours.results] == ["met", "met"]
    assert made.good


def test_a_case_of_the_draft_is_traced_with_each_control(tmp_path: Path) -> None:
    tool = Path(__file__).parents[2] / "tools/trace_bbr_draft.py"
    words = [sys.executable, str(tool), str(tmp_path), "startup-plateau"]
    subprocess.run(words, check=True, timeout=HANG_S, capture_output=True)
    with (tmp_path / "traces.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["control"] for row in rows] == ["narrows-draft", "narrows-google", "noq"]
    for row in rows:
        assert "packet_sent" in (tmp_path / row["qlog"]).read_text()
        assert int(row["sent"]) > 1000


def test_a_case_that_would_be_another_one_with_a_stack_is_not_traced(tmp_path: Path) -> None:
    tool = Path(__file__).parents[2] / "tools/trace_bbr_draft.py"
    words = [sys.executable, str(tool), str(tmp_path), "aggregation-startup"]
    subprocess.run(words, check=True, timeout=HANG_S, capture_output=True)
    with (tmp_path / "traces.csv").open(newline="") as file:
        rows = {row["control"]: row for row in csv.DictReader(file)}
    assert "ack_thinning" in rows["noq"]["refused"], "its ACKs would pass at once"
    assert rows["narrows-draft"]["qlog"]
