"""The report on Figure 6: a flow that got more than its share keeps it until its next PROBE_RTT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, make_note
from narrows.reproduce.measure import Stretch

from . import fig6, testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

CLAIM = "cs244/keeps-bandwidth"
MORE = 1.3
"""The multiple of its fair share above which a flow has clearly more."""
EDGE_S = 2.0
"""The length of the periods compared: after a probe, before the next, and after that."""
LEAST_S = 3 * EDGE_S
SAMPLE = "50ms"
END_S = 60
TRIALS = 5


def cases(scope: Scope) -> Iterator[Case]:
    """The flows of Figure 6 in both environments, with exact starts and with others."""
    for environment in testbed.ENVIRONMENTS:
        for starts, offsets in fig6.OFFSETS.items():
            flows = [
                {"cca": "bbr", "name": f"flow {i + 1}", "start": f"{fig6.GAP_S * i + offset:.1f}s"}
                for i, offset in enumerate(offsets)
            ]
            spec = testbed.spec(
                scope,
                environment,
                fig6.PATH,
                flows,
                duration=f"{END_S}s",
                trials=3 if scope.quick else TRIALS,
                sample_interval=SAMPLE,
            )
            yield Case({"environment": environment, "starts": starts}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Throughput by flow in windows of 0.5 s, its stays in PROBE_RTT, and its `episodes`."""
    rows = trial.tables["flow_samples"].sort("time_s")
    names = [str(flow["name"]) for flow in trial.scenario["flows"]]
    stays, episodes, everyone = [], [], []
    for flow, name in enumerate(names):
        mine = rows.filter(pl.col("flow") == flow)
        probes = [(a, b) for a, b, _ in frames.stays(mine, "cca_state", "probe_rtt")]
        stays += [{"flow": name, "start_s": a, "end_s": b} for a, b in probes]
        everyone.append(probes)
    for flow, probes in enumerate(everyone):
        others = [end for other, stay in enumerate(everyone) if other != flow for _, end in stay]
        episodes += between_probes(rows.filter(pl.col("flow") == flow), probes, others)
    return {
        "throughput": run_frames.by_flow(trial, 0.5),
        "probes": pl.DataFrame(stays, schema=dict.fromkeys(("flow",), pl.String)
                               | dict.fromkeys(("start_s", "end_s"), pl.Float64)),
        "episodes": pl.DataFrame(episodes, schema=dict.fromkeys(PARTS, pl.Float64)),
    }  # fmt: skip


PARTS = ("first", "seen", "last", "after")


def between_probes(
    rows: pl.DataFrame, probes: list[Stretch], others: list[float]
) -> list[dict[str, float | None]]:
    """A flow's throughput between two of its probes, once all had started, in fair shares.

    It is taken over `EDGE_S` seconds: `first` after a probe, `last` before the next one, `after`
    after that one. `seen` is after the first probe of another flow in between, which ends at one of
    `others`, if that is `LEAST_S` before the flow's next one.
    """
    time = frames.column(rows, "time_s")
    sent = frames.column(rows, "wire_bytes")
    fair = fig6.RATE * 1e6 / 8 / fig6.FLOWS

    def share(start: float) -> float:
        low, high = np.interp([start, start + EDGE_S], time, sent)
        return float((high - low) / EDGE_S / fair)

    found = []
    for (begin, end), (start, done) in pairwise(probes):
        whole = done + EDGE_S <= time[-1] and begin >= fig6.GAP_S * (fig6.FLOWS - 1)
        if whole and start - end >= LEAST_S:
            between = [at for at in others if end + EDGE_S <= at <= start - LEAST_S]
            seen = share(min(between)) if between else None
            parts = (share(end), seen, share(start - EDGE_S), share(done))
            found.append(dict(zip(PARTS, parts, strict=True)))
    return found


def draw(data: Data) -> list[Picture]:
    """All flows of the trial in which one keeps the most."""
    place = data["episodes"].filter(pl.col("first") > MORE).sort("last", descending=True).head(1)
    where = place.select("environment", "starts", "trial").to_dicts()
    chosen: Mapping[str, object] = (
        where[0] if where else {"environment": "VMs", "starts": fig6.EXACT, "trial": 1}
    )
    figure = Figure(
        "What a flow gets from others' probes, and for how long",
        f"5 BBR, 100 Mbit/s, 10 ms, 1024 packets, {chosen['environment']}, {chosen['starts']}, "
        f"trial {chosen['trial']}; windows of 0.5 s; {data.scope.profile}",
        (_panel(data, chosen),),
        "Lines of the throughput of five BBR flows over a minute, beside the fair share.",
        height=3.2,
    )
    return [Picture("", "Throughput of each flow in the run in which one kept most", figure)]


def _panel(data: Data, chosen: Mapping[str, object]) -> Panel:
    rows = data["throughput"]
    for column, value in chosen.items():
        rows = rows.filter(pl.col(column) == value)
    lines = []
    for place, label in enumerate(rows["class"].unique(maintain_order=True).to_list()):
        mine = rows.filter(pl.col("class") == label)
        x, y = frames.column(mine, "start_s"), frames.column(mine, "throughput_mbps")
        lines.append(Line(label, x, y, f"flow:{place}", width=1.2))
    return Panel("Time (s)", "Mbit/s", tuple(lines), x_range=(0, END_S), y_range=(0, None),
                 guides=(Guide(fig6.RATE / fig6.FLOWS, "fair"),))  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """The throughput is kept until the next probe, and no longer."""
    parts = _by_run(data["episodes"], "first")
    count, runs = int(parts["len"].sum()), len(parts)
    had = interval(data, parts["gained"].to_list())
    words = f" ({count} times in {runs} runs, with {had} times the share)"
    return [
        Finding(
            CLAIM,
            [share_until_own_probe(data, parts, words), until(data, parts)],
            notes=[share_after_others_probe(data)],
        )
    ]


def _by_run(episodes: pl.DataFrame, gained: str) -> pl.DataFrame:
    """Means of the runs in which a flow had more: how often, `kept`, `left`, `gained`."""
    rows = episodes.filter(pl.col(gained) > MORE)
    return rows.group_by("environment", "starts", "trial", maintain_order=True).agg(
        pl.len(),
        kept=(pl.col("last") / pl.col(gained)).mean(),
        left=(pl.col("after") / pl.col("last")).mean(),
        gained=pl.col(gained).mean(),
    )


HOW = (
    f"Of flows with more than {MORE:g} times the fair share in the {EDGE_S:g} s after a PROBE_RTT, "
    f"the next one {LEAST_S:g} s later or more, once all have started"
)


def share_until_own_probe(data: Data, parts: pl.DataFrame, words: str) -> Check:
    """The flow's throughput just before its next probe."""
    return judge_bounds(
        data,
        CLAIM,
        "kept",
        "A flow that got more than its fair share keeps it until its next PROBE_RTT.",
        f"{HOW}: throughput in the {EDGE_S:g} s before the next PROBE_RTT over that; means by run.",
        parts["kept"].to_list(),
        words,
    )


def until(data: Data, parts: pl.DataFrame) -> Check:
    """The flow's throughput just after its next probe."""
    return judge_bounds(
        data,
        CLAIM,
        "until",
        "It keeps it no longer.",
        f"{HOW}: throughput in the {EDGE_S:g} s after the next PROBE_RTT over that in those before "
        "it; means by run.",
        parts["left"].to_list(),
    )


def share_after_others_probe(data: Data) -> Check:
    """The share since the probe of another flow, during which the flow gains by the text."""
    parts = _by_run(data["episodes"], "seen")
    kept, left = (interval(data, parts[column].to_list()) for column in ("kept", "left"))
    return make_note(
        "What a flow keeps that has more after another flow's PROBE_RTT.",
        f"As above, of flows with more than {MORE:g} times the fair share in the {EDGE_S:g} s "
        f"after the first probe of another flow between two of their own, {LEAST_S:g} s before "
        "the second one.",
        f"{kept} of it before their own PROBE_RTT, {left} of that after it ({parts['len'].sum()} "
        f"times in {len(parts)} runs)",
    )
