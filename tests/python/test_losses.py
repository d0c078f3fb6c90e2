"""Losses are reported where they happened and in total."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from narrows.backends.sim import Simulator
from narrows.metrics.summary import summarise
from narrows.plan import plan
from narrows.spec import parse

TEXT = """
[path]
rate = "10mbit"
rtt = "20ms"
buffer = "1bdp"
{path}

[[flows]]
cca = "cubic"
{flow}

[run]
duration = "6s"
warmup = "2s"
record = "packets"
"""
POLICER = '[[path.impairments]]\nkind = "policer"\nat = "before"\nrate = "4mbit"\nburst = "20kb"\n'
BURSTS = '[[path.impairments]]\nkind = "gilbert_elliott"\np = 0.01\nr = 0.3\n'
OUTAGE = '[[path.impairments]]\nkind = "outage"\noutages = { "3s" = "50ms" }\n'
SECOND = 'links = [{ name = "second", rate = "5mbit", buffer = "20pkt" }]\n'
REVERSE = 'reverse = { rate = "500kbit", buffer = "5pkt" }\n'


def summary_of(path: str, flow: str = "") -> tuple[dict[str, Any], pl.DataFrame]:
    """The summary of a run, and the events of its packets from the warm-up on."""
    spec = parse(TEXT.format(path=path, flow=flow), "test").spec
    scenario = plan(spec, "test").trials[0].scenario
    result = Simulator().run(scenario)
    events = result.tables["packets"].filter(pl.col("time_s") > 2.0)
    return summarise(scenario, result.tables, result.info), events


def test_each_place_says_what_it_took() -> None:
    policer = POLICER.replace("4mbit", "500kbit")  # which a sender that loses so much still meets
    summary, events = summary_of("loss = 0.02\n" + policer + BURSTS)
    places = summary["losses"]["places"]
    assert [(place["place"], place["kind"]) for place in places] == [
        ("path.impairments[0]", "policer"),
        ("path.impairments[1]", "gilbert_elliott"),
        ("path.loss", "loss"),
    ]
    taken = [place["dropped"] for place in places]
    assert all(taken)
    assert sum(taken) == summary["losses"]["elsewhere"]
    # The policer's are called dropped, as the queue's are; those by chance are called lost.
    data = events.filter(pl.col("size") > 100)
    assert taken[1] + taken[2] == data.filter(pl.col("event") == "lost").height
    assert (
        taken[0] == data.filter(pl.col("event") == "dropped").height - summary["losses"]["queues"]
    )


def test_a_loss_that_begins_in_mid_run_is_not_the_queues() -> None:
    summary, events = summary_of("loss = 0", flow='[[changes]]\nat = "3s"\nloss = 0.05\n')
    lost = events.filter(pl.col("size") > 100, pl.col("event") == "lost").height
    assert lost > 0
    assert summary["losses"]["elsewhere"] == lost
    assert [place["place"] for place in summary["losses"]["places"]] == ["path.loss"]


@pytest.mark.parametrize(
    ("path", "where"),
    [
        (POLICER, "elsewhere"),
        (BURSTS, "elsewhere"),
        (OUTAGE, "elsewhere"),
        ("loss = 0.02", "elsewhere"),
        (SECOND, "queues"),
        (REVERSE + BURSTS, "elsewhere"),
    ],
    ids=["policer", "bursts", "outage", "loss", "second link", "reverse link"],
)
def test_every_packet_of_data_that_is_lost_is_counted(path: str, where: str) -> None:
    summary, events = summary_of(path)
    losses = summary["losses"]
    # What is dropped on the way back are acknowledgements, without payload.
    lost = events.filter(pl.col("event").is_in(["dropped", "lost"]), pl.col("size") > 100).height
    assert losses["dropped"] == lost > 0
    assert losses["sent"] == events.filter(pl.col("event") == "sent").height
    assert losses["loss_rate"] == losses["dropped"] / losses["sent"]
    assert losses["queues"] + losses["elsewhere"] == losses["dropped"]
    assert sum(place["dropped"] for place in losses["places"]) == losses["elsewhere"]
    assert losses[where] > 0
    assert losses["queues"] == sum(
        link["drops"]
        for link in summary.get("links", [summary["bottleneck"]])[: 1 + ("links" in path)]
    )


def test_losses_only_at_the_bottleneck_need_no_second_account() -> None:
    assert "losses" not in summary_of("")[0]


def test_a_queue_that_data_and_acknowledgements_share_tells_them_apart() -> None:
    path = 'reverse = { rate = "5mbit", buffer = "20pkt" }'
    summary, events = summary_of(path, "reverse = true")
    losses = summary["losses"]
    lost = events.filter(pl.col("event").is_in(["dropped", "lost"]), pl.col("size") > 100).height
    assert losses["dropped"] == losses["queues"] == lost > 0
    assert losses["elsewhere"] == 0


def test_lost_handshakes_count_neither_as_sent_nor_as_dropped() -> None:
    """Of what is dropped here only datagrams are data packets, from the first instant on."""
    lossy = '[[path.impairments]]\nkind = "loss"\nprobability = 1\nat = "before"'
    text = TEXT.format(path=lossy, flow="")
    text = text.replace('warmup = "2s"', 'warmup = "0s"')
    text += '[[flows]]\ncca = "none"\nworkload = { kind = "udp", rate = "1mbit" }\n'
    scenario = plan(parse(text, "test").spec, "test").trials[0].scenario
    result = Simulator().run(scenario)
    last = result.tables["flow_samples"].group_by("flow").last().sort("flow")
    assert last["sent"].to_list() == last["dropped"].to_list()
    assert last["sent"].to_list()[0] == 0
    losses = summarise(scenario, result.tables, result.info)["losses"]
    assert losses["loss_rate"] == 1
    assert losses["elsewhere"] == losses["dropped"] > 100


def test_a_lost_super_packet_is_several_packets() -> None:
    spec = parse(TEXT.format(path=BURSTS, flow="") + "[host]\ngso = true\n", "test").spec
    scenario = plan(spec, "test").trials[0].scenario
    result = Simulator().run(scenario)
    events = result.tables["packets"].filter(pl.col("event").is_in(["dropped", "lost"]))
    packets = (events.filter(pl.col("size") > 100)["size"] + 1499) // 1500
    assert packets.max() > 1
    last = result.tables["flow_samples"].filter(flow=0)["dropped"].last()
    assert last == packets.sum()


def test_a_run_that_ends_in_its_warm_up_counts_no_loss() -> None:
    reverse = 'reverse = { rate = "500kbit", buffer = "1pkt" }\nloss = 0.3\n'
    text = TEXT.format(path=reverse, flow="") + '[[changes]]\nat = "1s"\nend = true\n'
    scenario = plan(parse(text, "test").spec, "test").trials[0].scenario
    result = Simulator().run(scenario)
    assert result.tables["packets"].filter(pl.col("event") == "lost").height > 0
    losses = summarise(scenario, result.tables, result.info)["losses"]
    assert (losses["dropped"], losses["queues"], losses["elsewhere"]) == (0, 0, 0)
    assert [place["dropped"] for place in losses["places"]] == [0]
