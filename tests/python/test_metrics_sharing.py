"""Harm, convergence, slowdown, RTT bias: known answers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from specimens import GOOD, scenario_of

from narrows.backends.sim import Simulator
from narrows.metrics import convergence_s, harm, harms, rtt_bias, slowdown, summarise
from narrows.metrics.catalogue import find
from narrows.metrics.tables import summary_columns, summary_tables


@pytest.mark.parametrize(
    ("alone", "beside", "better", "expected"),
    [
        (10.0, 4.0, "more", 0.6),
        (10.0, 10.0, "more", 0.0),
        (10.0, 15.0, "more", -0.5),
        (20.0, 80.0, "less", 0.75),
        (0.0, 0.0, "more", None),
    ],
)
def test_harm_is_the_part_that_is_lost(alone, beside, better, expected) -> None:
    assert harm(alone, beside, better) == (None if expected is None else pytest.approx(expected))


def test_harms_compare_rows_of_equal_conditions() -> None:
    alone = pl.DataFrame({"rate": [1, 1, 2], "goodput": [8.0, 12.0, 5.0]})
    beside = pl.DataFrame({"rate": [2, 1, 3], "goodput": [5.0, 2.5, 1.0]})
    made = harms(alone, beside, "goodput", ["rate"])
    assert made.to_dicts() == [
        {"rate": 2, "alone": 5.0, "beside": 5.0, "harm": 0.0},
        {"rate": 1, "alone": 10.0, "beside": 2.5, "harm": 0.75},
    ]


def samples_of(rates: list[list[float]]) -> pl.DataFrame:
    """Samples of flows whose rates (bytes/s) are given second by second."""
    frames = []
    for flow, steps in enumerate(rates):
        total = np.concatenate([[0.0], np.cumsum(steps)])
        frames.append(
            pl.DataFrame(
                {"time_s": np.arange(len(total), dtype=float), "received_bytes": total}
            ).with_columns(pl.lit(flow).alias("flow"))
        )
    return pl.concat(frames)


def test_convergence_is_where_a_fair_stretch_begins() -> None:
    one = [9.0, 9, 5, 9, 9, 9, 5, 5, 5, 5, 5, 5]
    other = [1.0, 1, 5, 1, 1, 1, 5, 5, 5, 5, 5, 5]
    assert convergence_s(samples_of([one, other]), [0, 1], 0.0, 12.0) == 6.0
    assert convergence_s(samples_of([one, other]), [0, 1], 2.0, 12.0) == 4.0
    assert convergence_s(samples_of([one, other]), [0, 1], 0.0, 12.0, hold_s=1.0) == 2.0
    assert convergence_s(samples_of([one, other]), [0, 1], 0.0, 10.0) is None
    assert convergence_s(samples_of([one]), [0], 0.0, 12.0) is None


def test_slowdown_counts_headers_and_two_round_trips() -> None:
    assert slowdown(1.0, 1448 * 100, 1_500_000 * 8, 0.2) == pytest.approx(1 / (0.4 + 0.1))
    assert slowdown(None, 1.0, 1.0, 1.0) is None


def test_rtt_bias_is_the_exponent() -> None:
    rtts = [10.0, 20.0, 40.0]
    assert rtt_bias(rtts, [8.0, 4.0, 2.0]) == pytest.approx(1.0)
    assert rtt_bias(rtts, [5.0, 5.0, 5.0]) == pytest.approx(0.0)
    assert rtt_bias(rtts, [1.0, 4.0, 16.0]) == pytest.approx(-2.0)
    assert rtt_bias([10.0, 10.0], [1.0, 2.0]) is None
    assert rtt_bias(rtts, [0.0, 0.0, 2.0]) is None


def test_a_chain_is_one_flow_and_the_slowest_link_counts() -> None:
    text = GOOD.replace('cca = "cubic"', 'name = "short"\ncca = "reno"\nsize = "20kb"\n'
                        'repeat_gap = "100ms"\n\n[[flows]]\ncca = "bbr"')  # fmt: skip
    text = text.replace("[[flows]]", 'links = [{ name = "second", rate = "4mbit", '
                        'buffer = "50pkt" }]\n\n[[flows]]', 1)  # fmt: skip
    scenario = scenario_of(text)
    result = Simulator().run(scenario)
    entry = summarise(scenario, result.tables, result.info)
    tables = summary_tables(entry, ["short", "bbr"])
    lives = tables["flows"].filter(pl.col("name") == "short")
    assert lives.height > 2
    summary = tables["summary"].row(0, named=True)
    assert summary["short.flows"] == 1
    assert summary["short.goodput_mbps"] == pytest.approx(lives["goodput_mbps"].mean())
    assert 0 < summary["jain"] < 1
    least_s = 2 * 0.02 + 20_000 * (1500 / 1448) * 8 / 4e6
    first = lives.row(0, named=True)
    assert first["slowdown"] == pytest.approx(first["fct_s"] / least_s)


def test_the_columns_of_a_summary_are_those_announced() -> None:
    text = GOOD.replace('cca = "cubic"', 'cca = "cubic"\nsize = "300kb"\n\n[[flows]]\ncca = "bbr"')
    scenario = scenario_of(text)
    result = Simulator().run(scenario)
    entry = summarise(scenario, result.tables, result.info)
    tables = summary_tables(entry, ["cubic", "bbr"])
    columns = [*summary_columns(["cubic", "bbr"], ["cubic"]), "invalid"]
    assert sorted(tables["summary"].columns) == sorted(columns)
    assert tables["summary"]["invalid"][0] is None
    late = summary_tables({**entry, "invalid": "too late"}, ["cubic", "bbr"])["summary"]
    assert late["invalid"][0] == "too late"
    flow = tables["flows"].row(0, named=True)
    own_ms = scenario["path"]["rtt_ns"] / 1e6
    assert flow["delay_p95_ms"] == pytest.approx(flow["rtt_p95_ms"] - own_ms)
    least_s = 2 * own_ms / 1e3 + 300_000 * (1500 / 1448) * 8 / 8e6
    assert flow["slowdown"] == pytest.approx(flow["fct_s"] / least_s)
    assert flow["slowdown"] > 1
    assert tables["summary"]["cubic.slowdown"][0] == pytest.approx(flow["slowdown"])


def test_harm_goes_by_the_direction_that_the_metric_declares() -> None:
    alone = pl.DataFrame({"trial": [1], "bbr.fct_s": [2.0], "bbr.share": [0.5]})
    beside = pl.DataFrame({"trial": [1], "bbr.fct_s": [4.0], "bbr.share": [0.25]})
    for metric in ("bbr.fct_s", "bbr.share"):
        assert harms(alone, beside, metric, on=["trial"])["harm"].to_list() == [0.5]
    assert harms(alone, beside, "bbr.fct_s", ["trial"], "more")["harm"].to_list() == [-1.0]


def test_a_column_finds_its_declaration() -> None:
    share, queue = find("bbr.share"), find("queue_p95_bdp")
    assert share is not None
    assert (share.label, share.better, share.part) == ("share", "more", True)
    assert queue is not None
    assert queue.label == "queue p95 (BDP)"
    assert find("path.rate") is None
