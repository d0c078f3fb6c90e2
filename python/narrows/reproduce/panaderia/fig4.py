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
from narrows.reproduce.judging import between, interval
from narrows.reproduce.panaderia import testbed

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


def cases(scope: Scope) -> Iterator[Case]:
    """Both parts, flows 2 s apart; the seed varies nothing but the phases of gain cycles."""
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
            trials=1 if scope.quick else TRIALS,
            sample_interval="100ms",
        )
        yield Case({"part": part}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Throughput of each flow in windows of 200 ms, and when each was in PROBE_RTT."""
    return {"throughput": run_frames.by_flow(trial, 0.2), "probes": probes(trial)}


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
        "BBR flows find a fair share and probe together",
        f"Flows start 2 s apart; windows of 200 ms; {data.scope.profile}, first trial",
        panels,
        "Two panels: throughput of each BBR flow over 50 s, converging to equal shares.",
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
    """Fair shares after 30 s, and probes at the same time."""
    return [
        Finding(f"panaderia/fig4{part}", [fair(data, part), together(data, part)]) for part in PARTS
    ]


def fair(data: Data, part: str) -> Check:
    """How far the flows are from their fair share once they settled."""
    count, rate, _ = PARTS[part]
    rows = data["throughput"].filter((pl.col("part") == part) & (pl.col("start_s") >= SETTLED_S))
    means = rows.group_by("trial", "class").agg(pl.col("throughput_mbps").mean())
    worst = (
        means.group_by("trial")
        .agg(((pl.col("throughput_mbps") * count / rate - 1).abs() * 100).max().alias("off"))
        .get_column("off")
        .to_list()
    )
    return between(
        "Every flow settles at a fair share.",
        f"Mean throughput of each flow from {SETTLED_S:g} to {END_S} s; how far the flow that is "
        "farthest off is from its fair share, mean over the trials.",
        f"{rate / count:g} Mbit/s each",
        worst,
        (0.0, 20.0),
        " %",
    )


def together(data: Data, part: str) -> Check:
    """Whether all flows probe at the same time."""
    count = PARTS[part][0]
    rows = data["probes"].filter((pl.col("part") == part) & (pl.col("start_s") >= 25.0))
    found = [
        joint(group["start_s"].to_numpy(), group["flow"].to_list(), count)
        for _, group in rows.group_by("trial", maintain_order=True)
    ]
    gaps = np.concatenate([np.diff(times) for times in found]) if found else np.array([])
    middle = float(np.median(gaps)) if len(gaps) else float("nan")
    enough = bool(found) and all(len(times) >= 2 for times in found)
    return Check(
        "All flows are in PROBE_RTT together, every 10 s.",
        f"From 25 s on: instants at which all {count} flows enter PROBE_RTT within "
        f"{TOGETHER_S:g} s. Passes if every trial has two or more, 9.5 to 11 s "
        "apart in the median.",
        "together near 30 and 40 s",
        f"{interval([len(times) for times in found])} in a trial, {middle:.1f} s apart",
        None if rows.is_empty() else enough and 9.5 <= middle <= 11.0,
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
