"""Hosts of flows' own, flows the other way and super-packets, on this machine's kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernel_here import require_on_time
from required import needs
from specimens import GOOD, scenario_of
from strict_pcapng import read_frames

from narrows.backends import CaptureRequest
from narrows.backends.kernel import Kernel
from narrows.errors import SpecError
from narrows.store import CaptureOptions, RunRecord

pytestmark = needs("kernel")

SHORT = ("run.duration=1200ms", "run.warmup=600ms")


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return Kernel("own")


def mbps(result: RunRecord) -> list[float]:
    """Each flow's goodput from the warm-up on."""
    rows = result.tables["flow_samples"]
    ends = rows.filter(rows["time_s"] == rows["time_s"].max())["received_bytes"]
    return list((ends - rows.filter(rows["time_s"] == 0.6)["received_bytes"]) * 8 / 0.6e6)


def test_hosts_of_their_own_meet_at_the_bottleneck(kernel: Kernel, tmp_path: Path) -> None:
    text = GOOD + '[[flows]]\ncca = "reno"\nline_rate = "2mbit"\n'
    text += '[[flows]]\ncca = "cubic"\nsysctls = { tcp_rmem = "4096 8192 8192" }\n'
    request = CaptureRequest(CaptureOptions(pcap=True), tmp_path)
    scenario = scenario_of(text, [*SHORT, "path.buffer=4bdp"])
    result = kernel.run(scenario, None, request)
    carried = mbps(result)
    assert carried[1] < 2.0, "the card limits this flow"
    # A window of some 5 kB for each round trip of at least 20 ms.
    assert carried[2] < 4.0, "the receive buffer limits this one"
    assert min(carried) > 0
    assert len(result.captures) == len(list(tmp_path.iterdir())) == 4
    hosts = {f.data[12:16] for f in read_frames(tmp_path / "sender.pcapng").frames if f.out}
    assert hosts == {bytes([10, 77, pair, 1]) for pair in range(3)}
    require_on_time(result)
    assert sum(carried) > 6.5
    assert carried[0] == max(carried)


def test_data_of_a_flow_the_other_way_crosses_the_link_back(kernel: Kernel) -> None:
    back = '[path.reverse]\nrate = "2mbit"\nbuffer = "2bdp"\n'
    text = GOOD.replace("[[flows]]", f"{back}\n[[flows]]", 1)
    text += '[[flows]]\ncca = "reno"\nreverse = true\n'
    result = kernel.run(scenario_of(text, SHORT))
    carried = mbps(result)
    assert 0 < carried[1] < 2.0
    last = result.tables["flow_samples"].tail(2)
    # Its data left the link back; with headers, and what is still under way.
    assert last["wire_bytes"][1] > last["received_bytes"][1] * 0.9 > 0
    require_on_time(result)
    assert carried[1] > 1.0
    assert carried[0] > 3


@needs("iperf3")
def test_iperf3_sends_the_other_way() -> None:
    back = '[path.reverse]\nrate = "2mbit"\nbuffer = "2bdp"\n'
    text = GOOD.replace("[[flows]]", f"{back}[[flows]]\nreverse = true", 1)
    result = Kernel("iperf3").run(scenario_of(text, SHORT))
    assert 0 < mbps(result)[0] < 2.0
    assert list(result.files) == ["iperf3-0.json"]


def test_super_packets_pass_in_one_piece(kernel: Kernel) -> None:
    result = kernel.run(scenario_of(GOOD, [*SHORT, "path.rate=50mbit", "host.gso=true"]))
    queue = result.tables["queue_samples"].row(-1, named=True)
    assert queue["forwarded_bytes"] / queue["forwarded_packets"] > 2500
    assert "super-packets" in result.info.conditions["offloads"]
    require_on_time(result)
    assert mbps(result)[0] > 25


def test_a_discipline_that_this_kernel_lacks_is_named(
    kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("narrows.backends.kernel.backend.has_discipline", lambda *_: False)
    for place, change in (("host.fq", "host.fq=true"), ("flows[0].fq", "flows.0.fq=true")):
        with pytest.raises(SpecError, match="has no fq") as caught:
            kernel.check(scenario_of(GOOD, [change]))
        assert caught.value.place == place
