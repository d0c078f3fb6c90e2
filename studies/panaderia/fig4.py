"""Figure 4: BBR flows that start one after the other come to a fair share together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds, judge_share, rows_where

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

PARTS = {"a": (5, 100, "10ms"), "b": (4, 80, "25ms")}
"""Flows, Mbit/s and delay of each part."""
END_S = 60
SETTLED_S = 30.0
TRIALS = 5
DIP = 0.5
"""A window in PROBE_RTT carries less than this part of the fair share."""
TOGETHER_S = 1.5
DIPS_S = (25.0, 45.0)
"""Around the document's dips near 30 and 40 s."""
DIPS = 2


def cases(scope: Scope) -> Iterator[Case]:
    """Both parts, flows 2 s apart; the seed varies only the phases of gain cycles."""
    for part, (count, rate, rtt) in PARTS.items():
        flows = [
            {"cca": "bbr", "name": f"flow {i + 1}", "start": f"{2 * i}s"} for i in range(count)
        ]
        spec = dumbbell(
            "panaderia",
            {"rate": f"{rate}mbit", "rtt": rtt, "buffer": "8bdp"},
            flows,
            profile=scope.profile,
            host=testbed.host(scope),
            duration=f"{END_S}s",
            warmup=f"{SETTLED_S:g}s",
            trials=3 if scope.quick else TRIALS,
            sample_interval="100ms",
        )
        yield Case({"part": part}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Throughput of each flow in windows of 200 ms, and when each was in PROBE_RTT."""
    states = trial.tables["flow_samples"]["cca_state"].fill_null("")
    return {
        "throughput": run_frames.by_flow(trial, 0.2),
        "probes": probes(trial),
        "seen": pl.DataFrame({"states": [bool((states != "").any())]}),
    }


def probes(trial: StoredTrial) -> pl.DataFrame:
    """The stays in PROBE_RTT of each flow: `flow`, `start_s`, `end_s`."""
    rows = trial.tables["flow_samples"].sort("time_s")
    found = [
        {"flow": flow, "start_s": start, "end_s": end}
        for flow in range(len(trial.scenario["flows"]))
        for start, end, _ in frames.stays(
            rows.filter(pl.col("flow") == flow), "cca_state", "probe_rtt"
        )
    ]
    return pl.DataFrame(
        found, schema={"flow": pl.Int64, "start_s": pl.Float64, "end_s": pl.Float64}
    )


def draw(data: Data) -> list[Picture]:
    """Throughput of every flow over the first 50 s."""
    panels = tuple(_panel(data, part) for part in PARTS)
    figure = Figure(
        "Shares and probes of staggered BBR flows",
        f"Flows start 2 s apart; windows of 200 ms; {data.scope.profile}, first trial",
        panels,
        "Two panels: lines of the throughput of each BBR flow over 50 s, beside the fair share.",
    )
    return [Picture("", "Throughput of each flow; grey: its fair share", figure)]


def _panel(data: Data, part: str) -> Panel:
    count, rate, rtt = PARTS[part]
    rows = data["throughput"].filter((pl.col("part") == part) & (pl.col("trial") == 1))
    lines = []
    for place, name in enumerate(rows["class"].unique(maintain_order=True).to_list()):
        mine = rows.filter(pl.col("class") == name)
        x, y = frames.column(mine, "start_s"), frames.column(mine, "throughput_mbps")
        lines.append(Line(name, x, y, f"flow:{place}", kind="step", width=1.2))
    return Panel(
        "Time (s)",
        "Throughput (Mbit/s)",
        tuple(lines),
        title=f"({part}) {count} flows, {rate} Mbit/s, {rtt}",
        x_range=(0, 50),
        guides=(Guide(rate / count, f"{rate / count:g} Mbit/s"),),
    )


def judge(data: Data) -> list[Finding]:
    """Shares are fair after 30 s, and flows probe at the same time."""
    parts = {part: rows_where(data, "part", part) for part in PARTS}
    return [
        Finding(
            f"panaderia/fig4{part}", [fair(mine, part), together(mine, part), apart(mine, part)]
        )
        for part, mine in parts.items()
    ]


def fair(data: Data, part: str) -> Check:
    """The flows' deviations from their fair share once they settled."""
    count, rate, _ = PARTS[part]
    rows = data["throughput"].filter(pl.col("start_s") >= SETTLED_S)
    means = rows.group_by("trial", "class").agg(pl.col("throughput_mbps").mean())
    off = ((pl.col("throughput_mbps") * count / rate - 1).abs() * 100).max()
    worst = means.group_by("trial", maintain_order=True).agg(off.alias("off"))["off"].to_list()
    return judge_bounds(
        data,
        f"panaderia/fig4{part}",
        "fair",
        "Every flow settles at a fair share.",
        f"Mean throughput of each flow from {SETTLED_S:g} to {END_S} s: how far the flow that is "
        "farthest off is from its fair share, in each trial.",
        worst,
    )


def _joint(data: Data, part: str, until_s: float) -> list[list[float]]:
    """When all flows probed together, by trial; none if the back end doesn't report states."""
    if not data["seen"]["states"].all():
        return []
    count = PARTS[part][0]
    near = pl.col("start_s").is_between(DIPS_S[0], until_s)
    rows = data["probes"].filter(near)
    trials = sorted(data["throughput"]["trial"].unique().to_list())
    mine = [rows.filter(pl.col("trial") == trial) for trial in trials]
    return [joint(one["start_s"].to_numpy(), one["flow"].to_list(), count) for one in mine]


def together(data: Data, part: str) -> Check:
    """All flows probe at the same time, twice."""
    return judge_share(
        data,
        f"panaderia/fig4{part}",
        "together",
        "All flows enter PROBE_RTT together near 30 and 40 s.",
        f"Trials with {DIPS} or more instants from {DIPS_S[0]:g} to {DIPS_S[1]:g} s at which all "
        f"{PARTS[part][0]} flows enter PROBE_RTT within {TOGETHER_S:g} s.",
        [len(times) >= DIPS for times in _joint(data, part, DIPS_S[1])],
    )


def apart(data: Data, part: str) -> Check:
    """The interval of common probes."""
    gaps = [np.diff(times) for times in _joint(data, part, END_S) if len(times) > 1]
    return judge_bounds(
        data,
        f"panaderia/fig4{part}",
        "gap",
        "They do so every 10 s.",
        "Median time between such instants in each trial that has several.",
        [float(np.median(each)) for each in gaps],
    )


def joint(starts: np.ndarray, flows: Sequence[int], count: int) -> list[float]:
    """When all flows entered a state within `TOGETHER_S`: the first of each such group."""
    order = np.argsort(starts, kind="stable")
    times, owners = starts[order], np.asarray(flows)[order]
    found: list[float] = []
    for begin in times:
        near = (times >= begin) & (times <= begin + TOGETHER_S)
        if len(set(owners[near].tolist())) == count and (
            not found or begin > found[-1] + TOGETHER_S
        ):
            found.append(float(begin))
    return found
