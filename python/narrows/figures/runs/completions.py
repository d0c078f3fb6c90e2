"""Completion times of transfers, and their slowdown."""

from __future__ import annotations

import numpy as np

from narrows.columns import Tables
from narrows.figures import frames
from narrows.figures.frames import Groups
from narrows.figures.looks import DASHES, asides
from narrows.figures.model import Figure, Line
from narrows.figures.transfers import (
    TIME,
    distribution,
    distribution_panel,
    size_panel,
    slowdown_by_size,
)
from narrows.metrics.completions import completing, transfers
from narrows.spec.datagrams import kind_of
from narrows.spec.scenario import Scenario


def completions(scenario: Scenario, tables: Tables, groups: Groups = None) -> Figure:
    """Completion times and the slowdown by size of each class of flows; no panels if none ended.

    For a workload, only transfers that began after the warm-up count.
    """
    named = list(groups) if groups is not None else [str(f["cca"]) for f in scenario["flows"]]
    rows = transfers(scenario, tables["completions"], named)
    known = []
    for members in frames.flow_classes(scenario, groups):
        own = rows.where(np.isin(rows["flow"], members.flows))
        if len(own):
            known.append((members, own))
    lines: list[Line] = []
    for members, own in known:
        dash = DASHES[sum(line.colour == members.look.hue for line in lines) % len(DASHES)]
        lines.append(distribution(members.label, own["fct_s"], members.look.hue, dash))
    places = zip(known, asides(len(known)), strict=True)
    points = [
        mark for (m, own), at in places for mark in slowdown_by_size(m.label, own, m.look.hue, at)
    ]
    kinds = {kind_of(scenario["flows"][members.flows[0]]) for members, _ in known}
    unit = "pages" if kinds == {"web"} else "transfers"
    panels = (
        distribution_panel(lines, f"{TIME[unit]}s", rows["fct_s"], unit=unit),
        size_panel(points, "Slowdown: times the least possible"),
    )
    return Figure(
        frames.title(scenario, groups, ": completion times"),
        f"{frames.conditions_of_run(scenario, tables, groups)}; {len(rows)} {unit}",
        panels if known and completing(scenario, named) else (),
        "The distribution of completion times, and the median and 99th percentile of the "
        "slowdown for each range of sizes.",
        columns=2,
        name="completions",
    )
