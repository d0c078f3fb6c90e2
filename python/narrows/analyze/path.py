"""Estimates of the path from a capture: its rate, its delay, its queue.

They hold where the flows of a capture share one bottleneck and fill it: the rate is the highest
that was seen, the delay the minimum RTT, and the queue the excess of round trips over it. Where
round trips hardly exceed their minimum no queue was filled, so the capacity wasn't reached and is
unknown; the highest rate is only a lower bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from narrows.columns import compute_table
from narrows.late import pl
from narrows.packets import PACKET_BYTES, WIRE

WINDOW_S = 0.1
"""Rates are taken over windows at least this long."""
_HIGH = 0.95
GUESS_S = 0.1
"""Our choice for a buffer of which nothing is known: a round trip across a continent."""
STANDING_MS, STANDING_PART = 1.0, 0.05
"""A flow saw no queue if its mean RTT exceeds the minimum by less than this, in ms or in parts."""

BURSTS, SPARE = 1.3, 4
"""An application's highest rate below this many times the mean isn't a burst: it gets more room."""
_FILLED = {"reno": 0.5, "cubic": 0.75, "bbr": 0.2}
"""The part of a buffer of 1 BDP that a control fills on average: Reno's window falls to a half of
2 BDP, CUBIC's to 0.7 of them, and BBR probes with a queue for a part of the time."""
_FIXED = ("receiver_window", "send_buffer", "reordering")
"""First causes that a specification states as a window."""
_NOT_FULL = ("policer", "random_loss", "slow_start")
"""First causes of a flow that met a queue occasionally at most, with its own bursts."""

Flow = Mapping[str, Any]


@dataclass(frozen=True)
class PathEstimate:
    """Rate in bit/s, two-way delay in ns, and the largest queue in bytes.

    If the capacity isn't `known`, the rate is the highest that was seen; if the delay isn't, it is
    only a stand-in. If no queue shows the buffer, it is a guess: a BDP, or `GUESS_S` if the delay
    is unknown, too. `usual_rtt_ns` is the flow's own RTT if its bursts wait in no simulated queue.
    """

    rate_bps: int
    rtt_ns: int
    buffer_bytes: int
    known: bool
    delay_known: bool
    buffer_known: bool = True
    usual_rtt_ns: int | None = None


def round_trip_ms(flow: Flow) -> float | None:
    """The minimum RTT from sender to receiver and back that a flow shows, in ms."""
    ahead, behind = flow["to_receiver_ms"], flow["to_sender_ms"]
    if ahead is None:
        return None
    return float(ahead) if behind is None else float(ahead) + float(behind)


def estimate(
    flows: Sequence[Flow],
    samples: pl.DataFrame,
    interval_s: float,
    known_bps: int | None = None,
) -> PathEstimate:
    """The path that `flows` and their `flow_samples` show; its rate may be known already."""
    rtts = [rtt for rtt in (round_trip_ms(flow) for flow in flows) if rtt]
    rtt_ns = max(round(min(rtts, default=1.0) * 1e6), 1000)
    rate_bps = known_bps or max(_highest_rate(samples, max(WINDOW_S, interval_s)), 1000)
    # The RTTs of thin flows are longer by delayed acknowledgements.
    most = max(flow["received_bytes"] for flow in flows) / 2
    delays = [_most_delay_ms(flow) for flow in flows if flow["received_bytes"] >= most]
    known, usual_rtt_ns = _any_queue(flows), None
    if len(flows) == 1 and "causes" in flows[0]:  # an import shows no packets, so no causes
        rate_bps, known = _rate_of_single_flow(flows[0], rate_bps)
        shared = flows[0]["causes"]["first"] == "fair_share"
        if shared and flows[0]["vantage"] == "sender":
            return _share(flows[0])
        usual_rtt_ns = _usual_rtt(flows[0])
    queue = rate_bps * max(delays, default=0.0) / 8e3
    shown = known and queue > 0
    if not shown:
        queue = max(queue, rate_bps * (rtt_ns / 1e9 if rtts else GUESS_S) / 8)
    buffer = max(round(queue), PACKET_BYTES)
    return PathEstimate(rate_bps, rtt_ns, buffer, known, bool(rtts), shown, usual_rtt_ns)


def _most_delay_ms(flow: Flow) -> float:
    """The longest wait of a flow's packets, by round trips; at the receiver by its sender's."""
    if flow.get("vantage") == "receiver":
        return float(flow["causes"]["evidence"]["most_queue_ms"] or 0.0)
    return float((flow["rtt_ms"]["p99"] or 0.0) - (flow["rtt_ms"]["min"] or 0.0))


def _usual_rtt(flow: Flow) -> int | None:
    """The mean RTT in ns of a flow whose window is as if fixed: no queue of it is simulated.

    Its bursts waited, or its minimum RTT is that of packets sent ahead of others.
    """
    fixed = flow["vantage"] == "sender" and flow["causes"]["first"] in _FIXED
    mean = flow["rtt_ms"]["mean"]
    return round(mean * 1e6) if fixed and mean else None


def _share(flow: Flow) -> PathEstimate:
    """A path of the rate that others left; their queue is a delay that the flow can't change.

    The buffer is what its own control fills to the measured mean, `_FILLED` of it on average.
    """
    mean_ns, least_ns = (round(flow["rtt_ms"][name] * 1e6) for name in ("mean", "min"))
    filled = _FILLED.get(flow["control"]["control"], _FILLED["cubic"])
    rate_bps = max(round(flow["goodput_mbps"] * 1e6 * WIRE), 1000)
    rtt_ns = max(round(mean_ns / (1 + filled)), least_ns)
    buffer = max(round(rate_bps * (mean_ns - rtt_ns) / 8e9 / filled), 4 * PACKET_BYTES)
    # A buffer of a few packets delays by more than the share of it that was meant.
    own_ns = round(filled * buffer * 8e9 / rate_bps)
    return PathEstimate(rate_bps, max(mean_ns - own_ns, least_ns), buffer, True, True)


def _rate_of_single_flow(flow: Flow, highest_bps: int) -> tuple[int, bool]:
    """The rate that one flow shows, and whether it is the path's, or what others left of it.

    Bursts of a flow that doesn't fill the path pass at its rate, so the highest rate over a round
    trip is near it; of an application that writes steadily it says nothing.
    """
    causes = flow["causes"]
    full, least = causes["evidence"]["full_rate_mbps"], causes["capacity"]["at_least_mbps"]
    if full is not None and causes["first"] not in _NOT_FULL:
        return round(full * 1e6 * WIRE), True
    if not least:
        return highest_bps, False
    steady = least < BURSTS * (flow["goodput_mbps"] or 0.0)
    unlimited = causes["first"] in ("slow_start", "policer")
    spare = SPARE if unlimited or (steady and causes["first"] == "application") else 1
    return round(spare * least * 1e6 * WIRE), False


def _any_queue(flows: Sequence[Flow]) -> bool:
    """Returns True if flows met a queue; round trips at the receiver don't pass it."""
    return any(flow.get("vantage") != "receiver" and met_queue(flow["rtt_ms"]) for flow in flows)


def met_queue(rtt: Mapping[str, float | None]) -> bool:
    """Returns True if round trips show a queue, not only short bursts of a flow's own packets."""
    mean, least = rtt["mean"], rtt["min"]
    if not mean or not least:
        return False
    return mean - least >= max(STANDING_MS, STANDING_PART * least)


def _highest_rate(samples: pl.DataFrame, window_s: float) -> int:
    """The 95th percentile of all flows' wire rate over windows, of those with traffic.

    Between two samples the bytes are taken to pass evenly, so that samples at odd times don't fall
    two into one window.
    """
    grown = growth_by_time(samples)
    if grown.is_empty():
        return 0
    times, total = grown["time_s"].to_numpy(), grown["wire_bytes"].fill_null(0).cum_sum().to_numpy()
    count = max(int(times[-1] / window_s + 1e-6), 1)
    passed = np.diff(np.interp(np.arange(count + 1) * window_s, times, total, left=0.0))
    busy = pl.Series(passed[passed > 0])
    high = busy.quantile(_HIGH, "higher") if len(busy) else None
    return round((high or 0.0) * 8 / window_s)


_COUNTERS = ("sent", "lost", "received_bytes", "wire_bytes")


def growth_by_time(samples: pl.DataFrame) -> pl.DataFrame:
    """The growth of all flows' counters from each instant to the next."""
    counters = [pl.col(name).cast(pl.Int64) for name in _COUNTERS]
    known = samples.with_columns(pl.coalesce("dropped", "lost").alias("lost"))
    grown = known.sort("flow", "time_s").select(
        "time_s",
        *(c.diff().fill_null(c).over("flow").alias(c.meta.output_name()) for c in counters),
    )
    # A counter that no flow knows stays unknown.
    sums = [pl.when(pl.col(n).count() > 0).then(pl.col(n).sum()).alias(n) for n in _COUNTERS]
    return grown.group_by("time_s").agg(sums).sort("time_s")


def queue_samples(
    flows: Sequence[Flow],
    samples: pl.DataFrame,
    capacity_known: bool,
    rate_bps: int | None = None,
) -> pl.DataFrame:
    """The bottleneck as the flows felt it, in the columns that every back end writes.

    The backlog is what the link serves in the time by which RTTs exceed their minimum: at
    `rate_bps`, or at the rate of the flows in each interval. The latter is exact in captures; other
    programs sample one flow at a time and count blocks. Packets lost count as dropped by the queue:
    those that never arrived if both ends were captured, otherwise those retransmitted. What the
    flows don't show is null; of a link whose capacity is unknown that are its queue and its drops.
    """
    least = {i: flow["rtt_ms"]["min"] or 0.0 for i, flow in enumerate(flows)}
    minimum = pl.col("flow").cast(pl.Int64).replace_strict(least, return_dtype=pl.Float64)
    passed_mbps = pl.col("delivery_mbps")
    queued = (pl.col("rtt_ms") - minimum).clip(0) * passed_mbps * 125
    size = queued.sum()
    if rate_bps is not None:
        size *= rate_bps / 1e6 / passed_mbps.filter(queued.is_not_null()).sum()
    felt = queued.count() > 0 if capacity_known else False
    backlog = samples.group_by("time_s").agg(
        pl.when(felt).then(size).fill_nan(None).alias("backlog")
    )
    grown = growth_by_time(samples).join(backlog, on="time_s", how="left").sort("time_s")
    whole = pl.col("backlog").round().cast(pl.UInt64)
    total = {name: pl.col(name).cum_sum() for name in _COUNTERS}
    if not capacity_known:
        total["lost"] = pl.lit(None, pl.Int64)
    passed = (pl.col("sent") - pl.col("lost")).cum_sum().clip(0)
    known = {
        "time_s": pl.col("time_s"),
        "link": pl.lit(0),
        "backlog_bytes": whole,
        "backlog_packets": whole // PACKET_BYTES,
        "arrived_packets": total["sent"],
        "dropped_packets": total["lost"],
        "marked_packets": pl.when(pl.col("sent").is_not_null()).then(0),
        "forwarded_packets": passed if capacity_known else pl.lit(None, pl.Int64),
        "forwarded_bytes": total["wire_bytes"],
    }
    return compute_table("queue_samples", grown, known)


def queue_distribution(queue: pl.DataFrame) -> pl.DataFrame:
    """The time that the queue spent at each length, as rows of `distributions`."""
    spans = np.diff(queue["time_s"].to_numpy(), prepend=0.0)
    rows = queue.select(value=pl.col("backlog_bytes").cast(pl.Float64)).with_columns(
        weight=pl.Series(spans)
    )
    rows = rows.drop_nulls("value")
    rows = rows.group_by("value").agg(pl.col("weight").sum()).filter(pl.col("weight") > 0)
    known = {"kind": pl.lit("queue_bytes"), "id": pl.lit(0)}
    same = {name: pl.col(name) for name in ("value", "weight")}
    return compute_table("distributions", rows.sort("value"), known | same)
