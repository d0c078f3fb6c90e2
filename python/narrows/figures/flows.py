"""What single flows do: their windows, their states, their control's own model."""

from __future__ import annotations

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.frames import FlowClass, Groups, Scenario, Tables
from narrows.figures.model import Figure, Panel, Series, Span
from narrows.figures.palette import name

MOST_FLOWS = 8
"""More flows than this make panels that nobody can read."""


def cwnd(
    scenario: Scenario, tables: Tables, groups: Groups = None, most: int = MOST_FLOWS
) -> Figure:
    """Window, packets in flight and states of each flow, a panel for every flow.

    The strip above a panel shows the states: BBR's own, or else the control's
    phase and the sender's recovery from loss. Dots mark
    samples by which new packets were declared lost. Of more than `most` flows,
    the first of each class are shown, as evenly as possible.
    """
    flow_samples = tables["flow_samples"]
    chosen = choose(frames.flow_classes(scenario, groups), most)
    count = len(scenario["flows"])
    rest = f"; {len(chosen)} of {count} flows" if len(chosen) < count else ""
    return Figure(
        name="cwnd",
        title=f"{scenario['name']}: windows",
        subtitle=frames.conditions(scenario) + rest,
        x_label="Time (s)",
        x_range=(0.0, frames.end_s(tables)),
        panels=tuple(_window(scenario, flow_samples, flow) for flow in chosen),
        alt="For every flow: congestion window and packets in flight in packets over time.",
    )


def internals(
    scenario: Scenario, tables: Tables, groups: Groups = None, most: int = MOST_FLOWS
) -> Figure:
    """The controls' named internals over time, a panel for every name.

    Names and units are the control's own (`bw_mbps`, `min_rtt_ms`, ...). Flows
    are chosen as in `cwnd`. A back end that sees no internals has no panels.
    """
    table = frames.internals_of(tables)
    chosen = choose(frames.flow_classes(scenario, groups), most)
    panels = []
    for label in table.get_column("name").unique(maintain_order=True).sort().to_list():
        rows = table.filter(pl.col("name") == label)
        series = [_internal(scenario, rows.filter(pl.col("flow") == f), f) for f in chosen]
        drawn = tuple(s for s in series if frames.has_values([s]))
        if drawn:
            panels.append(Panel(label, unit_of(label), drawn))
    return Figure(
        name="internals",
        title=f"{scenario['name']}: internals",
        subtitle=frames.conditions(scenario),
        x_label="Time (s)",
        x_range=(0.0, frames.end_s(tables)),
        panels=tuple(panels),
        alt="The congestion controls' named internals over time, one panel for each name.",
    )


def choose(classes: list[FlowClass], most: int) -> list[int]:
    """At most `most` flows, taking turns between the classes, ascending."""
    longest = max((len(members.flows) for members in classes), default=0)
    turns = [
        members.flows[place]
        for place in range(longest)
        for members in classes
        if place < len(members.flows)
    ]
    return sorted(turns[:most])


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


def _flow_name(scenario: Scenario, flow: int) -> str:
    spec = scenario["flows"][flow]
    return f"{spec['name']} ({name(str(spec['cca']))})"


def _window(scenario: Scenario, flow_samples: pl.DataFrame, flow: int) -> Panel:
    rows = flow_samples.filter(pl.col("flow") == flow).sort("time_s")
    cca = str(scenario["flows"][flow]["cca"])
    x, window = frames.column(rows, "time_s"), frames.column(rows, "cwnd")
    flight = frames.column(rows, "in_flight")
    group = f"cwnd {name(cca)}"
    series = [
        Series("in flight", x, flight, "neutral", width=0.9, opacity=0.9, group="in flight"),
        Series("cwnd", x, window, cca, "step", group=group),
    ]
    lost = np.diff(frames.column(rows, "lost"), prepend=0.0) > 0
    if lost.any():
        series.append(Series("loss", x[lost], window[lost], "loss", "points", group="loss"))
    return Panel(
        _flow_name(scenario, flow), "packets", tuple(series), low=0.0, spans=_states(rows, cca)
    )


def _states(rows: pl.DataFrame, cca: str) -> tuple[Span, ...]:
    """What the strip above a panel shows.

    BBR's own states rule all it does. Other controls have two phases, and what
    matters more is when the sender repairs losses.
    """
    if cca.startswith("bbr"):
        own = frames.stays(rows, "cca_state")
        return tuple(Span(a, b, f"state:{state}", state.upper()) for a, b, state in own)
    repairing = pl.col("state").is_in(["recovery", "loss", "cwr"])
    shown = pl.when(repairing).then("state").otherwise("cca_state").alias("shown")
    both = frames.stays(rows.with_columns(shown), "shown")
    return tuple(Span(a, b, f"state:{state}", state.replace("_", " ")) for a, b, state in both)


def _internal(scenario: Scenario, rows: pl.DataFrame, flow: int) -> Series:
    cca = str(scenario["flows"][flow]["cca"])
    twins = [f for f, spec in enumerate(scenario["flows"]) if spec["cca"] == cca]
    opacity = max(1.0 - 0.22 * twins.index(flow), 0.3)
    return Series(
        str(scenario["flows"][flow]["name"]),
        frames.column(rows, "time_s"),
        frames.column(rows, "value"),
        cca,
        "step",
        width=1.2,
        opacity=opacity,
        group=name(cca),
    )
