"""Applications of flows over time: a figure for each kind of traffic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from narrows.columns import Columns, Tables, columns
from narrows.figures import frames
from narrows.figures.frames import TIME, FlowClass, Groups
from narrows.figures.model import Dash, Figure, Floats, Guide, Line, Panel, Span, Stack
from narrows.metrics import windows
from narrows.metrics.workloads import BUFFER, LEAST_STILL_S, MEDIA, VIDEOS
from narrows.spec.datagrams import kind_of
from narrows.spec.scenario import Scenario

MOST_FLOWS = 4
"""Flows of a class that are drawn one by one."""
WINDOW_S = 0.5
"""Windows in which rates are taken."""
FADING = 0.2
"""How much paler each further flow of a class is."""


def applications(scenario: Scenario, tables: Tables, groups: Groups = None) -> Figure:
    """Panels for each class of flows with an application, over time.

    A video shows its buffer with its interruptions and the bitrate of its chunks; web pages and
    transfers with a deadline show how long each took; datagrams, what was sent and arrived; a
    video call shows its encoder's rate, the delay of its frames and its freezes;
    probes, their delay, beside the throughput of each direction if flows go both ways.
    """
    panels = tuple(
        panel
        for members in frames.flow_classes(scenario, groups)
        for panel in _panels(scenario, tables, members)
    )
    return Figure(
        frames.title(scenario, groups, ": applications"),
        frames.conditions_of_run(scenario, tables, groups),
        (
            *_directions(scenario, tables, groups),
            *panels,
            *_probes(scenario, tables, groups),
        ),
        "For every application over time: a video's buffer, interruptions and bitrate, the "
        "duration of transfers, datagrams that arrived, and the delay of probes.",
        height=frames.ROW_IN,
        name="applications",
        stack=Stack((0.0, frames.end_s(tables))),
    )


def _directions(scenario: Scenario, tables: Tables, groups: Groups) -> tuple[Panel, ...]:
    """Beside probes: the goodput of each class by direction, if flows go both ways."""
    flows = scenario["flows"]
    kinds = [kind_of(flow) for flow in flows]
    both = {flow["reverse"] for flow, kind in zip(flows, kinds, strict=True) if kind != "ping"}
    if "ping" not in kinds or len(both) < 2:
        return ()
    classes = [
        (members, flows[members.flows[0]]["reverse"])
        for members in frames.flow_classes(scenario, groups)
        if kinds[members.flows[0]] != "ping"
    ]
    return tuple(
        _goodput(tables, [members for members, back in classes if back is reverse], title)
        for title, reverse in (("Goodput over the path", False), ("Goodput in reverse", True))
    )


def _goodput(tables: Tables, classes: list[FlowClass], title: str) -> Panel:
    """Payload that arrived, in windows of time, of the flows of each class together."""
    borders = windows.edges(frames.end_s(tables), WINDOW_S)
    grown = windows.increments_by_key(tables["flow_samples"], "flow", "received_bytes", borders)
    nothing = np.zeros(len(borders) - 1)
    lines = []
    for members in classes:
        own = [grown.get(flow, nothing) for flow in members.flows]
        lines.append(_rates(members.label, sum(own, start=nothing), borders, members))
    return Panel(TIME, "Mbit/s", frames.drawable(lines), title)


def _growth(rows: Columns, counter: str, borders: Floats) -> Floats:
    return windows.increments(rows.floats("time_s"), rows.floats(counter), borders)


def _rates(
    label: str, size: Floats, borders: Floats, members: FlowClass, dash: Dash | None = None
) -> Line:
    """Bytes in windows of time as a rate in Mbit/s."""
    rate = size * 8e-6 / np.diff(borders)
    y = np.append(rate, rate[-1])
    return _step(label, borders, y, members, 1.5, dash=dash or members.look.dash)


def _panels(scenario: Scenario, tables: Tables, members: FlowClass) -> Iterator[Panel]:
    flow = scenario["flows"][members.flows[0]]
    kind = _kind(scenario, members)
    if kind in VIDEOS:
        yield _buffer(scenario, tables, members)
        yield _bitrate(scenario, tables, members)
    elif kind == MEDIA:
        yield _encoder(scenario, tables, members)
        yield _frames(scenario, tables, members)
    elif kind == "web" or flow.get("deadline_ns") is not None:
        yield _durations(scenario, tables, members)
    elif kind == "udp":
        yield _datagrams(scenario, tables, members)


_Flow = tuple[str, Columns, float]
"""A label, the rows of a flow, and how opaque it is drawn."""


def _each(scenario: Scenario, members: FlowClass, rows: Columns) -> Iterator[_Flow]:
    """The first flows of a class with their rows, ascending in time."""
    time = "time_s" if "time_s" in rows else "start_s"
    for place, flow in enumerate(members.flows[:MOST_FLOWS]):
        label = members.label if len(members.flows) == 1 else frames.flow_name(scenario, flow)
        yield label, rows.having("flow", [flow]).sort_by(time), 1.0 - FADING * place


def _buffer(scenario: Scenario, tables: Tables, members: FlowClass) -> Panel:
    levels = frames.internal(tables, BUFFER)
    lines = [
        Line(label, frames.column(rows, "time_s"), frames.column(rows, "value"),
             members.look.hue, width=1.4, opacity=opacity, fill=opacity == 1.0)
        for label, rows, opacity in _each(scenario, members, levels)
    ]  # fmt: skip
    work = _work(scenario, members)
    room_s = work["buffer_ns"] / 1e9
    return Panel(
        TIME, "s", frames.drawable(lines), f"{members.label}: the player's buffer",
        guides=(Guide(room_s, f"room for {room_s:g} s"),), spans=_stalls(tables, members),
    )  # fmt: skip


def _kind(scenario: Scenario, members: FlowClass) -> str:
    return kind_of(scenario["flows"][members.flows[0]])


def _work(scenario: Scenario, members: FlowClass) -> dict[str, Any]:
    return scenario["flows"][members.flows[0]]["workload"] or {}


def _stalls(tables: Tables, members: FlowClass) -> tuple[Span, ...]:
    """When the first film of a class stood still, to within a sample interval."""
    return _grew(tables, members, "stalled_s", "rebuffering")


def _grew(tables: Tables, members: FlowClass, total: str, label: str) -> tuple[Span, ...]:
    """When a total of the first flow of a class grew."""
    rows = frames.internal(tables, total)
    rows = rows.where(rows["flow"] == members.flows[0])
    times, values = frames.column(rows, "time_s"), frames.column(rows, "value")
    grows = np.diff(values) > 0
    stretches = zip(times[:-1][grows].tolist(), times[1:][grows].tolist(), strict=True)
    return tuple(Span(a, b, "state:loss", label) for a, b in frames.union(stretches))


def _bitrate(scenario: Scenario, tables: Tables, members: FlowClass) -> Panel:
    chunk_s = _work(scenario, members)["chunk_ns"] / 1e9
    chunks = columns(tables["completions"]).sort_by("flow", "start_s")
    lines = []
    for label, rows, opacity in _each(scenario, members, chunks):
        took_s = rows["end_s"] - rows["start_s"]
        rate = frames.column(rows, "size_bytes") * 8e-6
        x = frames.column(rows, "start_s")
        lines += [
            _step(f"{label}: bitrate of chunks", x, rate / chunk_s, members, 1.7, opacity),
            _step(f"{label}: rate at which they came", x, rate / took_s, members, 0.9,
                  0.7 * opacity, "dot"),
        ]  # fmt: skip
    return Panel(TIME, "Mbit/s", frames.drawable(lines), f"{members.label}: chunks")


def _step(
    label: str, x: Floats, y: Floats, members: FlowClass, width: float, opacity: float = 1.0,
    dash: Dash = "solid",
) -> Line:  # fmt: skip
    return Line(label, x, y, members.look.hue, kind="step", width=width, opacity=opacity, dash=dash)


def _durations(scenario: Scenario, tables: Tables, members: FlowClass) -> Panel:
    """Each transfer by its beginning; those beyond the deadline stand out."""
    flow = scenario["flows"][members.flows[0]]
    limit_ns = flow.get("deadline_ns")
    limit_s = np.inf if limit_ns is None else limit_ns / 1e9
    done = columns(tables["completions"]).sort_by("start_s")
    done = done.where(np.isin(done["flow"], members.flows))
    x, y = frames.column(done, "start_s"), done["end_s"] - done["start_s"]
    late = y > limit_s
    lines = [Line(members.label, x[~late], y[~late], members.look.hue, kind="points")]
    guides: tuple[Guide, ...] = ()
    if limit_ns is not None:
        lines.append(Line("late", x[late], y[late], "retransmission", kind="points"))
        share = f"; {100 * late.mean():.3g} % are late" if len(late) else ""
        guides = (Guide(limit_s, f"deadline {limit_s:g} s{share}"),)
    what = "page load times" if _kind(scenario, members) == "web" else "transfers"
    return Panel(TIME, "s", frames.drawable(lines), f"{members.label}: {what}", guides=guides)


def _probes(scenario: Scenario, tables: Tables, groups: Groups) -> tuple[Panel, ...]:
    """The delays of all probes in one panel."""
    samples = columns(tables["flow_samples"])
    lines: list[Line] = []
    paths = {}
    for members in frames.flow_classes(scenario, groups):
        flow = scenario["flows"][members.flows[0]]
        if _kind(scenario, members) != "ping":
            continue
        lines += [
            Line(label, frames.column(rows, "time_s"), frames.column(rows, "rtt_ms"),
                 members.look.hue, dash=members.look.dash, width=1.3, opacity=opacity)
            for label, rows, opacity in _each(scenario, members, samples)
        ]  # fmt: skip
        own_ms = (flow["rtt_ns"] or scenario["path"]["rtt_ns"]) / 1e6
        paths[own_ms] = Guide(own_ms, f"path {own_ms:g} ms", below=True)
    if not lines:
        return ()
    panel = Panel(
        TIME, "ms", frames.drawable(lines), "Round-trip time of probes",
        y_range=(0.95 * min(paths), None), guides=tuple(paths.values()),
    )  # fmt: skip
    return (panel,)


def _encoder(scenario: Scenario, tables: Tables, members: FlowClass) -> Panel:
    """The encoder's rate, and what arrived."""
    rates = frames.internal(tables, "encoder_mbps")
    samples = columns(tables["flow_samples"])
    borders = windows.edges(frames.end_s(tables), WINDOW_S)
    lines = []
    for label, rows, opacity in _each(scenario, members, rates):
        x, y = frames.column(rows, "time_s"), frames.column(rows, "value")
        lines.append(_step(f"{label}: encoder", x, y, members, 1.6, opacity))
    for label, rows, _ in _each(scenario, members, samples):
        came = _growth(rows, "received_bytes", borders)
        lines.append(_rates(f"{label}: arrived", came, borders, members, "dot"))
    return Panel(TIME, "Mbit/s", frames.drawable(lines), f"{members.label}: media")


def _frames(scenario: Scenario, tables: Tables, members: FlowClass) -> Panel:
    """The delay from capture to screen of each frame, and the freezes of the first call."""
    done = columns(tables["completions"]).sort_by("start_s")
    lines = [
        Line(label, frames.column(rows, "start_s"), 1e3 * (rows["end_s"] - rows["start_s"]),
             members.look.hue, kind="points", opacity=opacity)
        for label, rows, opacity in _each(scenario, members, done)
    ]  # fmt: skip
    stood = (*_grew(tables, members, "frozen_s", "freeze"), *_still(tables, members, done))
    return Panel(
        TIME, "ms", frames.drawable(lines), f"{members.label}: delay of frames", spans=stood
    )


def _still(tables: Tables, members: FlowClass, shown: Columns) -> Iterator[Span]:
    """Yields the time from the last frame that the first flow showed to the last one encoded."""
    first = members.flows[0]
    encoded = frames.internal(tables, "encoded_bytes")
    encoded = encoded.where(encoded["flow"] == first)
    grows = np.diff(frames.column(encoded, "value")) > 0
    times = frames.column(encoded, "time_s")
    ends = shown.floats("end_s")[shown["flow"] == first]
    begin_s = float(np.max(ends)) if len(ends) else float(np.min(times, initial=np.inf))
    end_s = float(np.max(times[1:][grows], initial=0.0))
    if end_s - begin_s >= LEAST_STILL_S:
        yield Span(begin_s, end_s, "state:loss", "freeze")


def _datagrams(scenario: Scenario, tables: Tables, members: FlowClass) -> Panel:
    """Payload sent and received in windows of time; the gap is what was lost."""
    borders = windows.edges(frames.end_s(tables), WINDOW_S)
    size = _work(scenario, members)["size_bytes"]
    samples = columns(tables["flow_samples"])
    lines = []
    for label, rows, _ in _each(scenario, members, samples):
        sent = _growth(rows, "sent", borders) * size
        lines.append(_rates(f"{label}: sent", sent, borders, members, "dot"))
        came = _growth(rows, "received_bytes", borders)
        lines.append(_rates(f"{label}: arrived", came, borders, members, "solid"))
    return Panel(TIME, "Mbit/s", frames.drawable(lines), f"{members.label}: datagrams")
