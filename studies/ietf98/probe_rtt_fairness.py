"""Backup slide on PROBE_RTT: fairness among BBR flows without it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.metrics import jain
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, judge_bounds

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

CLAIM = "ietf98/probe-rtt-fairness"
FLOWS, GAP_S, RATE, END_S = 5, 2, 100, 60
SETTLED_S = 40.0
TRIALS = 5
VARIANTS = {"with": "200ms", "without": "0s"}


def cases(scope: Scope) -> Iterator[Case]:
    """The convergence of five flows, with PROBE_RTT and without."""
    for label, probe in VARIANTS.items():
        options = {"probe_rtt": probe}
        flows = [
            {"cca": "bbr", "name": f"flow {i + 1}", "start": f"{GAP_S * i}s", "options": options}
            for i in range(FLOWS)
        ]
        spec = testbed.spec(
            scope,
            {"rate": f"{RATE}mbit", "rtt": "10ms", "buffer": "8bdp"},
            flows,
            duration=f"{END_S}s",
            trials=testbed.trials(scope, TRIALS),
            sample_interval="200ms",
        )
        yield Case({"probing": label}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Throughput of each flow in windows of 1 s."""
    return {"throughput": run_frames.by_flow(trial, 1.0)}


def draw(data: Data) -> list[Picture]:
    """Throughput of every flow, with and without PROBE_RTT."""
    figure = Figure(
        "Fairness with PROBE_RTT and without",
        f"5 BBR, 100 Mbit/s, 10 ms, 8 BDP; windows of 1 s; {data.scope.profile}, first trial",
        tuple(_panel(data, label) for label in VARIANTS),
        "Throughput of five BBR flows over a minute, with PROBE_RTT and without.",
    )
    return [Picture("", "Throughput of each flow; dashed: its fair share", figure)]


def _panel(data: Data, label: str) -> Panel:
    rows = data["throughput"].filter((pl.col("probing") == label) & (pl.col("trial") == 1))
    lines = []
    for place, flow in enumerate(rows["class"].unique(maintain_order=True).to_list()):
        mine = rows.filter(pl.col("class") == flow)
        x, y = frames.column(mine, "start_s"), frames.column(mine, "throughput_mbps")
        lines.append(Line(flow, x, y, f"flow:{place}", width=1.2))
    return Panel("Time (s)", "Throughput (Mbit/s)", tuple(lines), title=f"{label} PROBE_RTT",
                 x_range=(0, END_S), guides=(Guide(RATE / FLOWS, "fair"),))  # fmt: skip


def _fairness(data: Data, label: str) -> list[float]:
    """Jain's index once the flows settled, by trial."""
    rows = data["throughput"].filter(
        (pl.col("probing") == label) & (pl.col("start_s") >= SETTLED_S)
    )
    means = rows.group_by("trial", "class").agg(pl.col("throughput_mbps").mean()).sort("trial")
    return [
        jain(group["throughput_mbps"].to_list()) or 0.0
        for _, group in means.group_by("trial", maintain_order=True)
    ]


def judge(data: Data) -> list[Finding]:
    """Shares are fair with PROBE_RTT, and less so without."""
    return [Finding(CLAIM, [fair(data), key(data)])]


def fair(data: Data) -> Check:
    """The index with PROBE_RTT."""
    return judge_bounds(
        data,
        CLAIM,
        "with",
        "With PROBE_RTT the flows share fairly.",
        f"Jain's index of the flows' mean throughput from {SETTLED_S:g} to {END_S} s.",
        _fairness(data, "with"),
    )


def key(data: Data) -> Check:
    """How much lower the index is without PROBE_RTT."""
    return judge_bounds(
        data,
        CLAIM,
        "key",
        "Without it they don't.",
        "The index with PROBE_RTT less that without.",
        differences(_fairness(data, "with"), _fairness(data, "without")),
    )
