"""Runs the files of experiments/programs, where a kernel and their programs are installed."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from required import require, uml_missing

from narrows.backends.uml import Uml, get_kernel
from narrows.metrics import summarise
from narrows.plan import plan
from narrows.spec import load
from narrows.spec.permission import allowing
from narrows.spec.scenario import Scenario

HERE = Path(__file__).parents[2] / "experiments" / "programs"
BUILT = {
    "quic-go": (HERE / "quicperf" / "quicperf", "go build"),
    "quinn": (HERE / "quicperf-rs" / "target" / "release" / "quicperf", "cargo build --release"),
}
"""QUIC programs that have to be built: their paths and build commands."""


@cache
def missing(*needed: str) -> str:
    """Says what this machine lacks to run an example; empty if nothing."""
    if uml_missing():
        return uml_missing()
    for name in {"iperf3", "curl", "python3"} & {*needed}:
        if shutil.which(name) is None:
            return f"no {name} on the PATH"
    for program, command in (BUILT[name] for name in BUILT.keys() & {*needed}):
        if not program.exists():
            return f"no {program}: `{command}` makes it"
    if "aioquic" in needed:
        python = shutil.which("python3") or "false"
        imports = [python, "-c", "import aioquic, cryptography"]
        if subprocess.run(imports, capture_output=True, check=False).returncode:
            return f"no aioquic for {python}: `pip install aioquic` gets it"
    return ""


def example(name: str, *changes: str) -> Scenario:
    with allowing([HERE]):
        return plan(load(HERE / name, changes).spec, "test").trials[0].scenario


def test_iperf3_reports_what_the_tables_have() -> None:
    require("programs", missing("iperf3"))
    scenario = example("iperf3.toml", "run.duration=3s", "run.warmup=1s")
    result = Uml(get_kernel().name).run(scenario)
    report = json.loads(result.files["programs/iperf3/client/stdout.txt"])
    assert report["start"]["connecting_to"]["host"] == "10.77.0.1"
    last = result.tables["flow_samples"].filter(flow=0).row(-1, named=True)
    # At the end the receiving host may have data that the program hasn't read.
    received = report["end"]["sum_received"]["bytes"]
    assert received == pytest.approx(last["received_bytes"], rel=0.05)
    found = summarise(scenario, result.tables, result.info)
    assert [flow["goodput_mbps"] > 0.5 for flow in found["flows"]] == [True, True]
    assert found["bottleneck"]["utilization"] > 0.9


def test_curl_gets_what_the_web_server_has() -> None:
    require("programs", missing("curl", "python3"))
    scenario = example("web.toml", "run.duration=4s", "run.warmup=1s")
    result = Uml(get_kernel().name).run(scenario)
    page = (HERE / "quicperf.py").read_bytes()
    got = {name: text for name, text in result.files.items() if "/client/page-" in name}
    assert len(got) == 20
    assert set(got.values()) == {page}
    headers = result.files["programs/web/client/headers"].decode()
    assert headers.count("200 OK") == 20
    assert "01 Jan 2030 00:00" in headers
    (row,) = result.tables["completions"].rows(named=True)
    # Every page needs a connection and a request: two round trips of 40 ms.
    assert row["end_s"] - row["start_s"] >= 20 * 2 * 0.04
    assert row["size_bytes"] > 20 * len(page)


def test_programs_in_three_languages_send_the_same_bytes_twice() -> None:
    require("programs", missing("iperf3", "quic-go", "aioquic"))
    check_repetition("three.toml", "quic-go", "aioquic")


def test_quinn_sends_the_same_bytes_twice() -> None:
    require("programs", missing("quinn"))
    check_repetition("quinn.toml", "quinn")


def check_repetition(name: str, *stacks: str) -> None:
    """Two runs of a second are the same, all flows send, and the QUIC stacks write their qlogs."""
    scenario = example(name, "run.duration=1s", "run.warmup=200ms")
    uml = Uml(get_kernel().name)
    first, again = uml.run(scenario), uml.run(scenario)
    assert first.info.digest == again.info.digest
    assert first.files.keys() == again.files.keys()
    assert [name for name in first.files if first.files[name] != again.files[name]] == []
    last = first.tables["flow_samples"].filter(time_s=1.0)["received_bytes"].to_list()
    assert all(count > 10_000 for count in last), last
    logs = [file for file in first.files if file.endswith("qlog")]
    of = {tuple(file.split("/")[1:3]) for file in logs}
    assert of == {(flow, role) for flow in stacks for role in ("client", "server")}
    for file in logs:
        # One JSON value, or a sequence of them (RFC 7464).
        values = first.files[file].decode().split("\x1e")
        assert all(json.loads(value) for value in values if value.strip()), file
