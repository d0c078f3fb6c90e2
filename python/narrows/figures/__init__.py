"""Figures: pure functions from a scenario and its tables to a description.

Describing a run needs numpy; describing a sweep, polars. Drawing needs matplotlib for images
(`narrows.figures.static`) and nothing more for a page (`narrows.figures.interactive`). None of them
is loaded before it is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Literal, TypeAlias

from narrows.late import pl
from narrows.spec.scenario import Scenario

if TYPE_CHECKING:
    from narrows.columns import Tables
    from narrows.figures.frames import Groups
    from narrows.figures.model import Figure
    from narrows.figures.sweeps.view import View

Subject: TypeAlias = Literal["run", "sweep"]
MOST_DRAWN = 8
"""Flows that are drawn one by one, at most: more make a panel unreadable."""


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A figure of the catalogue.

    The function that describes it and its module in `narrows.figures.runs` or
    `narrows.figures.sweeps` have its name. For a run the function takes the scenario, the tables
    and the groups; for a sweep, one `table` and a `View`.
    """

    name: str
    of: Subject
    summary: str
    table: str = "summary"

    def function(self) -> Callable[..., Figure]:
        """The function that describes it; for a sweep, access loads polars."""
        module = import_module(f"narrows.figures.{self.of}s.{self.name}")
        found: Callable[..., Figure] = getattr(module, self.name)
        return found


CATALOGUE = {
    entry.name: entry
    for entry in (
        CatalogueEntry("share", "sweep", "shares over an axis, with the fair share"),
        CatalogueEntry("lines", "sweep", "a metric over an axis"),
        CatalogueEntry("heatmap", "sweep", "a metric over two axes, as colours"),
        CatalogueEntry("scatter", "sweep", "throughput against delay, with ellipses"),
        CatalogueEntry("box", "sweep", "quartiles of a metric over an axis"),
        CatalogueEntry("cdf", "sweep", "distribution of a metric over flows", table="flows"),
        CatalogueEntry(
            "completion_times",
            "sweep",
            "distribution of completion times of all transfers",
            table="transfers",
        ),
        CatalogueEntry(
            "slowdown",
            "sweep",
            "slowdown of transfers by their size: median and 99th percentile",
            table="transfers",
        ),
        CatalogueEntry(
            "timeline",
            "run",
            "throughput and RTT of each class of flows, queue and loss of the bottleneck",
        ),
        CatalogueEntry("cwnd", "run", "window, packets in flight and state of each flow"),
        CatalogueEntry(
            "sequence",
            "run",
            "time-sequence graph of captured flows: data, retransmissions, ACKs, SACKs, window, "
            "and a strip of what limited each",
        ),
        CatalogueEntry(
            "completions",
            "run",
            "distribution of completion times of each class, and their slowdown by size",
        ),
        CatalogueEntry(
            "applications",
            "run",
            "what applications experience over time: a video's buffer and bitrate, page load "
            "times, transfers beyond their deadline, datagrams that arrived, delay of probes",
        ),
        CatalogueEntry(
            "tails",
            "run",
            "how often the delays of probes, of pages and of transfers with a deadline exceed "
            "each value",
        ),
        CatalogueEntry("internals", "run", "the named internals of each control"),
    )
}
"""Every figure of a run that kept samples, or of a sweep."""


def of(subject: Subject) -> list[CatalogueEntry]:
    """The figures of a run or of a sweep, in the order of the catalogue."""
    return [entry for entry in CATALOGUE.values() if entry.of == subject]


def describe(name: str, scenario: Scenario, tables: Tables, groups: Groups = None) -> Figure:
    """The figure of a run, described; `groups` names the class of every flow by id.

    Raises KeyError for a name that isn't one of `of("run")`.
    """
    made = _function(name, "run")(scenario, tables, groups)
    return replace(made, study=str(scenario["name"]))


def describe_sweep(name: str, frame: pl.DataFrame, view: View) -> Figure:
    """The figure of a sweep, described from its entry's table.

    Raises KeyError for a name that isn't one of `of("sweep")`, and InputError for
    a view that the table can't give.
    """
    return label(_function(name, "sweep")(frame, view), view.title)


def label(figure: Figure, study: str) -> Figure:
    """The figure with the name of its study, before the subtitle unless that is the title."""
    from narrows.figures.frames import in_words

    head = "" if in_words(study) else study
    return replace(figure, study=study, subtitle=": ".join(filter(None, (head, figure.subtitle))))


def _function(name: str, subject: Subject) -> Callable[..., Figure]:
    return {entry.name: entry for entry in of(subject)}[name].function()
