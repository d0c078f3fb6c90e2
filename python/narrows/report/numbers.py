"""Readable numbers: texts for tables, and the key figures at the top of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from narrows.figures import frames
from narrows.known import average
from narrows.metrics.headings import words
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
    queue = average([b["queue_bdp"]["mean"] for b in bottlenecks])
    used, lost = (average([b[key] for b in bottlenecks]) for key in ("utilization", "loss_rate"))
    found = [] if used is None else [("utilization", percent(used))]
    found += [] if lost is None else [("loss", percent(lost))]
    losses = [run.summary["losses"]["loss_rate"] for run in runs if "losses" in run.summary]
    if average(losses) is not None:
        found.append(("loss on the path", percent(average(losses))))
    if queue is not None and frames.offered_mbps(scenario) is None:
        found.append(("mean queue", f"{number(queue)} BDP"))
    delay = average([b["queue_ms"]["mean"] for b in bottlenecks])
    if delay is not None:
        found.append(("mean queue", f"{number(delay)} ms"))
    return [*found, *_shares(runs, groups), *_completions(runs)]


def _shares(runs: Sequence[SummarisedRun], groups: Sequence[str]) -> list[tuple[str, str]]:
    scenario = runs[0].scenario
    classes = frames.flow_classes(scenario, groups)
    if len(classes) < 2:
        return []
    flows = [flow for run in runs for flow in run.summary["flows"]]
    found = []
    for members in classes:
        names = {scenario["flows"][flow]["name"] for flow in members.flows}
        shares = [flow["share"] for flow in flows if flow["name"] in names]
        known = [share for share in shares if share is not None]
        if known:
            found.append((f"share of {members.label}", percent(sum(known) / len(runs))))
    return found


def _completions(runs: Sequence[SummarisedRun]) -> list[tuple[str, str]]:
    found = [entry for run in runs for entry in run.summary.get("completions", ())]
    cards = []
    for name in dict.fromkeys(entry["class"] for entry in found):
        times = [e["completion_s"] for e in found if e["class"] == name]
        for statistic in ("p50", "p99"):
            value = average([time[statistic] for time in times])
            if value is not None:
                label = f"completion {statistic} of {words(name)}"
                cards.append((label, f"{number(value)} s"))
    return cards
