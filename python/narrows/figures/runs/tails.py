"""How often the delays of applications exceed a value: the tail that their users notice."""

from __future__ import annotations

import numpy as np

from narrows.columns import Columns, Tables
from narrows.figures import frames
from narrows.figures.frames import FlowClass, Groups
from narrows.figures.looks import DASHES
from narrows.figures.model import Figure, Floats, Guide, Line, Mark, Panel
from narrows.metrics.completions import transfers
from narrows.metrics.distributions import distributions
from narrows.metrics.workloads import MEDIA
from narrows.spec.datagrams import kind_of
from narrows.spec.scenario import Scenario

LEAST = 1e-4
"""The least share that is drawn."""


def tails(scenario: Scenario, tables: Tables, groups: Groups = None) -> Figure:
    """The share of delays above each value, from the warm-up on, on a logarithmic axis.

    One panel has the round-trip times of probes; one, the transfers of flows with a deadline and
    the load times of web pages; one, the delays of frames of video calls.
    """
    classes = frames.flow_classes(scenario, groups)
    named = list(groups) if groups is not None else [str(f["cca"]) for f in scenario["flows"]]
    done = transfers(scenario, tables["completions"], named)
    calls = [members for members in classes if _shows(scenario, members)]
    others = [members for members in classes if members not in calls]
    every = (
        _panel(_probes(scenario, tables, classes), "Probes", "Round-trip time (ms)"),
        _times_panel(scenario, done, others, "Transfers and pages", "Completion time (s)"),
        _times_panel(scenario, done, calls, "Frames of calls", "Delay (s)"),
    )
    panels = tuple(panel for panel in every if panel.marks)
    return Figure(
        frames.title(scenario, groups, ": tails of delays"),
        frames.conditions_of_run(scenario, tables, groups),
        panels,
        "The share of probes, transfers and pages that took longer than each value.",
        columns=min(2, max(len(panels), 1)),
        name="tails",
    )


def _probes(scenario: Scenario, tables: Tables, classes: list[FlowClass]) -> list[Mark]:
    known = distributions(tables["distributions"]) if "distributions" in tables else {}
    marks: list[Mark] = []
    for members in classes:
        for flow in members.flows:
            rows = known.get(("rtt_ms", flow))
            if rows is not None and kind_of(scenario["flows"][flow]) == "ping":
                line = _above(members, rows.floats("value"), rows.floats("weight"), marks)
                marks.append(line)
    return marks


def _shows(scenario: Scenario, members: FlowClass) -> bool:
    return kind_of(scenario["flows"][members.flows[0]]) == MEDIA


def _times_panel(
    scenario: Scenario, done: Columns, classes: list[FlowClass], title: str, label: str
) -> Panel:
    marks: list[Mark] = []
    limits = {}
    for members in classes:
        first = scenario["flows"][members.flows[0]]
        limit_ns = first.get("deadline_ns")
        if limit_ns is None and kind_of(first) not in ("web", MEDIA):
            continue
        took_s = np.sort(done.where(np.isin(done["flow"], members.flows)).floats("fct_s"))
        if len(took_s):
            marks.append(_above(members, took_s, np.ones(len(took_s)), marks))
        if limit_ns is not None:
            limits[f"deadline {limit_ns / 1e9:g} s"] = limit_ns / 1e9
    guides = tuple(Guide(at, label, upright=True) for label, at in limits.items())
    return _panel(marks, title, label, guides)


def _above(members: FlowClass, values: Floats, weights: Floats, before: list[Mark]) -> Line:
    """The share of ascending values that are above x, as steps that end at the largest."""
    share = 1 - np.cumsum(weights) / weights.sum()
    share = np.append(1.0, share[:-1])
    hue = members.look.hue
    alike = sum(isinstance(mark, Line) and mark.colour == hue for mark in before)
    dash = DASHES[alike % len(DASHES)]
    return Line(members.label, values, np.maximum(share, LEAST), hue, dash=dash, kind="step")


def _panel(marks: list[Mark], title: str, label: str, guides: tuple[Guide, ...] = ()) -> Panel:
    shares = [mark.y.min() for mark in marks if isinstance(mark, Line)]
    least = 0.7 * float(min(shares, default=LEAST))
    return Panel(
        label, "Share that takes longer", tuple(marks), title,
        x_range=(None, None), y_range=(least, 1.0), y_scale="log", guides=guides,
    )  # fmt: skip
