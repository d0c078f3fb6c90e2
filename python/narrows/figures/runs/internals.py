"""The congestion controls' own model: their named internals."""

from __future__ import annotations

from narrows.columns import Columns, Tables
from narrows.figures import MOST_DRAWN, frames
from narrows.figures.frames import TIME, Groups
from narrows.figures.model import Figure, Line, Panel, Stack
from narrows.figures.palette import name
from narrows.spec.scenario import Scenario


def internals(
    scenario: Scenario, tables: Tables, groups: Groups = None, most: int = MOST_DRAWN
) -> Figure:
    """The controls' named internals over time, a panel for every name.

    Names and units are the control's own (`bw_mbps`, `min_rtt_ms`, ...). Flows
    are chosen as in `cwnd`. A back end that sees no internals has no panels.
    """
    chosen = frames.choose(frames.flow_classes(scenario, groups), most)
    table = frames.internals_of(tables, chosen)
    panels = []
    for label in sorted(set(table["name"].tolist())):
        rows = table.where(table["name"] == label)
        found = [_internal(scenario, rows.where(rows["flow"] == f), f) for f in chosen]
        lines = frames.drawable(found)
        if lines:
            panels.append(Panel(TIME, unit_of(label), lines, label, y_range=(None, None)))
    return Figure(
        frames.title(scenario, groups, ": internals"),
        frames.conditions_of_run(scenario, tables, groups),
        tuple(panels),
        "The congestion controls' named internals over time, one panel for each name.",
        height=frames.ROW_IN,
        name="internals",
        stack=Stack((0.0, frames.end_s(tables))),
    )


def unit_of(label: str) -> str:
    """The unit that the name of an internal ends in, for the axis."""
    units = {
        "mbps": "Mbit/s",
        "ms": "ms",
        "s": "s",
        "bytes": "bytes",
        "gain": "gain",
        "rtts": "RTTs",
    }
    return units.get(label.rsplit("_", 1)[-1], "packets" if "cwnd" in label else "value")


def _internal(scenario: Scenario, rows: Columns, flow: int) -> Line:
    cca = str(scenario["flows"][flow]["cca"])
    twins = [f for f, spec in enumerate(scenario["flows"]) if spec["cca"] == cca]
    opacity = max(1.0 - 0.22 * twins.index(flow), 0.3)
    return Line(
        str(scenario["flows"][flow]["name"]),
        frames.column(rows, "time_s"),
        frames.column(rows, "value"),
        cca,
        kind="step",
        width=1.2,
        opacity=opacity,
        group=name(cca),
    )
