"""Counters turned into rates in windows."""

from __future__ import annotations

import polars as pl
import pytest
import synthetic_run

from narrows.metrics import windows


@pytest.mark.parametrize(
    ("end_s", "window_s", "expected"),
    [
        (2.0, 0.5, [0, 0.5, 1, 1.5, 2]),
        (1.2, 0.5, [0, 0.5, 1, 1.2]),
        (1.1, 0.5, [0, 0.5, 1.1]),
        (0.3, 0.5, [0, 0.3]),
        (0, 0.5, [0, 0.5]),
        (0.6, 0.1, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]),
    ],
)
def test_windows_cover_the_run_and_short_rests_join_the_last(end_s, window_s, expected):
    assert windows.edges(end_s, window_s).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(("end_s", "window_s"), [(1, 0), (-1, 0.5)])
def test_windows_refuse_what_has_no_length(end_s, window_s):
    with pytest.raises(ValueError, match="no time to cover"):
        windows.edges(end_s, window_s)


def flows(*rows):
    return pl.DataFrame(rows, schema=["time_s", "flow", "wire_bytes"], orient="row")


def test_throughput_sums_the_flows_of_a_class_and_leaves_others_out():
    samples = flows(
        (0.0, 0, 0), (0.0, 1, 0), (0.0, 2, 0),
        (0.5, 0, 62_500), (0.5, 1, 0), (0.5, 2, 999_999),
        (1.0, 0, 62_500), (1.0, 1, 125_000), (1.0, 2, 999_999),
    )  # fmt: skip
    rates = windows.throughput(samples, {0: "bbr", 1: "bbr"}, 0.5).frame()
    assert rates.get_column("class").to_list() == ["bbr", "bbr"]
    assert rates.get_column("throughput_mbps").to_list() == pytest.approx([1.0, 2.0])


def test_throughput_between_samples_grows_evenly():
    samples = flows((0.0, 0, 0), (2.0, 0, 1_000_000))
    rates = windows.throughput(samples, {0: "cubic"}, 0.5).frame()
    assert rates.get_column("throughput_mbps").to_list() == pytest.approx([4.0] * 4)


def test_throughput_is_null_where_wire_bytes_are_unknown():
    samples = flows((0.0, 0, None), (1.0, 0, None)).cast({"wire_bytes": pl.UInt64})
    rates = windows.throughput(samples, {0: "cubic"}, 0.5).frame()
    assert rates.get_column("throughput_mbps").to_list() == [None, None]


def test_all_windows_together_hold_every_byte():
    tables = synthetic_run.tables(23.7)
    rates = windows.throughput(tables["flow_samples"], {0: "a", 1: "a", 2: "b", 3: "b"}, 0.5)
    sent = (rates["throughput_mbps"] * (rates["end_s"] - rates["start_s"])).sum() * 1e6 / 8
    last = tables["flow_samples"].group_by("flow").agg(pl.col("wire_bytes").max())
    assert sent == pytest.approx(last["wire_bytes"].sum(), rel=1e-9)


def test_queue_loss_is_dropped_of_arrived_and_unknown_without_arrivals():
    queue = pl.DataFrame(
        {
            "time_s": [0.0, 0.5, 1.0, 1.5],
            "link": [0, 0, 0, 0],
            "arrived_packets": [0, 200, 300, 300],
            "dropped_packets": [0, 2, 52, 52],
        }
    )
    lost = windows.queue_loss(queue, 0.5).frame()
    assert lost["loss_rate"].to_list() == [pytest.approx(0.01), pytest.approx(0.5), None]


def test_windows_of_nothing_name_the_remedy():
    empty = flows((0.0, 0, 0)).clear()
    with pytest.raises(ValueError, match="record"):
        windows.throughput(empty, {0: "bbr"})
