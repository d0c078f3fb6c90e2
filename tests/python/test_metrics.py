"""Metrics against small frames worked out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from specimens import GOOD, samples, scenario_of

from narrows.columns import schema
from narrows.metrics import (
    bottleneck_summary,
    completion_times,
    distribution,
    flow_summaries,
    growth,
    jain,
    mbps,
    queue_bdp,
    shares,
    statistics,
    summarise,
    weighted_mean,
    weighted_quantile,
)
from narrows.metrics.catalogue import FLOW as OF_FLOWS
from narrows.metrics.catalogue import RUN
from narrows.metrics.distributions import distributions
from narrows.metrics.metric import FlowFacts
from narrows.store import RunInfo

FLOW = ("time_s", "flow", "received_bytes", "wire_bytes", "retransmitted")
QUEUE = (
    "time_s",
    "link",
    "arrived_packets",
    "dropped_packets",
    "forwarded_packets",
    "forwarded_bytes",
)
COMPLETIONS = dict(schema("completions"))


def values(rows: list[tuple[float, float]]) -> pl.DataFrame:
    return samples(rows, ["value", "weight"])


def tables(
    flow_rows: list[tuple[Any, ...]], completions: list[tuple[Any, ...]] | None = None
) -> dict[str, pl.DataFrame]:
    return {
        "flow_samples": samples(flow_rows, FLOW).with_columns(
            pl.col("received_bytes", "wire_bytes", "retransmitted").cast(pl.UInt64),
            rtt_ms=pl.lit(None, pl.Float64),
            srtt_ms=pl.lit(None, pl.Float64),
        ),
        "queue_samples": samples([(0.5, 0, 0, 0, 0, 0), (2.0, 0, 0, 0, 0, 0)], QUEUE),
        "completions": pl.DataFrame(completions or [], schema=COMPLETIONS, orient="row"),
        "distributions": samples(
            [("rtt_ms", 0, 20.0, 3.0), ("rtt_ms", 0, 40.0, 1.0), ("queue_bytes", 0, 20_000.0, 1.5)],
            ["kind", "id", "value", "weight"],
        ),
    }


def with_flows(*flows: str, run: str = "") -> dict[str, Any]:
    """A scenario of 8 Mbit/s, 2 s, warm-up 0.5 s with these flows."""
    entries = "".join(f"[[flows]]\n{flow}\n" for flow in flows)
    return scenario_of(GOOD.replace('[[flows]]\ncca = "cubic"\n', entries) + run)


def test_growth_over_a_span() -> None:
    frame = samples(
        [(0.0, 0, 0), (1.0, 0, 10), (2.0, 0, 25), (3.0, 0, 45), (2.0, 1, 5), (3.0, 1, 8)],
        ["time_s", "flow", "sent"],
    )
    assert growth(frame, "flow", ["sent"], 1.0, 3.0).rows() == [(0, 35), (1, 8)]
    assert growth(frame, "flow", ["sent"], 2.0, 2.5).rows() == [(0, 0), (1, 0)]
    assert growth(frame, "flow", ["sent"], -1.0, 2.0).rows() == [(0, 25), (1, 5)]


def test_growth_of_the_unknown_is_unknown() -> None:
    frame = samples([(0.0, 0, None), (1.0, 0, None)], ["time_s", "flow", "dropped"])
    assert growth(frame, "flow", ["dropped"], 0.0, 1.0).rows() == [(0, None)]


def test_growth_forgives_the_last_digit_of_a_time() -> None:
    frame = samples([(0.1 + 0.2, 0, 7)], ["time_s", "flow", "sent"])
    assert growth(frame, "flow", ["sent"], -1.0, 0.3).rows() == [(0, 7)]


def test_means_and_quantiles_follow_weights() -> None:
    rows = values([(1.0, 1.0), (2.0, 2.0), (10.0, 1.0)])
    assert weighted_mean(rows) == 15 / 4
    assert weighted_quantile(rows, 0.0) == 1.0
    assert weighted_quantile(rows, 0.25) == 1.0
    assert weighted_quantile(rows, 0.5) == 2.0
    assert weighted_quantile(rows, 0.75) == 2.0
    assert weighted_quantile(rows, 0.76) == 10.0
    assert weighted_quantile(rows, 1.0) == 10.0


def test_nothing_has_no_statistics() -> None:
    empty = values([])
    assert weighted_mean(empty) is None
    assert weighted_quantile(empty, 0.5) is None
    assert statistics(values([(3.0, 0.0)]), ["min", "max", "p50"]) == {
        "min": None,
        "max": None,
        "p50": None,
    }


def test_statistics_by_name() -> None:
    rows = values([(0.0, 0.0), (10.0, 90.0), (20.0, 9.0), (30.0, 1.0)])
    assert statistics(rows, ["min", "mean", "p5", "p50", "p95", "p99", "max"], 0.1) == {
        "min": 1.0,
        "mean": pytest.approx(1.11),
        "p5": 1.0,
        "p50": 1.0,
        "p95": 2.0,
        "p99": 2.0,
        "max": 3.0,
    }


def test_a_distribution_is_picked_and_ordered() -> None:
    table = samples(
        [("rtt_ms", 1, 9.0, 1.0), ("rtt_ms", 0, 5.0, 1.0), ("rtt_ms", 1, 2.0, 4.0)],
        ["kind", "id", "value", "weight"],
    )
    assert distribution(table, "rtt_ms", 1).rows() == [(2.0, 4.0), (9.0, 1.0)]
    assert distribution(table, "queue_bytes", 0).is_empty()


def test_jains_index_is_one_for_equal_amounts() -> None:
    assert jain([5.0, 5.0, 5.0]) == pytest.approx(1.0)
    assert jain([1.0, 0.0, 0.0, 0.0]) == pytest.approx(0.25)
    assert jain([3.0, 1.0]) == pytest.approx(16 / 20)
    assert jain([]) is None
    assert jain([0.0, 0.0]) is None


def test_shares_leave_out_unknown_amounts() -> None:
    assert shares([3.0, 1.0]) == [0.75, 0.25]
    assert shares([3.0, None]) == [1.0, None]
    assert shares([0.0, 0.0]) == [None, None]


def test_a_rate_needs_bytes_and_time() -> None:
    assert mbps(1_000_000, 2.0) == 4.0
    assert mbps(None, 2.0) is None
    assert mbps(1, 0.0) is None


def test_an_endless_flow_counts_from_the_warm_up() -> None:
    rows = [(0.0, 0, 0, 0, 0), (0.5, 0, 100, 110, 2), (2.0, 0, 750_100, 780_110, 5)]
    [flow] = flow_summaries(with_flows('cca = "cubic"'), tables(rows), 2.0)
    assert flow["goodput_mbps"] == pytest.approx(4.0)
    assert flow["throughput_mbps"] == pytest.approx(4.16)
    assert flow["retransmits"] == 3
    assert flow["rtt_ms"].pop("time_mean") is None
    assert flow["rtt_ms"] == {"min": 20.0, "mean": 25.0, "p50": 20.0, "p95": 40.0, "p99": 40.0}
    assert flow["fct_s"] is None
    assert flow["share"] == 1.0
    assert (flow["name"], flow["cca"], flow["start_s"]) == ("cubic-1", "cubic", 0.0)


def test_the_mean_over_time_counts_samples_and_the_mean_of_rtts_each_of_them() -> None:
    scenario = with_flows('cca = "cubic"')
    rows = [(time_s, 0, 0, 0, 0) for time_s in (0.4, 0.5, 1.0, 1.5, 2.0)]
    made = tables(rows)
    latest = {"rtt_ms": [99.0, 20.0, 20.0, None, 40.0], "srtt_ms": [9.0, 9.0, 9.0, 36.0, 9.0]}
    made["flow_samples"] = made["flow_samples"].with_columns(
        pl.Series(name, found) for name, found in latest.items()
    )
    (flow,) = flow_summaries(scenario, made, 2.0)
    assert flow["rtt_ms"]["mean"] == (3 * 20 + 40) / 4
    assert flow["rtt_ms"]["time_mean"] == (20 + 20 + 36 + 40) / 4
    scenario["run"]["record"] = "summary"
    (flow,) = flow_summaries(scenario, made, 2.0)
    assert flow["rtt_ms"]["time_mean"] is None


@pytest.mark.parametrize("count", [1, 7, 8, 9, 127, 129, 1000, 4097])
def test_the_mean_over_time_is_added_as_numpy_does(count: int) -> None:
    """Stored results have it so, to the last bit."""
    rtts = np.random.default_rng(count).lognormal(3, 1, count)
    rows = [(0.5 + at * 1e-4, 0, 0, 0, 0) for at in range(count)]
    made = tables(rows)
    made["flow_samples"] = made["flow_samples"].with_columns(rtt_ms=pl.Series(rtts))
    (flow,) = flow_summaries(with_flows('cca = "cubic"'), made, 2.0)
    assert flow["rtt_ms"]["time_mean"] == rtts.mean()


def test_late_and_stopped_flows_count_over_their_own_span() -> None:
    scenario = with_flows('cca = "cubic"\nstart = "1s"', 'cca = "reno"\nstop = "1s"')
    rows = [(0.5, 0, 0, 0, 0), (0.5, 1, 0, 0, 0), (2.0, 0, 500_000, 0, 0), (2.0, 1, 250_000, 0, 0)]
    late, stopped = flow_summaries(scenario, tables(rows), 2.0)
    assert late["goodput_mbps"] == pytest.approx(4.0)
    assert stopped["goodput_mbps"] == pytest.approx(4.0)
    assert late["share"] == pytest.approx(2 / 3)
    assert stopped["share"] == pytest.approx(1 / 3)


def test_a_finished_flow_counts_over_its_life() -> None:
    scenario = with_flows('cca = "cubic"\nstart = "0.25s"\nsize = "500kb"')
    rows = [(0.5, 0, 100_000, 104_000, 1), (2.0, 0, 500_000, 520_000, 4)]
    done = [(0, 0, 0.25, 1.25, 500_000, 4)]
    [flow] = flow_summaries(scenario, tables(rows, done), 2.0)
    assert flow["fct_s"] == pytest.approx(1.0)
    assert flow["goodput_mbps"] == pytest.approx(4.0)
    assert flow["throughput_mbps"] == pytest.approx(4.16)
    assert flow["retransmits"] == 4
    assert flow["share"] == 1.0


def test_a_flow_that_never_began() -> None:
    scenario = with_flows('cca = "cubic"\nstart = "1.9s"')
    [flow] = flow_summaries(scenario, tables([(0.5, 0, 0, 0, 0), (1.0, 0, 0, 0, 0)]), 1.0)
    assert flow["goodput_mbps"] is None
    assert flow["share"] is None
    assert flow["retransmits"] == 0


CHAIN = (
    'name = "big"\ncca = "cubic"\nsize = "1mb"',
    'name = "chain"\ncca = "reno"\nsize = "100kb"\nrepeat_gap = "0.1s"\nwhile = "big"',
)


def test_every_flow_of_a_chain_is_listed() -> None:
    rows = [
        (0.5, 0, 0, 0, 0),
        (0.5, 1, 50_000, 0, 0),
        (2.0, 0, 400_000, 0, 0),
        (2.0, 1, 250_000, 0, 9),
    ]
    done = [(1, 0, 0.0, 1.0, 100_000, 2), (1, 1, 1.1, 1.5, 100_000, 3)]
    big, first, second, last = flow_summaries(with_flows(*CHAIN), tables(rows, done), 2.0)
    assert [entry["name"] for entry in (big, first, second, last)] == ["big", *["chain"] * 3]
    assert [entry["instance"] for entry in (first, second, last)] == [0, 1, 2]
    assert [entry["start_s"] for entry in (first, second, last)] == pytest.approx([0.0, 1.1, 1.6])
    assert (first["fct_s"], second["fct_s"]) == pytest.approx((1.0, 0.4))
    assert last["fct_s"] is None
    assert first["goodput_mbps"] == pytest.approx(0.8)
    assert second["goodput_mbps"] == pytest.approx(2.0)
    assert last["goodput_mbps"] == pytest.approx(1.0)
    assert [entry["retransmits"] for entry in (first, second, last)] == [2, 3, 4]
    assert first["share"] == pytest.approx(50_000 / 600_000)
    assert big["share"] == pytest.approx(400_000 / 600_000)
    assert sum(entry["share"] for entry in (big, first, second, last)) == pytest.approx(1.0)


def test_a_chain_that_has_finished_has_no_flow_more() -> None:
    rows = [(0.5, 0, 0, 0, 0), (2.0, 0, 1, 0, 0), (0.5, 1, 0, 0, 0), (2.0, 1, 100_000, 0, 2)]
    done = [(1, 0, 0.0, 1.0, 100_000, 2)]
    assert len(flow_summaries(with_flows(*CHAIN), tables(rows, done), 2.0)) == 2


def test_a_chain_without_a_finished_flow_is_listed_once() -> None:
    rows = [(0.5, 0, 0, 0, 0), (2.0, 0, 1, 0, 0), (0.5, 1, 0, 0, 0), (2.0, 1, 50_000, 0, 2)]
    _, only = flow_summaries(with_flows(*CHAIN), tables(rows), 2.0)
    assert only["fct_s"] is None
    assert only["goodput_mbps"] == pytest.approx(0.2)


def test_completion_times_count_from_the_start() -> None:
    frame = pl.DataFrame(
        [(1, 0, 0.5, 0.75, 10, 0), (0, 0, 0.0, 2.0, 10, 0)], schema=COMPLETIONS, orient="row"
    )
    found = completion_times(frame).select("flow", "fct_s").rows()
    assert found == [(0, 2.0), (1, 0.25)]


def test_the_bottleneck_counts_from_the_warm_up() -> None:
    scenario = with_flows('cca = "cubic"')
    rows = [(0.0, 0, 0, 0, 0, 0), (0.5, 0, 100, 10, 90, 135_000), (2.0, 0, 900, 30, 860, 885_000)]
    frames = tables([(0.5, 0, 0, 0, 0)]) | {"queue_samples": samples(rows, QUEUE)}
    found = bottleneck_summary(scenario, frames, 2.0)
    assert found["loss_rate"] == pytest.approx(20 / 800)
    assert found["drops"] == 20
    assert found["forwarded"] == 770
    assert found["utilization"] == pytest.approx(0.5)
    assert found["queue_bdp"] == {"mean": 1.0, "p5": 1.0, "p50": 1.0, "p95": 1.0, "max": 1.0}


def test_a_run_that_ended_in_its_warm_up() -> None:
    scenario = with_flows('cca = "cubic"')
    frames = tables([(0.0, 0, 0, 0, 0), (0.2, 0, 9, 9, 0)])
    found = bottleneck_summary(scenario, frames, 0.2)
    assert found["utilization"] is None
    assert found["loss_rate"] is None
    [flow] = flow_summaries(scenario, frames, 0.2)
    assert flow["goodput_mbps"] is None


def test_the_summary_has_the_promised_shape() -> None:
    scenario = with_flows('cca = "cubic"')
    info = RunInfo("sim", "1", "ab", 2.0, 1000, 0.25, 0.5)
    rows = [(0.5, 0, 0, 0, 0), (2.0, 0, 750_000, 780_000, 5)]
    found = summarise(scenario, tables(rows), info)
    measured = [metric.name for metric in RUN if metric.measure is not None]
    assert "convergence_s" in measured
    assert list(found) == [
        *("scenario", "backend", "seed", "flows", "bottleneck"), *measured, "perf"
    ]  # fmt: skip
    assert found["scenario"] == scenario
    assert (found["backend"], found["seed"]) == ("sim", 1)
    assert list(found["flows"][0]) == [
        "name",
        "cca",
        "start_s",
        "goodput_mbps",
        "throughput_mbps",
        "retransmits",
        "rtt_ms",
        "fct_s",
        "share",
    ]
    assert list(found["bottleneck"]) == [
        "loss_rate",
        "utilization",
        "queue_bdp",
        "queue_ms",
        "drops",
        "forwarded",
    ]
    assert found["perf"] == {"packets": 1000, "cpu_s": 0.25, "wall_s": 0.5}


def test_extremes_are_exact_where_the_back_end_knows_them() -> None:
    rows = [
        ("rtt_ms", 0, 19.97, 3.0),
        ("rtt_ms", 0, 40.1, 1.0),
        ("rtt_min_ms", 0, 20.0, 0.0),
        ("rtt_max_ms", 0, 40.0, 0.0),
        ("rtt_ms", 1, 7.0, 1.0),
    ]
    kinds = {"distributions": samples(rows, ["kind", "id", "value", "weight"])}
    scenario = with_flows('cca = "cubic"', 'cca = "reno"')
    one, other = (flow["rtt_ms"] for flow in flow_summaries(scenario, kinds, 2.0))
    assert (one["min"], one["p50"], one["p99"]) == (20.0, 20.0, 40.0)
    assert one["mean"] == pytest.approx((3 * 19.97 + 40.1) / 4)
    assert (other["min"], other["p99"]) == (7.0, 7.0)
    assert queue_bdp(scenario, kinds["distributions"])["max"] is None


def test_distributions_are_told_apart_whatever_their_order() -> None:
    rows = [
        ("rtt_ms", 0, 30.0, 1.0),
        ("rtt_ms", 1, 9.0, 2.0),
        ("rtt_ms", 0, 20.0, 3.0),
        ("queue_bytes", 0, 1500.0, 1.0),
        ("queue_bytes", 1, 0.0, 1.0),
    ]
    parts = distributions(samples(rows, ["kind", "id", "value", "weight"]))
    assert list(parts) == [("rtt_ms", 0), ("rtt_ms", 1), ("queue_bytes", 0), ("queue_bytes", 1)]
    assert parts["rtt_ms", 0].frame().select("value", "weight").rows() == [(20.0, 3.0), (30.0, 1.0)]
    assert distributions(samples([], ["kind", "id", "value", "weight"])) == {}


def test_one_way_delays_are_those_of_the_router_and_stand_for_unknown_round_trips() -> None:
    scenario = scenario_of(GOOD)
    frames = tables([(0.5, 0, 0, 0, 0), (2.0, 0, 100, 150, 0)])
    rows = [("one_way_ms", 0, 12.0, 3.0), ("one_way_ms", 0, 28.0, 1.0)]
    router = samples(rows, ["kind", "id", "value", "weight"])

    def find(distributions: pl.DataFrame) -> dict[str, float | None]:
        (entry,) = flow_summaries(scenario, {**frames, "distributions": distributions}, 2.0)
        facts = FlowFacts(entry, scenario["flows"][0], scenario["path"])
        names = ("owd_mean_ms", "owd_p95_ms", "delay_mean_ms")
        return {metric.name: metric.read(facts) for metric in OF_FLOWS if metric.name in names}

    assert find(router) == {"owd_mean_ms": 16.0, "owd_p95_ms": 28.0, "delay_mean_ms": 6.0}
    both = pl.concat([frames["distributions"], router])
    assert find(both) == {"owd_mean_ms": 16.0, "owd_p95_ms": 28.0, "delay_mean_ms": 5.0}
    simulated = {"owd_mean_ms": None, "owd_p95_ms": None, "delay_mean_ms": 5.0}
    assert find(frames["distributions"]) == simulated
