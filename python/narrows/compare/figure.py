"""Draws the first trials of several back ends over each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from narrows.columns import columns
from narrows.figures import frames
from narrows.figures.frames import TIME, FlowClass
from narrows.figures.looks import DASHES, HUES, Look
from narrows.figures.model import Figure, Floats, Line, LineKind, Panel, Stack
from narrows.figures.runs.timeline import steps, window_of
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
    each = f", {1000 * window_s:g} ms windows"
    panels = [
        _panel(shown, "Mbit/s", f"Goodput of {members.label}{each}", _goodput, members, window_s)
        for members in classes
    ]
    bdp = frames.bdp_bytes(scenario)
    loss = _panel(shown, "% of packets", f"Loss at the bottleneck{each}", _loss, window_s)
    panels += [
        _panel(shown, "BDP", "Queue at the bottleneck", _queue, bdp),
        replace(loss, least_high=1.0),
        _panel(shown, "ms", "Smoothed RTT, mean of all flows", _rtt, everything),
    ]
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


def _panel(
    shown: Mapping[str, Tables],
    unit: str,
    title: str,
    read: Callable[..., tuple[Floats, Floats, LineKind]],
    *about: object,
) -> Panel:
    """Returns a panel with the line that `read` finds in the tables of each back end."""
    lines = [
        _line(backend, place, *read(tables, *about))
        for place, (backend, tables) in enumerate(shown.items())
    ]
    return Panel(TIME, unit, tuple(lines), title)


def _line(backend: str, place: int, x: Floats, y: Floats, kind: LineKind) -> Line:
    if place == 0:
        group = f"{backend} (broad and grey)"
        return Line(backend, x, y, "neutral", kind=kind, width=3.2, opacity=0.55, group=group)
    dash = DASHES[(place - 1) % len(DASHES)]
    hue = HUES[(place - 1) % len(HUES)]
    return Line(backend, x, y, hue, kind=kind, dash=dash, width=1.2)


def _goodput(
    tables: Tables, members: FlowClass, window_s: float
) -> tuple[Floats, Floats, LineKind]:
    """Returns the payload that arrived in each window in Mbit/s, as a step line with both ends."""
    borders = windows.edges(frames.end_s(tables), window_s)
    samples = tables["flow_samples"]
    grown = windows.increments_by_key(samples, "flow", "received_bytes", borders)
    known = [grown[flow] for flow in members.flows if flow in grown]
    rate = sum(known, np.zeros(len(borders) - 1)) * 8e-6 / np.diff(borders)
    return borders, np.append(rate, rate[-1]), "step"


def _queue(tables: Tables, bdp_bytes: float) -> tuple[Floats, Floats, LineKind]:
    rows = columns(tables["queue_samples"]).having("link", [0]).sort_by("time_s")
    return rows.floats("time_s"), rows.floats("backlog_bytes") / bdp_bytes, "line"


def _loss(tables: Tables, window_s: float) -> tuple[Floats, Floats, LineKind]:
    lost = windows.queue_loss(tables["queue_samples"], window_s)
    return *steps(lost, "loss_rate", 100.0), "step"


def _rtt(tables: Tables, everything: FlowClass) -> tuple[Floats, Floats, LineKind]:
    samples = columns(tables["flow_samples"])
    smoothed = np.isfinite(frames.column(samples, "srtt_ms")).any()
    name = "srtt_ms" if smoothed else "rtt_ms"  # pings of flent
    [mean] = frames.class_means(samples, [everything], name)
    return *mean, "line"
