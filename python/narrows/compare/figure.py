"""Draws the first trials of several back ends over each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from narrows.figures import frames
from narrows.figures.frames import TIME, FlowClass
from narrows.figures.looks import DASHES, HUES, Look
from narrows.figures.model import Figure, Floats, Line, LineKind, Panel, Stack
from narrows.figures.runs.timeline import window_of
from narrows.late import pl
from narrows.metrics import windows
from narrows.spec.scenario import Scenario
from narrows.store import Tables
from narrows.words import join_words


def overlay(
    scenario: Scenario,
    groups: tuple[str, ...],
    tables: Mapping[str, Tables],
    reference: str,
) -> Figure:
    """Draws goodput of each class, queue, loss and smoothed RTT of all back ends in `tables`.

    The reference is a broad grey line; the others are drawn over it, each in one colour in all
    panels. Runs with randomness needn't coincide, only resemble one another.
    """
    order = [reference, *(backend for backend in tables if backend != reference)]
    shown = {backend: tables[backend] for backend in order}
    end_s = max(frames.end_s(found) for found in shown.values())
    window_s = window_of(scenario, end_s)
    classes = frames.flow_classes(scenario, groups)
    flows = tuple(range(len(scenario["flows"])))
    everything = FlowClass("all flows", "queue", flows, Look("queue", "solid"))
    panels = [_goodput(shown, members, window_s) for members in classes]
    panels += [_queue(scenario, shown), _loss(shown, window_s), _rtt(shown, everything)]
    return Figure(
        frames.title(scenario, groups, f": {join_words(order)}"),
        frames.conditions(scenario, groups),
        tuple(panels),
        "Goodput of each class of flows, queue, loss and smoothed RTT over time, "
        "one line for each back end.",
        height=frames.ROW_IN,
        name="compare",
        stack=Stack((0.0, end_s)),
    )


def _line(backend: str, place: int, x: Floats, y: Floats, step: bool) -> Line:
    kind: LineKind = "step" if step else "line"
    if place == 0:
        group = f"{backend} (broad and grey)"
        return Line(backend, x, y, "neutral", kind=kind, width=3.2, opacity=0.55, group=group)
    dash = DASHES[(place - 1) % len(DASHES)]
    hue = HUES[(place - 1) % len(HUES)]
    return Line(backend, x, y, hue, kind=kind, dash=dash, width=1.2)


def _goodput(shown: Mapping[str, Tables], members: FlowClass, window_s: float) -> Panel:
    lines = []
    for place, (backend, tables) in enumerate(shown.items()):
        x, y = _arrivals(tables["flow_samples"], members, window_s)
        lines.append(_line(backend, place, x, y, step=True))
    title = f"Goodput of {members.label}, {1000 * window_s:g} ms windows"
    return Panel(TIME, "Mbit/s", tuple(lines), title)


def _arrivals(
    flow_samples: pl.DataFrame, members: FlowClass, window_s: float
) -> tuple[Floats, Floats]:
    """Returns the payload that arrived in each window in Mbit/s, as a step line with both ends."""
    borders = windows.edges(_end_time(flow_samples), window_s)
    total = np.zeros(len(borders) - 1)
    for flow in members.flows:
        rows = flow_samples.filter(pl.col("flow") == flow).sort("time_s")
        if not rows.is_empty():
            time_s, received = (frames.column(rows, name) for name in ("time_s", "received_bytes"))
            total += windows.increments(time_s, received, borders)
    rate = total * 8e-6 / np.diff(borders)
    return borders, np.append(rate, rate[-1])


def _end_time(samples: pl.DataFrame) -> float:
    return float(frames.column(samples, "time_s").max())


def _queue(scenario: Scenario, shown: Mapping[str, Tables]) -> Panel:
    bdp = frames.bdp_bytes(scenario)
    lines = []
    for place, (backend, tables) in enumerate(shown.items()):
        rows = tables["queue_samples"].filter(pl.col("link") == 0).sort("time_s")
        x, y = frames.column(rows, "time_s"), frames.column(rows, "backlog_bytes") / bdp
        lines.append(_line(backend, place, x, y, step=False))
    return Panel(TIME, "BDP", tuple(lines), "Queue at the bottleneck")


def _loss(shown: Mapping[str, Tables], window_s: float) -> Panel:
    lines = []
    for place, (backend, tables) in enumerate(shown.items()):
        rows = windows.queue_loss(tables["queue_samples"], window_s)
        x = np.append(frames.column(rows, "start_s"), rows["end_s"][-1])
        y = 100 * frames.column(rows, "loss_rate")
        lines.append(_line(backend, place, x, np.append(y, y[-1]), step=True))
    title = f"Loss at the bottleneck, {1000 * window_s:g} ms windows"
    return Panel(TIME, "% of packets", tuple(lines), title, least_high=1.0)


def _rtt(shown: Mapping[str, Tables], everything: FlowClass) -> Panel:
    lines = []
    for place, (backend, tables) in enumerate(shown.items()):
        [(x, y)] = frames.class_means(tables["flow_samples"], [everything], "srtt_ms")
        lines.append(_line(backend, place, x, y, step=False))
    return Panel(TIME, "ms", tuple(lines), "Smoothed RTT, mean of all flows")
