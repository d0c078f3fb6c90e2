"""The lesson on segmentation offload: super-packets that count as one packet in the queue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, interval, judge_bounds

from . import fig6

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

SETTINGS = {"off": False, "on": True}


def cases(scope: Scope) -> Iterator[Case]:
    """The exact starts of Figure 6 in both environments, with offload off and on."""
    for case in fig6.cases(scope):
        if case.key["starts"] == fig6.EXACT:
            for label, offload in SETTINGS.items():
                hosts = {**case.spec["host"], "gso": offload}
                key = {"environment": case.key["environment"], "gso": label}
                yield Case(key, {**case.spec, "host": hosts})


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Measures as for Figure 6."""
    return fig6.measure(trial)


def draw(data: Data) -> list[Picture]:
    """The first 50 s of a trial on the virtual machines, without and with offload."""
    figure = Figure(
        "Segmentation offload and convergence",
        f"5 BBR, 100 Mbit/s, 10 ms, 1024 packets; windows of 1 s; {data.scope.profile}",
        tuple(_panel(data, label) for label in SETTINGS),
        "Throughput of five BBR flows over 50 s, without and with super-packets in the queue.",
    )
    return [Picture("", "Throughput of each flow, first trial; dashed: its fair share", figure)]


def _panel(data: Data, label: str) -> Panel:
    rows = data["throughput"].filter(
        (pl.col("gso") == label) & (pl.col("environment") == "VMs") & (pl.col("trial") == 1)
    )
    lines = []
    for place, flow in enumerate(rows["class"].unique(maintain_order=True).to_list()):
        mine = rows.filter(pl.col("class") == flow)
        x, y = frames.column(mine, "start_s"), frames.column(mine, "throughput_mbps")
        lines.append(Line(flow, x, y, f"flow:{place}", width=1.2))
    fair = Guide(fig6.RATE / fig6.FLOWS, "fair")
    return Panel("Time (s)", "Mbit/s", tuple(lines), title=f"offload {label}",
                 x_range=(0, fig6.SHOWN_S), guides=(fair,))  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """Flows converge later with offload."""
    return [Finding("cs244/gso", [convergence_by_offload(data)])]


def convergence_by_offload(data: Data) -> Check:
    """When the flows have converged with and without offload."""
    times = {
        label: data["converged"]
        .filter(pl.col("gso") == label)
        .sort("environment", "trial")["at_s"]
        .to_list()
        for label in SETTINGS
    }
    return judge_bounds(
        data,
        "cs244/gso",
        "spoiled",
        "Convergence is spoiled when super-packets count as one packet in the queue.",
        f"{fig6.RULE}: with offload less that without, in both environments.",
        differences(times["on"], times["off"]),
        f" ({interval(data, times['on'])} s with offload, "
        f"{interval(data, times['off'])} s without)",
    )
