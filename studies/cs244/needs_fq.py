"""The section on Mininet: BBR of that time needs fq to pace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.metrics.flows import flow_summaries
from narrows.reproduce import run_frames
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

CLAIM = "cs244/needs-fq"
SENDERS = {"fq": "through fq", "none": "without fq"}
BUFFERS = {"262500b": "210 ms of buffer, as in Figure 5", "25kb": "half a BDP"}
DEEP, SHALLOW = BUFFERS
RTPROP_MS = 40.0
END_S, FROM_S, SHOWN_S = 30, 10, 10.0
TRIALS = 5


def cases(scope: Scope) -> Iterator[Case]:
    """A BBR flow on Figure 5's path with and without fq, in its buffer and in a small one."""
    for sender in SENDERS:
        for room in BUFFERS:
            spec = dumbbell(
                "cs244",
                {**testbed.SLOW, "buffer": room},
                [{"cca": "bbr"}],
                profile=scope.profile,
                host={"fq": sender == "fq", "jitter": testbed.JITTER},
                duration=f"{END_S}s",
                warmup=f"{FROM_S}s",
                trials=3 if scope.quick else TRIALS,
                sample_interval="50ms",
            )
            yield Case({"sender": sender, "buffer": room}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """RTT over time; its mean in ms, and the loss in percent, after the warm-up."""
    (flow,) = flow_summaries(trial.scenario, trial.tables, trial.info.end_s)
    outcome = run_frames.summary(trial).select(
        rtt_ms=pl.lit(flow["rtt_ms"]["mean"], dtype=pl.Float64), loss=100 * pl.col("loss_rate")
    )
    rtt = run_frames.samples(trial, ["rtt_ms", "srtt_ms"], whole=True)
    rtt = rtt.select("time_s", run_frames.LATEST_RTT).drop_nulls("rtt_ms")
    return {"outcome": outcome, "rtt": rtt}


def draw(data: Data) -> list[Picture]:
    """RTT over the first seconds."""
    panels = tuple(
        Panel("Time (s)", "RTT (ms)", tuple(_line(data, sender, room) for sender in SENDERS),
              title=words, x_range=(0, SHOWN_S), y_range=(0, None),
              guides=(Guide(RTPROP_MS, "RTprop"),))
        for room, words in BUFFERS.items()
    )  # fmt: skip
    figure = Figure(
        "BBR with fq and without",
        f"1 BBR, 10 Mbit/s, 40 ms, first trial; dashed: RTprop; {data.scope.profile}",
        panels,
        "Lines of the RTT of a BBR flow over 10 s, with each way of pacing.",
        height=2.6,
    )
    return [Picture("", "RTT of a BBR flow that fq paces, and of one that nothing does", figure)]


def _line(data: Data, sender: str, room: str) -> Line:
    rows = data["rtt"].filter(
        (pl.col("sender") == sender) & (pl.col("buffer") == room) & (pl.col("trial") == 1)
    )
    x, y = frames.column(rows, "time_s"), frames.column(rows, "rtt_ms")
    colour, width = ("bbr", 2.4) if sender == "fq" else ("ink", 1.0)  # they nearly coincide
    return Line(SENDERS[sender], x, y, colour, width=width)


def judge(data: Data) -> list[Finding]:
    """The RTT is near RTprop with fq; without it there is a queue, or loss."""
    return [Finding(CLAIM, [rtt_through_fq(data), queues(data), loses(data)])]


def rtt_through_fq(data: Data) -> Check:
    """The RTT through fq."""
    return judge_bounds(
        data,
        CLAIM,
        "paced",
        "Through fq BBR paces at the bottleneck's rate.",
        f"Mean RTT with {BUFFERS[DEEP]}, seconds {FROM_S} to {END_S}.",
        data.values("rtt_ms", sender="fq", buffer=DEEP),
    )


def queues(data: Data) -> Check:
    """The RTT without fq."""
    return judge_bounds(
        data,
        CLAIM,
        "queues",
        "Without fq it sends in response to ACKs, all that its window allows.",
        f"Mean RTT with {BUFFERS[DEEP]}, seconds {FROM_S} to {END_S}.",
        data.values("rtt_ms", sender="none", buffer=DEEP),
    )


def loses(data: Data) -> Check:
    """The loss in a small buffer."""
    return judge_bounds(
        data,
        CLAIM,
        "loses",
        "In a small buffer it loses more for it.",
        f"Packets dropped of packets arrived with {BUFFERS[SHALLOW]}: without fq, less with it.",
        differences(
            *(data.values("loss", sender=sender, buffer=SHALLOW) for sender in ("none", "fq"))
        ),
    )
