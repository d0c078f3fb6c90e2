"""Time-sequence graphs of captured flows, as Wireshark and tcptrace draw them.

Data are strokes from the first byte to the last, retransmissions in another colour and with dots;
the acknowledged data and the end of the receiver's window are steps. S. Ostermann: tcptrace. The
strip above each panel shows what limited the flow.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from narrows.columns import Columns, Tables, columns
from narrows.figures import frames
from narrows.figures.frames import TIME, Groups
from narrows.figures.model import Figure, Floats, Line, LineKind, Panel, Span, Stack
from narrows.spec.scenario import Scenario
from narrows.words import count_of

TALL_IN = 2.2 * frames.ROW_IN
"""Height of a panel."""
MOST_FLOWS = 3
"""Flows with the most data that are drawn."""
MOST_NAMES = 3
"""More flows that aren't drawn aren't named."""
MOST_POINTS = 24_000
"""Points of a flow; beyond that, every other one of each kind is left out."""
_NEAR = 1000
"""Packets closer than this part of the whole time share about one column of pixels."""
_MEGA = 1e6
_STROKES = (
    ("data", "sent", "neutral"),
    ("sack", "SACK", "sack"),
    ("retransmission", "sent again", "retransmission"),
    ("out_of_order", "out of order", "out_of_order"),
)
_DOTTED = ("retransmission", "out_of_order")
"""Strokes with dots at their ends: a few packets are shorter than a pixel of megabytes."""
_STEPS = (("ack", "acknowledged", "ack"), ("window", "receive window", "window"))


def sequence(scenario: Scenario, tables: Tables, groups: Groups = None) -> Figure:
    """Sequence numbers of the largest captured flows over time, a panel for each flow.

    Only captures have the table `sequence`; other runs have no panels.
    """
    del groups
    end_s = frames.end_s(tables)
    captured = tables.get("sequence")
    table = None if captured is None else columns(captured)
    chosen = [] if table is None else _largest(table)
    panels = tuple(
        replace(
            _panel(scenario, table.where(table["flow"] == flow), flow, end_s),
            spans=_causes(tables, flow),
        )
        for flow in chosen
        if table is not None
    )
    return Figure(
        f"Time and sequence of {count_of(len(chosen), 'flow')}",
        f"{_which(scenario, chosen)}; strip: what limited the flow",
        panels,
        "For every flow: sequence numbers of data, acknowledgements and window over time, and what "
        "limited it.",
        height=TALL_IN,
        name="sequence",
        stack=Stack((0.0, end_s)),
    )


def _which(scenario: Scenario, chosen: list[int]) -> str:
    """Which flows are drawn; the others are named if they are few."""
    rest = [flow for flow in range(len(scenario["flows"])) if flow not in chosen]
    told = f"the {len(chosen)} of {len(scenario['flows'])} flows with the most data"
    if not rest:
        return f"{len(chosen)} of {len(scenario['flows'])} flows"
    names = ", ".join(frames.flow_name(scenario, flow) for flow in rest[:MOST_NAMES])
    return f"{told}; without {names}" if len(rest) <= MOST_NAMES else told


def _largest(table: Columns) -> list[int]:
    flow, end = table["flow"], table.floats("end")
    ends = [(float(end[flow == one].max()), int(one)) for one in np.unique(flow)]
    return sorted(one for _, one in sorted(ends, reverse=True)[:MOST_FLOWS])


def _causes(tables: Tables, flow: int) -> tuple[Span, ...]:
    """Returns the causes of a flow over time; results of older versions have none."""
    found = tables.get("causes")
    if found is None:
        return ()
    rows = columns(found)
    rows = rows.where(rows["flow"] == flow)
    ends = zip(rows.floats("time_s"), rows.floats("end_s"), rows.texts("cause"), strict=True)
    return tuple(
        Span(float(begin), float(end), f"cause:{cause}", cause.replace("_", " "))
        for begin, end, cause in ends
    )


def _panel(scenario: Scenario, rows: Columns, flow: int, end_s: float) -> Panel:
    step = 1
    while len(rows) // step > MOST_POINTS:
        step *= 2
    near_s = end_s / _NEAR
    lines = []
    for kind, label, colour in _STEPS:
        part = _each(rows.where(rows["kind"] == kind).sort_by("time_s"), step)
        x, y = frames.column(part, "time_s"), frames.column(part, "end") / _MEGA
        lines.append(replace(_line(label, x, y, colour, "step"), dash="dot"))
    for kind, label, colour in _STROKES:
        part = _each(rows.where(rows["kind"] == kind).sort_by("time_s"), step)
        line = _line(label, *_strokes(part, near_s), colour, "line")
        lines.append(replace(line, marker="o") if kind in _DOTTED else line)
    return Panel(TIME, "MB", frames.drawable(lines), frames.flow_name(scenario, flow))


def _each(rows: Columns, step: int) -> Columns:
    return rows.take(np.arange(0, len(rows), step))


def _strokes(rows: Columns, near_s: float) -> tuple[Floats, Floats]:
    """Each range of bytes as a stroke from its first byte up to its last, and a gap.

    Ranges that are consecutive in bytes and within `near_s` are joined into stairs: a page with an
    element for each packet would be slow.
    """
    time_s, gap = frames.column(rows, "time_s"), np.full(len(rows), np.nan)
    begin, end = (frames.column(rows, edge) for edge in ("begin", "end"))
    x = np.column_stack([time_s, time_s, gap]).ravel()
    y = np.column_stack([begin, end, gap]).ravel() / _MEGA
    joined = (begin[1:] == end[:-1]) & (np.diff(time_s) <= near_s)
    kept = np.ones(len(x), dtype=bool)
    kept[2:-1:3] = ~joined
    return x[kept], y[kept]


def _line(label: str, x: Floats, y: Floats, colour: str, kind: LineKind) -> Line:
    return Line(label, x, y, colour, kind=kind, width=1.3, exact=True)
