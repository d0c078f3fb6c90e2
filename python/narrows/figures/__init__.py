"""Figures: pure functions from a scenario and its tables to a description.

Describing needs polars and numpy. Drawing needs matplotlib for paper
(`narrows.figures.static`) and nothing more for a page
(`narrows.figures.interactive`); neither is loaded before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from narrows.figures.frames import Groups, Scenario, Tables
    from narrows.figures.model import Figure


@dataclass(frozen=True, slots=True)
class Entry:
    """A figure that can be drawn of any run that kept samples."""

    name: str
    summary: str
    home: str

    def function(self) -> Callable[[Scenario, Tables, Groups], Figure]:
        """The function that describes it; this loads polars."""
        found: Callable[[Scenario, Tables, Groups], Figure] = getattr(
            import_module(self.home), self.name
        )
        return found


CATALOGUE = {
    entry.name: entry
    for entry in (
        Entry(
            "timeline",
            "throughput and RTT of each class of flows, queue and loss of the bottleneck",
            "narrows.figures.timeline",
        ),
        Entry("cwnd", "window, packets in flight and state of each flow", "narrows.figures.flows"),
        Entry(
            "sequence",
            "time-sequence graph of captured flows: data, retransmissions, ACKs, SACKs, window",
            "narrows.figures.sequence",
        ),
        Entry("internals", "the named internals of each control", "narrows.figures.flows"),
    )
}

OF_SWEEPS = {
    "share": "shares over an axis, with the fair share",
    "lines": "a metric over an axis",
    "heatmap": "a metric over two axes, as colours",
    "scatter": "throughput against delay, with ellipses",
    "box": "quartiles of a metric over an axis",
    "cdf": "distribution of a metric over flows",
}
"""The figures of a sweep, which `narrows.figures.sweeps` describes."""


def describe(name: str, scenario: Scenario, tables: Tables, groups: Groups = None) -> Figure:
    """The figure of that name, described; `groups` names the class of every flow by id.

    Raises KeyError for a name that isn't in `CATALOGUE`.
    """
    return CATALOGUE[name].function()(scenario, tables, groups)
