"""A transfer that a kernel made, held against what tshark says of the same files.

The numbers were read off tshark 4.0; where it is installed, it is asked again.
"""

import subprocess
from pathlib import Path

import pytest
from required import needs
from waiting import HANG_S

from narrows.analyze import analyze

HERE = Path(__file__).parent.parent / "data" / "captures"
SENT_AGAIN = ("retransmission", "out_of_order")
"""tshark chooses between the two by rules of thumb; nothing was out of order here."""
TSHARK = {
    "sender": {"retransmission": 1, "out_of_order": 4, "duplicate_ack": 85, "ack_rtt": 721},
    "receiver": {"retransmission": 4, "out_of_order": 1, "duplicate_ack": 85, "ack_rtt": 721},
}


@pytest.fixture(scope="module")
def findings(tmp_path_factory):
    out = tmp_path_factory.mktemp("kernel")
    files = {end: [HERE / f"{end}.pcapng.gz"] for end in ("sender", "receiver")}
    files["both"] = [*files["receiver"], *files["sender"]]
    return {
        name: analyze(paths, out=out / name).findings["flows"][0] for name, paths in files.items()
    }


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_retransmissions_are_tsharks(findings, end):
    again = sum(TSHARK[end][kind] for kind in SENT_AGAIN)
    assert findings[end]["loss"]["retransmitted"] == again == 5
    assert findings[end]["loss"]["reordered"] == 0
    assert findings[end]["loss"]["lost_before"] == (5 if end == "receiver" else 0)


@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_samples_and_duplicates_are_tsharks_and_those_that_sack_adds(findings, end):
    # An acknowledgement that changes the window or adds a SACK block is a duplicate and a
    # sample here, not for tshark.
    assert findings[end]["duplicate_acks"] == TSHARK[end]["duplicate_ack"] + 9
    more = findings[end]["rtt_ms"]["samples"] - TSHARK[end]["ack_rtt"]
    assert 0 < more <= findings[end]["duplicate_acks"]


def test_the_findings_of_both_ends_agree(findings):
    both = findings["both"]
    assert both["vantage"] == "sender"
    assert both["ends"]["lost"] == findings["sender"]["loss"]["lost"] == 5
    assert both["ends"]["sent"] == findings["sender"]["packets"]
    assert both["received_bytes"] == 1_600_000
    # Every packet that arrives counts alike; RTT samples crowd where SACK gives one each.
    assert 0.7 < both["ends"]["delay_variation_ms"]["mean"] / both["queueing_ms"] < 1.0
    assert findings["sender"]["rtt_ms"]["min"] == pytest.approx(20.2, abs=0.2)


@needs("tshark")
@pytest.mark.parametrize("end", ["sender", "receiver"])
def test_tshark_still_says_so(end):
    fields = [f"tcp.analysis.{kind}" for kind in TSHARK[end]]
    wanted = [part for field in fields for part in ("-e", field)]
    command = ["tshark", "-n", "-r", str(HERE / f"{end}.pcapng.gz"), "-T", "fields", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=HANG_S)
    columns = zip(*(line.split("\t") for line in done.stdout.splitlines()), strict=True)
    counts = [sum(bool(cell) for cell in column) for column in columns]
    assert dict(zip(TSHARK[end], counts, strict=True)) == TSHARK[end]
