"""Time-sequence graphs of captured flows, as Wireshark and tcptrace draw them.

Data are strokes from the first byte to the last, retransmissions in another colour and with dots;
the acknowledged data and the end of the receiver's window are steps. S. Ostermann: tcptrace. The
strip above each panel shows what limited the flow. Of a long transfer, a few round trips around the
first loss are shown, since all of it looks like one line; without a loss, the first ones.
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
"""Packets closer than this part of the shown time share about one column of pixels."""
_PAUSE = 4
"""A time between packets of more than this many usual ones is a pause."""
BEFORE, AFTER = 3, 7
"""The round trips that are shown before the first loss and after it."""
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
    rows = {} if table is None else {one: table.where(table["flow"] == one) for one in chosen}
    start_s, stop_s = _stretch(scenario, list(rows.values()), end_s)
    whole = stop_s - start_s == end_s
    panels = tuple(
        replace(
            _panel(scenario, its, flow, (stop_s - start_s) / _NEAR),
            spans=_causes(tables, flow),
            y_range=(0.0 if whole else None, None),
        )
        for flow, its in rows.items()
    )
    shown = "" if whole else f"{start_s:.2f} to {stop_s:.2f} s of {end_s:.1f} s; "
    return Figure(
        f"Time and sequence of {count_of(len(chosen), 'flow')}",
        f"{_which(scenario, chosen)}; {shown}strip: what limited the flow",
        panels,
        "For every flow: sequence numbers of data, acknowledgements and window over time, and what "
        "limited it.",
        height=TALL_IN,
        name="sequence",
        stack=Stack((start_s, stop_s)),
    )


def _stretch(scenario: Scenario, flows: list[Columns], end_s: float) -> tuple[float, float]:
    """Returns the time to show: all of a short run, otherwise round trips around the first loss.

    It is the first loss at which all flows have begun, if there is any.
    """
    trip_s = scenario["path"]["rtt_ns"] / 1e9
    if not flows or end_s <= 2 * (BEFORE + AFTER) * trip_s:
        return 0.0, end_s
    begins = [float(its.floats("time_s").min()) for its in flows]
    losses = np.concatenate([
        its.floats("time_s")[np.isin(its["kind"], ["retransmission", "sack"])] for its in flows
    ])  # fmt: skip
    later = losses[losses >= max(begins)]
    found = later if len(later) else losses
    first_s = float(found.min()) - BEFORE * trip_s if len(found) else min(begins) - trip_s
    start_s = max(first_s, 0.0)
    return start_s, min(start_s + (BEFORE + AFTER) * trip_s, end_s)


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


def _panel(scenario: Scenario, rows: Columns, flow: int, near_s: float) -> Panel:
    step = 1
    while len(rows) // step > MOST_POINTS:
        step *= 2
    lines = []
    for kind, label, colour in _STEPS:
        part = _each(rows.where(rows["kind"] == kind).sort_by("time_s"), step)
        x, y = frames.column(part, "time_s"), frames.column(part, "end") / _MEGA
        lines.append(replace(_line(label, x, y, colour, "step"), dash="dot"))
    for kind, label, colour in _STROKES:
        part = _each(rows.where(rows["kind"] == kind).sort_by("time_s"), step)
        line = _line(label, *_strokes(part, near_s, kind == "data"), colour, "line")
        lines.append(replace(line, marker="o") if kind in _DOTTED else line)
    return Panel(TIME, "MB", frames.drawable(lines), frames.flow_name(scenario, flow))


def _each(rows: Columns, step: int) -> Columns:
    return rows.take(np.arange(0, len(rows), step))


def _strokes(rows: Columns, near_s: float, sampled: bool) -> tuple[Floats, Floats]:
    """Each range of bytes as a stroke from its first byte up to its last, and a gap.

    Ranges that are consecutive in bytes and within `near_s` are joined into stairs: a page with an
    element for each packet would be slow. If only some packets are `sampled`, their neighbours are
    joined unless a pause parts them: alone, the strokes would be too short to see.
    """
    time_s, gap = frames.column(rows, "time_s"), np.full(len(rows), np.nan)
    begin, end = (frames.column(rows, edge) for edge in ("begin", "end"))
    x = np.column_stack([time_s, time_s, gap]).ravel()
    y = np.column_stack([begin, end, gap]).ravel() / _MEGA
    apart_s, skipped = np.diff(time_s), begin[1:] - end[:-1]
    joined = (skipped == 0) & (apart_s <= near_s)
    if sampled and len(rows) > 1 and np.median(skipped) > 0:
        joined |= (skipped > 0) & (apart_s <= _PAUSE * np.median(apart_s))
    kept = np.ones(len(x), dtype=bool)
    kept[2:-1:3] = ~joined
    return x[kept], y[kept]


def _line(label: str, x: Floats, y: Floats, colour: str, kind: LineKind) -> Line:
    return Line(label, x, y, colour, kind=kind, width=1.3, exact=True)
