"""Figure 5: the standing queues of BBR and of CUBIC in a large buffer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.frames import bdp_bytes, buffer_bytes
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.metrics.distributions import distribution, statistics
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

BUFFER = 8.0
LARGE = 2.0
"""Queues are compared in buffers in which BBR's has room."""
BURSTS = 6
"""Packets that a window has above its gain times the BDP: three bursts, of two packets each up to
about 16 Mbit/s of a flow (`bbr_target_cwnd`, `bbr_tso_segs_goal`)."""
PACKET_BITS = 8 * 1500
SHOWN_SINCE_WARMUP_S = (60.0, 120.0)
"""The minute that the figure shows, after the warm-up."""


def cases(scope: Scope) -> Iterator[Case]:
    """The two runs of the figure, and BBR over the larger buffers of Table I."""
    for kind in ("bbr", "cubic"):
        yield Case({"set": "figure", "kind": kind, "flows": 4, "rate_mbps": 80,
                    "buffer_bdp": BUFFER}, testbed.minute(scope, kind, BUFFER))  # fmt: skip
    for case in testbed.table(scope, ("bbr",), LARGE):
        yield Case({"set": "table", **case.key}, case.spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The queue over the minute shown; quantiles of queue and RTT after the warm-up."""
    since = pl.col("time_s") - run_frames.warmup_s(trial)
    queue = run_frames.queue(trial).with_columns(since.alias("time_s"))
    shown = queue.filter(pl.col("time_s").is_between(*SHOWN_SINCE_WARMUP_S))
    few = shown.head(0) if trial.scenario["run"]["sample_interval_ns"] > 1e8 else shown
    row = run_frames.summary(trial)
    rtts = distribution(trial.tables["distributions"], "rtt_ms", 0)
    mean_rtt = statistics(rtts, ("mean",))["mean"]
    return {
        "queue": few,
        "standing": row.select(
            "queue_mean_bdp", "queue_p50_bdp", "queue_p5_bdp", "queue_p95_bdp", "queue_max_bdp",
            pl.lit(mean_rtt, dtype=pl.Float64).alias("rtt_mean_ms"), "utilization",
            pl.lit(buffer_bytes(trial.scenario) / bdp_bytes(trial.scenario)).alias("room_bdp"),
        ),
    }  # fmt: skip


def draw(data: Data) -> list[Picture]:
    """Both queues over a minute, in BDP."""
    lines = []
    for kind in ("bbr", "cubic"):
        rows = data["queue"].filter((pl.col("kind") == kind) & (pl.col("trial") == 1))
        x = frames.column(rows, "time_s") - SHOWN_SINCE_WARMUP_S[0]
        lines.append(Line(name(kind), x, frames.column(rows, "queue_bdp"), kind, width=1.2))
    panel = Panel(
        "Time (s)",
        "Queue (multiples of BDP)",
        tuple(lines),
        x_range=(0, 60),
        y_range=(0, 8.4),
        guides=(
            Guide(BUFFER, "buffer"),
            Guide(1.1, "the paper: 1.1", below=True),
            Guide(1.5, "the paper: 1.5"),
        ),
    )
    figure = Figure(
        "Standing queues in a large buffer",
        f"4 BBR or 4 CUBIC, 80 Mbit/s, 25 ms, 8 BDP; {data.scope.profile}",
        (panel,),
        "Lines of the queue of BBR and of CUBIC over a minute.",
        height=3.4,
    )
    return [Picture("", "Queue at the bottleneck, a steady minute of each run", figure)]


def judge(data: Data) -> list[Finding]:
    """BBR's standing queue, CUBIC's full one, and the resulting RTTs."""
    return [
        Finding(
            "panaderia/fig5-bbr-queue",
            [standing(data), probing(data), all_cells := everywhere(data)],
            bursts(data),
            explains=[all_cells.statement],
        ),
        Finding("panaderia/fig5-cubic-queue", [climbs(data)]),
        Finding("panaderia/fig5-rtt", [against_cubic(data), against_rtprop(data)]),
        Finding("panaderia/in-flight", [flight(data)]),
    ]


def _figure(data: Data, kind: str) -> pl.DataFrame:
    rows = data["standing"]
    return rows.filter((pl.col("set") == "figure") & (pl.col("kind") == kind))


def standing(data: Data) -> Check:
    """The queue that BBR keeps."""
    return judge_bounds(
        data,
        "panaderia/fig5-bbr-queue",
        "standing",
        "BBR keeps a standing queue of about 1.1 BDP.",
        "Median queue of 4 BBR flows, minutes 2 to 5.",
        _figure(data, "bbr")["queue_p50_bdp"].to_list(),
    )


def probing(data: Data) -> Check:
    """BBR's longest queue, apart from single moments."""
    return judge_bounds(
        data,
        "panaderia/fig5-bbr-queue",
        "probing",
        "It grows to about 1.5 BDP while BBR probes for bandwidth.",
        "95th percentile of the same queue over time.",
        _figure(data, "bbr")["queue_p95_bdp"].to_list(),
    )


def everywhere(data: Data) -> Check:
    """BBR's queue over all of Table I in buffers with room."""
    rows = data["standing"].filter(pl.col("set") == "table")
    return judge_bounds(
        data,
        "panaderia/fig5-bbr-queue",
        "everywhere",
        "Over all of Table I the standing queue is between 1 and 1.5 BDP.",
        "Median queue of every cell with a buffer of 2 BDP or more (smaller ones can't hold such a "
        "queue and its probes).",
        {
            f"{flows} flows, {rate} Mbit/s, {room:g} BDP": cell["queue_p50_bdp"].to_list()
            for (flows, rate, room), cell in rows.group_by(
                "flows", "rate_mbps", "buffer_bdp", maintain_order=True
            )
        },
    )


def bursts(data: Data) -> Check:
    """The standing queue without each window's allowance for bursts."""
    rows = data["standing"].filter(pl.col("set") == "table")
    bdp_bits = 1e6 * pl.col("rate_mbps") * testbed.RTT_S
    spare = pl.col("flows") * BURSTS * PACKET_BITS / bdp_bits
    cells = rows.group_by("flows", "rate_mbps", "buffer_bdp").agg(
        (pl.col("queue_p50_bdp") - spare).mean().alias("own"), pl.col("queue_p50_bdp").mean()
    )
    long = cells.filter(pl.col("queue_p50_bdp") > 1.5)
    names = ", ".join(
        f"{row['flows']} flows at {row['rate_mbps']} Mbit/s"
        for row in long.select("flows", "rate_mbps").unique(maintain_order=True).to_dicts()
    )
    own = frames.column(cells, "own")
    return Check(
        "Where it is longer, the windows' room for bursts makes it so: packets that many slow "
        "flows have in numbers.",
        f"The median queues without {BURSTS} packets of each flow. Passes if none is above 1.5 "
        "BDP.",
        "up to 1.5 BDP",
        f"up to {own.max():.2f} BDP; with them above 1.5 BDP: {names or 'none'}",
        bool(own.max() <= 1.5),
    )


def climbs(data: Data) -> Check:
    """CUBIC's longest queue, where paths vary as a part of the trial's own buffer."""
    rows = _figure(data, "cubic")
    part = (rows["queue_max_bdp"] / rows["room_bdp"]).to_list()
    return judge_bounds(
        data,
        "panaderia/fig5-cubic-queue",
        "climbs",
        "CUBIC's queue climbs until it reaches the limit of 8 BDP.",
        "The longest queue of 4 CUBIC flows, minutes 2 to 5, as a part of the trial's buffer, "
        f"times {BUFFER:g} BDP.",
        [BUFFER * one for one in part],
    )


def against_cubic(data: Data) -> Check:
    """BBR's RTT as a part of CUBIC's."""
    bbr, cubic = (_figure(data, kind)["rtt_mean_ms"].to_list() for kind in ("bbr", "cubic"))
    return judge_bounds(
        data,
        "panaderia/fig5-rtt",
        "of-cubic",
        "BBR's RTT is about a quarter of CUBIC's.",
        "Ratio of the mean RTTs of the first flows, minutes 2 to 5.",
        ratios(bbr, cubic),
    )


def against_rtprop(data: Data) -> Check:
    """BBR's RTT as a multiple of the path's."""
    return judge_bounds(
        data,
        "panaderia/fig5-rtt",
        "of-rtprop",
        "It is about twice RTprop.",
        "Mean RTT of the first BBR flow over the path's 25 ms.",
        [v / 25.0 for v in _figure(data, "bbr")["rtt_mean_ms"].to_list()],
    )


def flight(data: Data) -> Check:
    """BBR's data in flight while it probes: a BDP on the path, plus the queue."""
    return judge_bounds(
        data,
        "panaderia/in-flight",
        "most",
        "In practice BBR has 2.5 BDP in flight.",
        "One BDP on the path, and the 95th percentile of the queue of 4 BBR flows, minutes 2 to 5.",
        [1 + queue for queue in _figure(data, "bbr")["queue_p95_bdp"].to_list()],
    )
