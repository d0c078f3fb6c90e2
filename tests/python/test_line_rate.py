"""A card with a line rate: its host's queue is TCP's own, so it delays and never drops."""

from __future__ import annotations

from pathlib import Path

import pytest

import narrows as nw
from narrows.errors import SpecError

CARD = """
name = "card"
[path]
rate = "100mbit"
rtt = "20ms"
buffer = "1bdp"
[[flows]]
cca = "{cca}"
fq = {fq}
line_rate = "20mbit"
[run]
duration = "20s"
warmup = "5s"
"""
GOODPUT = 20 * 1448 / 1500
"""Payload in Mbit/s of a card of 20 Mbit/s, whose rate counts IP bytes."""


@pytest.mark.parametrize("fq", ["true", "false"])
@pytest.mark.parametrize("cca", ["cubic", "bbr"])
def test_a_slow_card_is_full_and_tcp_small_queues_keep_it_short(
    cca: str, fq: str, tmp_path: Path
) -> None:
    file = tmp_path / "card.toml"
    file.write_text(CARD.format(cca=cca, fq=fq))
    result = nw.run(file, out=tmp_path / "out")
    flow = result.summary["runs"][0]["flows"][0]
    assert 0.95 * GOODPUT < flow["goodput_mbps"] <= 1.001 * GOODPUT
    assert flow["retransmits"] == 0
    # A few ms wait in the host; with the whole window of CUBIC in its queue it would be seconds.
    assert 20.2 < flow["rtt_ms"]["mean"] < 26


def test_datagrams_pass_no_slow_card(tmp_path: Path) -> None:
    file = tmp_path / "call.toml"
    workload = 'workload = { kind = "udp", rate = "1mbit" }\nline_rate = "20mbit"'
    flow = f'[[flows]]\ncca = "none"\n{workload}\n'
    file.write_text(CARD.format(cca="cubic", fq="true").replace("[run]", f"{flow}[run]"))
    with pytest.raises(SpecError, match=r"flows\[1\]\.line_rate.*--backend uml or kernel"):
        nw.run(file, out=tmp_path / "out")
