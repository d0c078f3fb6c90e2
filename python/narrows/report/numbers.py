"""Readable numbers: texts for tables, and the key figures at the top of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from narrows.figures import frames
from narrows.known import average, total
from narrows.metrics.headings import words
from narrows.metrics.intervals import reach
from narrows.spec.scenario import Scenario


class SummarisedRun(Protocol):
    """A run with its scenario and its summary as in `--json`."""

    @property
    def scenario(self) -> Scenario:
        """The run's scenario."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """The run's numbers."""


def number(value: float | int | None, digits: int = 3) -> str:
    """Formats a number for a table: `digits` significant digits, a dash for None."""
    if value is None or value != value:
        return "\N{EN DASH}"
    if isinstance(value, int) or abs(value) >= 10**digits:
        return f"{value:,.0f}".replace(",", "\N{THIN SPACE}")
    return f"{value:#.{digits}g}".rstrip(".")


def percent(value: float | None) -> str:
    """Formats a fraction in per cent, a dash for None."""
    return "\N{EN DASH}" if value is None else f"{number(100 * value)} %"


def cards(runs: Sequence[SummarisedRun], groups: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the key figures: means over the runs.

    Shares are given if there are several classes, completion times if transfers end.
    """
    scenario = runs[0].scenario
    bottlenecks = [run.summary["bottleneck"] for run in runs]
    queues = [b["queue_bdp"]["mean"] for b in bottlenecks]
    losses = [run.summary["losses"]["loss_rate"] for run in runs if "losses" in run.summary]
    found = [
        *_card("utilization", [b["utilization"] for b in bottlenecks], "%", 100),
        *_card("loss", [b["loss_rate"] for b in bottlenecks], "%", 100),
        *_card("loss on the path", losses, "%", 100),
        *_card("mean queue", queues if frames.offered_mbps(scenario) is None else [], "BDP"),
        *_card("mean queue", [b["queue_ms"]["mean"] for b in bottlenecks], "ms"),
    ]
    return [*found, *_shares(runs, groups), *_completions(runs)]


def _card(
    label: str, values: Sequence[float | None], unit: str, scale: float = 1.0
) -> list[tuple[str, str]]:
    """Returns a key figure with half of its mean's interval, if the values vary; [] if unknown."""
    mean, half = average(values), reach(values)
    if mean is None:
        return []
    told = number(scale * mean)
    decimals = len(told.partition(".")[2])
    more = "" if half is None else f" \N{PLUS-MINUS SIGN} {scale * half:,.{decimals}f}"
    return [(label, f"{told}{more} {unit}")]


def _shares(runs: Sequence[SummarisedRun], groups: Sequence[str]) -> list[tuple[str, str]]:
    scenario = runs[0].scenario
    classes = frames.flow_classes(scenario, groups)
    if len(classes) < 2:
        return []
    found = []
    for members in classes:
        names = {scenario["flows"][flow]["name"] for flow in members.flows}
        shares = [
            total(flow["share"] for flow in run.summary["flows"] if flow["name"] in names)
            for run in runs
        ]
        found += _card(f"share of {members.label}", shares, "%", 100)
    return found


def _completions(runs: Sequence[SummarisedRun]) -> list[tuple[str, str]]:
    found = [entry for run in runs for entry in run.summary.get("completions", ())]
    cards = []
    for name in dict.fromkeys(entry["class"] for entry in found):
        times = [e["completion_s"] for e in found if e["class"] == name]
        for statistic in ("p50", "p99"):
            label = f"completion {statistic} of {words(name)}"
            cards += _card(label, [time[statistic] for time in times], "s")
    return cards
