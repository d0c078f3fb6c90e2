"""Flows that wait for others, that iperf3 sends and whose packets are noted, on real hosts."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest
from namespaced_hosts import Bed, await_restored, build_bed, states
from required import needs
from specimens import GOOD, scenario_of
from waiting import HANG_S

from narrows.backends.hosts import Hosts, session
from narrows.store import RunRecord

SIZED = GOOD.replace('cca = "cubic"', 'name = "large"\ncca = "cubic"\nsize = "300kb"')
ENDLESS = '[[flows]]\nname = "endless"\ncca = "reno"\n'
CHAIN = '[[flows]]\nname = "chain"\ncca = "reno"\nsize = "9kb"\nrepeat_gap = "50ms"\n'


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hosts on a busy machine may be slow."""
    monkeypatch.setattr(session, "ANSWER_S", HANG_S)
    monkeypatch.setattr(session, "LEASE_S", round(HANG_S))


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    with build_bed(pairs=2) as made:
        (made.folder / "bed.toml").write_text(made.inventory(pairs=2))
        iperf3 = made.inventory(pairs=2) + '[traffic]\nby = "iperf3"\n'
        (made.folder / "iperf3.toml").write_text(iperf3)
        yield made


def run(bed: Bed, text: str, *overrides: str, inventory: str = "bed") -> RunRecord:
    """Runs a specification on the hosts, which are as before afterwards."""
    before = states(bed)
    with bed.inside():
        hosts = Hosts(str(bed.folder / f"{inventory}.toml"))
        result = hosts.run(scenario_of(text, [*overrides, "path.buffer=4bdp"]))
    await_restored(bed, before, "after a run")
    return result


def test_a_run_ends_on_all_hosts_when_a_flow_of_one_is_done(bed: Bed) -> None:
    stop = ("run.duration=30s", "run.warmup=0s", "run.stop_when=large")
    result = run(bed, SIZED + ENDLESS, *stop)
    done_s = result.tables["completions"].row(0, named=True)["end_s"]
    end_s = result.info.end_s
    assert done_s <= end_s <= done_s + 0.011
    assert 0.3 < end_s < 20
    rows = result.tables["flow_samples"]
    last = rows.filter(pl.col("time_s") == end_s)
    assert rows["time_s"].max() == end_s == result.tables["queue_samples"]["time_s"].max()
    assert last["flow"].to_list() == [0, 1]
    assert last["received_bytes"][0] == 300_000
    assert 0 < last["received_bytes"][1] < 8e6 / 8 * end_s
    # The router counts delays beyond the end of the run.
    assert set(result.tables["distributions"]["kind"]) == {"rtt_ms", "queue_bytes"}


def test_a_chain_ends_with_the_flow_that_it_waits_for(bed: Bed) -> None:
    result = run(bed, SIZED + ENDLESS + CHAIN + 'while = "large"\n', "run.duration=4s")
    done = result.tables["completions"]
    ends = done.group_by("flow").agg(pl.col("end_s").max(), pl.len()).sort("flow")
    assert ends["flow"].to_list() == [0, 2]
    (large, links), (last, count) = (row[1:] for row in ends.rows())
    large_s, chain_s = ends["end_s"]
    assert (links, large, last) == (1, large_s, chain_s)
    assert count > 1
    # It began no link once the large flow was done, and both ran on the first pair.
    starts = done.filter(pl.col("flow") == 2)["start_s"]
    assert starts.max() <= large_s + 0.06


@needs("iperf3")
def test_iperf3_sends_between_hosts(bed: Bed) -> None:
    text = GOOD + ENDLESS + '[[flows]]\ncca = "cubic"\nsize = "30kb"\n'
    result = run(bed, text, "run.duration=3s", inventory="iperf3")
    rows = result.tables["flow_samples"]
    ends = rows.filter(pl.col("time_s") == 3.0)
    begins = rows.filter(pl.col("time_s") == 0.5)
    rates = list((ends["received_bytes"] - begins["received_bytes"])[:2] * 8 / 2.5e6)
    assert min(rates) > 0
    assert 4.0 < sum(rates) < 8.0
    assert (ends["wire_bytes"][:2] >= ends["received_bytes"][:2]).all()
    assert rows.filter((pl.col("flow") < 2) & (pl.col("time_s") == 2.0))["cwnd"].min() > 0
    assert result.info.conditions["sender"].startswith("iperf3 3.")
    assert "narrows-traffic" in result.info.conditions["sender"]
    assert sorted(result.files) == ["iperf3-0.json", "iperf3-1.json"]


def test_packets_are_noted_at_each_sender(bed: Bed) -> None:
    result = run(bed, GOOD + ENDLESS, "run.record=packets")
    packets = result.tables["packets"]
    assert packets["time_s"].is_sorted()
    sent = packets.filter(pl.col("event") == "sent").group_by("flow").len().sort("flow")
    ends = result.tables["flow_samples"].filter(pl.col("time_s") == 2.0)
    assert sent["flow"].to_list() == [0, 1]
    for noted, counted in zip(sent["len"], ends["sent"], strict=True):
        assert 0.9 * counted < noted <= counted + 60
    assert set(packets["event"]) == {"sent", "ack_received"}
