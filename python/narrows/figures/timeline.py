"""How the classes of flows share the bottleneck over time.

The layout is that of Figure 9 in "Sharing but not Caring" (Claypool et al.,
AICT 2019): throughput, queue, loss and RTT above each other.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.frames import Scenario, Tables
from narrows.figures.model import Figure, Level, Panel, Series
from narrows.figures.palette import name
from narrows.metrics import windows

WINDOW_S = 0.5


def timeline(scenario: Scenario, tables: Tables, window_s: float = WINDOW_S) -> Figure:
    """Throughput and RTT per congestion control, queue and loss of the bottleneck.

    Throughput and loss are over windows of `window_s` seconds; queue and RTT
    are as sampled. Needs `flow_samples` and `queue_samples`.
    """
    flow_samples = tables["flow_samples"]
    queue = tables["queue_samples"].filter(pl.col("link") == 0).sort("time_s")
    spans = frames.probe_rtt_spans(flow_samples)
    return Figure(
        name="timeline",
        title=str(scenario["name"]),
        subtitle=frames.conditions(scenario),
        x_label="Time (s)",
        x_range=(0.0, frames.end_s(tables)),
        panels=(
            _throughput(scenario, flow_samples, window_s),
            _queue(scenario, queue),
            _loss(queue, window_s),
            _rtt(scenario, flow_samples),
        ),
        spans=spans,
        alt=(
            "Four panels over time: throughput per congestion control in percent of the rate, "
            "queue in bandwidth-delay products, loss at the queue in percent, and RTT in ms."
        ),
    )


def _steps(borders_start: pl.DataFrame, values: str, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Windows as a step line that reaches the end of the last window."""
    x = np.append(frames.column(borders_start, "start_s"), borders_start["end_s"][-1])
    y = frames.column(borders_start, values) * scale
    return x, np.append(y, y[-1])


def _throughput(scenario: Scenario, flow_samples: pl.DataFrame, window_s: float) -> Panel:
    classes = frames.flow_classes(scenario)
    shares = windows.throughput(flow_samples, classes, window_s)
    series = []
    for (label,), rows in shares.group_by(["class"], maintain_order=True):
        x, y = _steps(rows, "throughput_mbps", 100 / frames.rate_mbps(scenario))
        cca = str(label)
        series.append(Series(name(cca), x, y, cca, kind="step", group=name(cca)))
    return Panel(
        f"Throughput per congestion control, {1000 * window_s:g} ms windows",
        "% of the rate",
        tuple(series),
        low=0.0,
    )


def _queue(scenario: Scenario, queue: pl.DataFrame) -> Panel:
    bdp = frames.bdp_bytes(scenario)
    room = frames.buffer_bytes(scenario) / bdp
    backlog = frames.column(queue, "backlog_bytes") / bdp
    line = Series("queue", frames.column(queue, "time_s"), backlog, "queue", width=1.1, fill=True)
    level = Level(room, f"buffer {room:.3g} BDP")
    return Panel("Queue at the bottleneck", "BDP", (line,), low=0.0, levels=(level,))


def _loss(queue: pl.DataFrame, window_s: float) -> Panel:
    lost = windows.queue_loss(queue, window_s)
    x, y = _steps(lost, "loss_rate", 100.0)
    edge = Series("loss", x, y, "loss", kind="step", width=1.1, fill=True)
    title = f"Loss at the bottleneck, {1000 * window_s:g} ms windows"
    top = max(1.0, 1.06 * float(np.nanmax(y, initial=0.0)))
    return Panel(title, "% of packets", (edge,), low=0.0, high=top)


def _rtt(scenario: Scenario, flow_samples: pl.DataFrame) -> Panel:
    classes = frames.flow_classes(scenario)
    series = [
        # All flows wait in one queue: the later, thinner lines leave the first one visible.
        Series(name(cca), x, y, cca, width=1.0 if place else 2.2, group=name(cca))
        for place, (cca, (x, y)) in enumerate(
            frames.class_means(flow_samples, classes, "rtt_ms").items()
        )
    ]
    estimates = [
        Series(
            f"{name(cca)}'s RTprop", x, y, cca, "step", "dot", 1.8, group=f"{name(cca)}'s RTprop"
        )
        for cca, (x, y) in frames.class_means(flow_samples, classes, "min_rtt_ms").items()
        if cca.startswith("bbr")
    ]
    shown = [s for s in (*series, *estimates) if frames.has_values([s])]
    rtt_ms = float(scenario["path"]["rtt_ns"]) / 1e6
    level = Level(rtt_ms, f"path {rtt_ms:g} ms", below=True)
    return Panel("Round-trip time", "ms", tuple(shown), low=0.0, levels=(level,))
