"""Captures of QUIC with a key log: what the packets say is what the sender's log says."""

from __future__ import annotations

from pathlib import Path

import pytest
from captured import capture_run

from narrows.analyze import Analysis, Datagrams, analyze, describe
from narrows.errors import InputError

SPEC = """
name = "quic"
[path]
rate = "8mbit"
rtt = "40ms"
buffer = "0.5bdp"
[[flows]]
name = "one"
cca = "cubic"
stack = "quinn"
size = "1500kb"
[run]
duration = "6s"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("run")
    capture_run(directory, SPEC, snaplen=65_535, qlog=True)
    return directory


@pytest.mark.parametrize("point", ["sender", "receiver"])
def test_packets_say_what_the_log_says(run: Path, tmp_path: Path, point: str) -> None:
    files = [run / f"{point}.pcapng", run / "keys.log"]
    found = analyze(files, out=tmp_path / "pcap").findings
    logged = analyze([run / "one.sqlog"], out=tmp_path / "qlog").findings["flows"]
    (flow,) = (flow for flow in found["flows"] if flow["received_bytes"] > 1_000_000)
    (expected,) = (flow for flow in logged if flow["received_bytes"] > 1_000_000)
    decrypted, encrypted = found["files"][0]["decrypted"]
    assert decrypted > 1500
    assert encrypted == 0
    assert flow["received_bytes"] == expected["received_bytes"] >= 1_500_000
    assert flow["loss"]["retransmitted"] > 0
    if point == "sender":
        assert flow["vantage"] == "sender"
        for name in ("packets", "payload_bytes"):
            assert flow[name] == expected[name]
        assert flow["loss"]["retransmitted"] == expected["loss"]["retransmitted"]
        assert flow["causes"]["first"] == expected["causes"]["first"]
        assert flow["rtt_ms"]["mean"] == pytest.approx(expected["rtt_ms"]["mean"], rel=0.02)
    assert any("decrypted" in note for note in found["notes"])


def test_the_spin_bit_agrees_with_the_packets(run: Path, tmp_path: Path) -> None:
    """Without the keys only the spin bit shows round trips; it turns once in one."""
    capture = run / "sender.pcapng"
    alone = describe([capture])
    assert isinstance(alone, Datagrams)
    (quic,) = alone.findings["files"][0]["quic"]
    with_keys = analyze([capture, run / "keys.log"], out=tmp_path / "out").findings["flows"]
    rtt = max(with_keys, key=lambda flow: flow["received_bytes"])["rtt_ms"]
    assert quic["spin"] == "turns"
    assert quic["rtt_ms"]["p50"] == pytest.approx(rtt["p50"], rel=0.15)


def test_other_keys_are_said_to_open_nothing(run: Path, tmp_path: Path) -> None:
    other = tmp_path / "keys.log"
    text = (run / "keys.log").read_text()
    other.write_text("".join(f"{line[:-8]}{'0' * 8}\n" for line in text.splitlines()))
    made = describe([run / "sender.pcapng", other])
    assert isinstance(made, Datagrams)
    assert any("opens none of" in note for note in made.findings["notes"])


def test_cut_packets_are_not_decrypted(tmp_path: Path) -> None:
    directory = tmp_path / "cut"
    capture_run(directory, SPEC, ("run.duration=500ms",), snaplen=200)
    made = describe([directory / "sender.pcapng", directory / "keys.log"], out=tmp_path / "out")
    decrypted, encrypted = made.findings["files"][0]["decrypted"]
    assert encrypted > decrypted
    assert isinstance(made, Analysis | Datagrams)


def test_a_key_log_alone_is_refused(run: Path) -> None:
    with pytest.raises(InputError, match="no capture beside it"):
        analyze([run / "keys.log"])
