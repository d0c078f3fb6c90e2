"""Captures of QUIC with a key log: what the packets say is what the run recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from captured import CapturedRun, capture_run

from narrows.analyze import Analysis, Datagrams, analyze, describe
from narrows.analyze.reading import note_far_quic
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
def run(tmp_path_factory: pytest.TempPathFactory) -> CapturedRun:
    return capture_run(tmp_path_factory.mktemp("run"), SPEC, snaplen=65_535)


def read(run: CapturedRun, point: str) -> dict[str, Any]:
    files = [run.directory / f"{point}.pcapng", run.directory / "keys.log"]
    return dict(analyze(files, out=run.directory / f"out-{point}", force=True).findings)


def test_packets_say_what_the_run_says(run: CapturedRun) -> None:
    """Bytes are exact; round trips are those by which the stack's acknowledgements came."""
    found = read(run, "sender")
    (flow,) = found["flows"]
    decrypted, encrypted = found["files"][0]["decrypted"]
    assert decrypted > 1500
    assert encrypted == 0
    assert flow["received_bytes"] == 1_500_000
    assert flow["vantage"] == "sender"
    rtts = pl.DataFrame(run.output.tables["distributions"]).filter(kind="rtt_ms")
    mean = (rtts["value"] * rtts["weight"]).sum() / rtts["weight"].sum()
    assert flow["rtt_ms"]["mean"] == pytest.approx(mean, rel=0.05)
    assert flow["rtt_ms"]["min"] == pytest.approx(rtts["value"].min(), rel=0.05)
    (last,) = pl.DataFrame(run.output.tables["flow_samples"]).tail(1).to_dicts()
    assert flow["packets"] == pytest.approx(last["sent"], rel=0.02)
    # A packet repeats parts of several lost ones, so bytes are compared.
    usual = 1_500_000 / (last["sent"] - last["lost"])
    assert last["lost"] > 20
    assert flow["payload_bytes"] - 1_500_000 == pytest.approx(last["lost"] * usual, rel=0.05)
    assert any(f"decrypted {decrypted} packets of QUIC, 0 not" in note for note in found["notes"])


CAUSES = {
    "healthy": (),
    "queue": ("path.buffer=12bdp",),
    "random_loss": ("path.loss=0.01",),
    "receiver_window": ("flows.0.receive_window=12kb",),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_the_spin_bit_shows_the_cause_at_the_receiver(cause: str, tmp_path: Path) -> None:
    text = SPEC.replace('size = "1500kb"\n', "")
    capture_run(tmp_path, text, CAUSES[cause], snaplen=65_535)
    files = [tmp_path / "receiver.pcapng", tmp_path / "keys.log"]
    (flow,) = analyze(files, out=tmp_path / "out").findings["flows"]
    assert (flow["vantage"], flow["causes"]["first"]) == ("receiver", cause)
    assert not any("unsure" in note for note in flow["notes"])


@pytest.mark.parametrize(
    ("spin", "vantage", "unsure"),
    [
        ("rests", "receiver", True),
        ("turns", "receiver", False),
        ("rests", "sender", False),
    ],
)
def test_without_a_spin_bit_the_cause_at_the_receiver_is_unsure(
    spin: str, vantage: str, unsure: bool
) -> None:
    flow = {"source": "a:1", "destination": "b:2", "vantage": vantage, "notes": []}
    quic = {"name": "b:2>a:1", "spin": spin}
    note_far_quic({"flows": [flow], "files": [{"quic": [quic]}]})
    assert any("the cause is unsure" in note for note in flow["notes"]) is unsure


def test_the_spin_bit_agrees_with_the_packets(run: CapturedRun) -> None:
    """Without the keys only the spin bit shows round trips; it turns once in one."""
    alone = describe([run.directory / "sender.pcapng"])
    assert isinstance(alone, Datagrams)
    (quic,) = alone.findings["files"][0]["quic"]
    rtt = read(run, "sender")["flows"][0]["rtt_ms"]
    assert quic["spin"] == "turns"
    assert quic["rtt_ms"]["p50"] == pytest.approx(rtt["p50"], rel=0.15)
    assert quic["rtt_ms"]["min"] == pytest.approx(rtt["min"], rel=0.05)


def test_other_keys_are_said_to_open_nothing(run: CapturedRun, tmp_path: Path) -> None:
    other = tmp_path / "keys.log"
    text = (run.directory / "keys.log").read_text()
    other.write_text("".join(f"{line[:-8]}{'0' * 8}\n" for line in text.splitlines()))
    made = describe([run.directory / "sender.pcapng", other])
    assert isinstance(made, Datagrams)
    assert any("opens none of" in note for note in made.findings["notes"])


def test_cut_packets_are_not_decrypted(tmp_path: Path) -> None:
    directory = tmp_path / "cut"
    capture_run(directory, SPEC, ("run.duration=500ms",), snaplen=200)
    made = describe([directory / "sender.pcapng", directory / "keys.log"], out=tmp_path / "out")
    decrypted, encrypted = made.findings["files"][0]["decrypted"]
    assert encrypted > decrypted
    assert isinstance(made, Analysis | Datagrams)


def test_a_key_log_alone_is_refused(run: CapturedRun) -> None:
    with pytest.raises(InputError, match="no capture beside it"):
        analyze([run.directory / "keys.log"])
