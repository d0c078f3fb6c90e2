"""How the classes of flows share the bottleneck over time.

The layout is that of Figure 9 in "Sharing but not Caring" (Claypool et al.,
AICT 2019): throughput, queue, loss and RTT in stacked panels.
"""

from __future__ import annotations

import numpy as np

from narrows._native import OfferedCapacity
from narrows.columns import Columns, Table, Tables, columns
from narrows.figures import frames
from narrows.figures.frames import TIME, FlowClass, Groups
from narrows.figures.model import Figure, Floats, Guide, Line, LineKind, Panel, Stack
from narrows.metrics import windows
from narrows.metrics.offered import bytes_until, drain_ms, offers, two_way_ns
from narrows.spec.measured import capacity_known, delay_known
from narrows.spec.registry import is_bbr
from narrows.spec.scenario import Scenario
from narrows.words import short_number

WINDOW_S = 0.5
"""The document's window; runs of fewer than 20 windows have shorter ones."""
SHORT_WINDOWS_S = (0.2, 0.1)


def timeline(
    scenario: Scenario, tables: Tables, groups: Groups = None, window_s: float | None = None
) -> Figure:
    """Throughput and RTT of each class of flows, queue and loss of the bottleneck.

    Where the bottleneck's rate varies, throughput stands over the capacity in Mbit/s, and the
    queue is how long the packets in it still wait.

    Throughput and loss are over windows of `window_s` seconds, or of
    `window_of` the run; queue and RTT are as sampled, which images of long runs
    average (`narrows.figures.static.means`). BBR's RTprop is the `min_rtt_ms` of its
    internals, not TCP's own minimum over minutes. Needs `flow_samples` and
    `queue_samples`.
    """
    if window_s is None:
        window_s = window_of(scenario, frames.end_s(tables))
    classes = frames.flow_classes(scenario, groups)
    flow_samples = tables["flow_samples"]
    queue = columns(tables["queue_samples"]).having("link", [0]).sort_by("time_s")
    spans = frames.probe_rtt_spans(flow_samples)
    return Figure(
        frames.title(scenario, groups, " over time"),
        frames.conditions_of_run(scenario, tables, groups),
        (
            _throughput(scenario, classes, flow_samples, window_s),
            *_bottleneck(scenario, queue, window_s),
            *([_rtt(scenario, classes, tables)] if delay_known(scenario) else []),
        ),
        "Panels over time: throughput per kind of flow, queue at the bottleneck, "
        "loss there in percent, and RTT in ms.",
        height=frames.ROW_IN,
        name="timeline",
        stack=Stack((0.0, frames.end_s(tables)), spans),
    )


def window_of(scenario: Scenario, end_s: float) -> float:
    """Half a second; less for a run shorter than 10 s, but at least a sample interval."""
    sizes = [size for size in (WINDOW_S, *SHORT_WINDOWS_S) if end_s >= 20 * size]
    interval_s = float(scenario["run"]["sample_interval_ns"]) / 1e9
    return max(sizes[0] if sizes else SHORT_WINDOWS_S[-1], interval_s)


def steps(rows: Columns, values: str, scale: float) -> tuple[Floats, Floats]:
    """Windows as a step line that reaches the end of the last window."""
    x: Floats = np.append(frames.column(rows, "start_s"), rows["end_s"][-1])
    y = frames.column(rows, values) * scale
    return x, np.append(y, y[-1])


def _throughput(
    scenario: Scenario, classes: list[FlowClass], flow_samples: Table, window_s: float
) -> Panel:
    labels = {flow: members.label for members in classes for flow in members.flows}
    rates = windows.throughput(flow_samples, labels, window_s)
    offer = offers(scenario)[0]
    known = capacity_known(scenario)
    in_mbps = offer.varies or not known
    scale = 1.0 if in_mbps else 100 / frames.rate_mbps(scenario)
    lines = []
    for members in classes:
        rows = rates.where(rates["class"] == members.label)
        if len(rows):
            x, y = steps(rows, "throughput_mbps", scale)
            lines.append(_line(members, x, y, "step", 1.6))
    title = f"Throughput of each class, {1000 * window_s:g} ms windows"
    if offer.varies and known:
        end_s = frames.end_s({"flow_samples": flow_samples})
        lines.insert(0, _capacity(offer, windows.edges(end_s, window_s)))
    return Panel(TIME, "Mbit/s" if in_mbps else "% of the rate", tuple(lines), title)


def _capacity(offer: OfferedCapacity, borders: Floats) -> Line:
    """The capacity of a link in each window, as an area."""
    mbps = np.diff(bytes_until(offer, borders * 1e9)) * 8e-6 / np.diff(borders)
    y = np.append(mbps, mbps[-1])
    return Line("capacity", borders, y, "neutral", kind="step", width=0.8, fill=True)


def _line(members: FlowClass, x: Floats, y: Floats, kind: LineKind, width: float) -> Line:
    return Line(
        members.label, x, y, members.look.hue, dash=members.look.dash, kind=kind, width=width
    )


def _bottleneck(scenario: Scenario, queue: Columns, window_s: float) -> tuple[Panel, ...]:
    """The queue and the loss there, as far as they are known."""
    if not capacity_known(scenario):
        return ()
    felt = np.isfinite(frames.column(queue, "backlog_bytes")).any()
    waits = _waiting if offers(scenario)[0].varies else _queue
    dropped = np.isfinite(frames.column(queue, "dropped_packets")).any()
    return (
        *((waits(scenario, queue),) if felt else ()),
        *((_loss(queue, window_s),) if dropped else ()),
    )


def _queue(scenario: Scenario, queue: Columns) -> Panel:
    bdp = frames.bdp_bytes(scenario)
    room = frames.buffer_bytes(scenario) / bdp
    backlog = frames.column(queue, "backlog_bytes") / bdp
    time_s = frames.column(queue, "time_s")
    line = Line("queue", time_s, backlog, "queue", width=1.1, fill=True, group="")
    rtt_ms = float(scenario["path"]["rtt_ns"]) / 1e6
    full = Guide(room, f"buffer {short_number(room)} BDP = {short_number(room * rtt_ms)} ms")
    return Panel(TIME, "BDP", (line,), "Queue at the bottleneck", guides=(full,))


def _waiting(scenario: Scenario, queue: Columns) -> Panel:
    """How long the backlog at each sample takes to leave a link whose rate varies."""
    time_s, backlog = (frames.column(queue, name) for name in ("time_s", "backlog_bytes"))
    wait_ms = drain_ms(offers(scenario)[0], time_s, backlog)
    line = Line("queue", time_s, wait_ms, "queue", width=1.1, fill=True, group="")
    return Panel(TIME, "ms", (line,), "Queueing delay at the bottleneck")


def _loss(queue: Columns, window_s: float) -> Panel:
    lost = windows.queue_loss(queue, window_s)
    x, y = steps(lost, "loss_rate", 100.0)
    edge = Line("loss", x, y, "loss", kind="step", width=1.1, fill=True, group="")
    title = f"Loss at the bottleneck, {1000 * window_s:g} ms windows"
    return Panel(TIME, "% of packets", (edge,), title, least_high=1.0)


def _rtt(scenario: Scenario, classes: list[FlowClass], tables: Tables) -> Panel:
    lines = []
    means = frames.class_means(tables["flow_samples"], classes, "rtt_ms")
    for place, (members, (x, y)) in enumerate(zip(classes, means, strict=True)):
        # All flows wait in one queue: the later, thinner lines leave the first one visible.
        lines.append(_line(members, x, y, "line", 1.0 if place else 2.2))
    told = [members for members in classes if is_bbr(members.cca)]
    internals = tables.get("internals", frames.NO_INTERNALS) if told else frames.NO_INTERNALS
    means = frames.class_means(internals, told, "value", "min_rtt_ms")
    for members, (x, y) in zip(told, means, strict=True):
        label = f"{members.label}'s RTprop"
        lines.append(Line(label, x, y, members.look.hue, dash="dot", kind="step", width=1.8))
    title = "Round-trip time" + ", first class broad" * (len(classes) > 1)
    guides: tuple[Guide, ...] = ()
    starts_ns, delays_ns = two_way_ns(scenario)
    if len(delays_ns) > 1:
        ends = np.append(starts_ns / 1e9, frames.end_s(tables))
        path_ms = np.append(delays_ns, delays_ns[-1]) / 1e6
        lines.append(Line("path", ends, path_ms, "neutral", dash="dash", kind="step", width=1.0))
    elif any(flow["rtt_ns"] is None for flow in scenario["flows"]):
        rtt_ms = float(delays_ns[0]) / 1e6
        guides = (Guide(rtt_ms, f"path {short_number(rtt_ms, 4)} ms", below=True),)
    return Panel(TIME, "ms", frames.drawable(lines), title, guides=guides)
