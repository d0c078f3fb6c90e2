"""Rules of the slides' newer statements, on frames made by hand, and BBR's states."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import polars as pl

import narrows as nw
from narrows import _native
from narrows.reproduce.exhibit import Data, Scope
from narrows.reproduce.judging import ratios
from narrows.reproduce.study_code import load
from narrows.store import StoredTrial

backlog = load("ietf98", "backlog.py")
convergence = load("ietf98", "convergence.py")
lte_startup = load("ietf98", "lte_startup.py")
state_walk = load("ietf98", "state_walk.py")
video = load("ietf98", "video.py")

SCOPE = Scope("linux-4.9")


def test_the_ratio_of_zero_to_zero_is_one() -> None:
    assert ratios([1.0, 2.0, 0.0], [2.0, 0.0, 0.0]) == [0.5, math.inf, 1.0]


def videos(exported: float, longest: float) -> Data:
    """A trial in which formats up to `longest` play without stalls, with `exported` as estimate."""
    rows = [
        {"what": "video", "beside": "alone", "format_mbps": rate, "cca": "bbr", "trial": 1,
         "exported": exported, "cwnd_rtt": 100.0, "stalls": 0.0 if rate <= longest else 3.0,
         "stalled_s": 0.0 if rate <= longest else 9.0}
        for rate in video.FORMATS
    ]  # fmt: skip
    return Data({"outcome": pl.DataFrame(rows)}, SCOPE)


def test_the_estimate_must_pick_the_highest_format_without_stalls() -> None:
    assert video.picks(videos(9.6, 8.0), "alone", "exported") == [100.0]
    assert video.picks(videos(9.6, 5.0), "alone", "exported") == [0.0], "too high"
    assert video.picks(videos(4.0, 8.0), "alone", "exported") == [0.0], "too low"
    assert video.picks(videos(0.4, 1.0), "alone", "exported") == [100.0], "nothing lower is there"
    assert video.picks(videos(9.6, 8.0), "alone", "cwnd_rtt") == [0.0]


def links(busy: dict[int, float], queue: float) -> Data:
    """Three trials: CUBIC has all of each link, a window of a BDP `busy` percent of it."""
    rows = [
        {"sender": sender, "full_kb": full, "trial": trial,
         "busy": busy[full] if sender == "one BDP" else 100.0, "queue": queue}
        for sender in backlog.SENDERS
        for full in backlog.FULL_KB
        for trial in (1, 2, 3)
    ]  # fmt: skip
    return Data({"outcome": pl.DataFrame(rows)}, SCOPE)


def test_a_link_with_a_queue_of_bursts_explains_a_full_grant() -> None:
    low = dict.fromkeys(backlog.FULL_KB, 30.0)
    (found,) = backlog.judge(links(low, 0.04))
    assert found.verdict == "confirmed"
    (found,) = backlog.judge(links({**low, 25: 97.0}, 0.09))
    assert found.verdict == "differs"
    (found,) = backlog.judge(links({**low, 25: 97.0}, 0.01))
    assert found.verdict == "refuted", "there is no queue that could be the reason"


def walk(flight: float, rtt_ms: float, rate_mbps: float) -> Data:
    """Three trials of a flow with this flight, in BDP, RTT and rate."""
    times = [at / 200 for at in range(200)]
    frame = pl.DataFrame({"time_s": times}).with_columns(
        in_flight=pl.lit(flight * state_walk.BDP_PACKETS), rtt_ms=pl.lit(rtt_ms),
        rate_mbps=pl.lit(rate_mbps), cca_state=pl.lit("probe_bw"),
    )  # fmt: skip
    whole = pl.concat(frame.with_columns(trial=pl.lit(trial)) for trial in (1, 2, 3))
    return Data({"samples": whole}, SCOPE)


def test_the_lowest_rtt_belongs_to_the_left_and_the_highest_rate_to_the_right() -> None:
    assert state_walk.lowest_rtt(walk(0.8, 40.5, 8.0)).passed
    assert state_walk.lowest_rtt(walk(1.4, 40.5, 8.0)).passed is False
    assert state_walk.lowest_rtt(walk(1.07, 43.0, 10.0)).passed, "a packet takes 1.2 ms on the link"
    assert state_walk.right(walk(1.4, 60.0, 10.0)).passed
    assert state_walk.right(walk(0.8, 40.5, 10.0)).passed is False
    assert state_walk.lowest_rtt(walk(1.4, 60.0, 10.0)).passed is False, "it is never seen"


def test_bbr_goes_only_where_its_diagram_has_an_edge(tmp_path: Path) -> None:
    path = nw.Path(rate="10mbit", rtt="40ms", buffer="5bdp")
    run = nw.Run(duration="12s", sample_interval="5ms")
    scenario = nw.Scenario(name="walk", path=path, flows=[nw.Flow(cca="bbr")], run=run)
    states = nw.run(scenario, out=tmp_path / "run").table("flow_samples")["cca_state"].drop_nulls()
    seen = states.to_list()
    changes = {(a, b) for a, b in pairwise(seen) if a and a != b}
    assert {("startup", "drain"), ("drain", "probe_bw"), ("probe_bw", "probe_rtt")} <= changes
    assert changes <= set(_native.bbr_transitions())


def test_a_probe_is_noticed_by_the_smoothed_rtt_if_a_kernel_reports_no_other() -> None:
    times = [9.9, 10.0, 10.1, 10.2]
    states = ["probe_bw", "probe_bw", "probe_rtt", "probe_bw"]
    flow, other = (
        pl.DataFrame(
            {
                "flow": number,
                "time_s": times,
                "rtt_ms": pl.Series([None] * len(times), dtype=pl.Float64),
                "srtt_ms": [20.0, 20.0, 12.0, 14.0],
                "cca_state": named,
            }
        )
        for number, named in ((0, states), (1, ["probe_bw"] * len(times)))
    )
    trial = SimpleNamespace(
        tables={"flow_samples": pl.concat([flow, other])}, scenario={"flows": [{}, {}]}
    )
    notices = convergence.probes(cast(StoredTrial, trial))["notices"]
    assert notices.select("flow", "before_ms", "during_ms").row(0) == (1, 20.0, 12.0)


DONE = {
    "flow": pl.UInt32, "instance": pl.UInt32, "start_s": pl.Float64, "end_s": pl.Float64,
    "size_bytes": pl.UInt64, "retransmitted": pl.UInt64,
}  # fmt: skip


def test_losses_until_slow_start_ends_are_retransmissions_if_a_kernel_reports_no_others() -> None:
    rows = {"time_s": [0.1, 0.2], "flow": [0, 0], "cwnd": [10, 40], "received_bytes": [1, 2],
            "lost": [None, None], "retransmitted": [0, 2],
            "cca_state": ["slow_start", "congestion_avoidance"]}  # fmt: skip
    samples = pl.DataFrame(rows, schema_overrides={"lost": pl.Int64})
    trial = SimpleNamespace(
        tables={"flow_samples": samples, "completions": pl.DataFrame(schema=DONE)},
        scenario={"flows": [{"name": "a", "cca": "cubic"}], "run": {"warmup_ns": 0}},
    )
    ends = lte_startup.measure(cast(StoredTrial, trial))["ends"]
    assert ends.select("exit_cwnd", "exit_lost").row(0) == (40, 2)
