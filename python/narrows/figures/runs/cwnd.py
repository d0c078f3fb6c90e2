"""Windows and states of single flows."""

from __future__ import annotations

import numpy as np

from narrows.columns import Columns, Tables, columns
from narrows.figures import MOST_DRAWN, frames
from narrows.figures.frames import TIME, Groups
from narrows.figures.model import Figure, Line, Panel, Span, Stack
from narrows.figures.palette import name
from narrows.spec.registry import is_bbr
from narrows.spec.scenario import Scenario

_REPAIRING = ("recovery", "loss", "cwr")
"""States of the sender in which it mends losses, or answers to marks."""


def cwnd(
    scenario: Scenario, tables: Tables, groups: Groups = None, most: int = MOST_DRAWN
) -> Figure:
    """Window, packets in flight and states of each flow, a panel for every flow.

    The strip above a panel shows the states: BBR's own, or else the control's
    phase and the sender's recovery from loss. Dots mark samples in which new packets were declared
    lost. If there are more than `most` flows, the first of each class are shown, as evenly as
    possible.
    """
    chosen = frames.choose(frames.flow_classes(scenario, groups), most)
    flow_samples = columns(tables["flow_samples"]).having("flow", chosen)
    count = len(scenario["flows"])
    panels = [_window(scenario, flow_samples, flow) for flow in chosen]
    rest = f"; {len(chosen)} of {count} flows" if len(chosen) < count else ""
    return Figure(
        frames.title(scenario, groups, ": windows"),
        frames.conditions_of_run(scenario, tables, groups) + rest,
        tuple(panel for panel in panels if frames.drawable(panel.lines)),
        "For every flow: congestion window and packets in flight in packets over time.",
        height=frames.ROW_IN,
        name="cwnd",
        stack=Stack((0.0, frames.end_s(tables))),
    )


def _window(scenario: Scenario, flow_samples: Columns, flow: int) -> Panel:
    rows = flow_samples.where(flow_samples["flow"] == flow).sort_by("time_s")
    cca = str(scenario["flows"][flow]["cca"])
    x, window = frames.column(rows, "time_s"), frames.column(rows, "cwnd")
    flight = frames.column(rows, "in_flight")
    group = f"cwnd {name(cca)}"
    lines = [
        Line("in flight", x, flight, "neutral", width=0.9, opacity=0.9),
        Line("cwnd", x, window, cca, kind="step", width=1.6, group=group),
    ]
    lost = np.diff(frames.column(rows, "lost"), prepend=0.0) > 0
    if lost.any():
        at = np.where(np.isfinite(window), window, flight)  # a capture shows no window
        lines.append(Line("loss", x[lost], at[lost], "loss", kind="points"))
    title = frames.flow_name(scenario, flow)
    return Panel(TIME, "packets", frames.drawable(lines), title, spans=_states(rows, cca))


def _states(rows: Columns, cca: str) -> tuple[Span, ...]:
    """The states in the strip above a panel.

    BBR's own states determine all it does. Other controls have two phases, and the sender's
    recovery from losses matters more.
    """
    if is_bbr(cca):
        own = frames.stays(rows, "cca_state")
        return tuple(Span(a, b, f"state:{state}", state.upper()) for a, b, state in own)
    pairs = zip(rows.texts("state"), rows.texts("cca_state"), strict=True)
    shown = [state if state in _REPAIRING else phase for state, phase in pairs]
    both = frames.stays_of(shown, rows.floats("time_s"))
    return tuple(Span(a, b, f"state:{state}", state.replace("_", " ")) for a, b, state in both)
