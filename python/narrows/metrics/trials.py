"""Combines the trials of a run: the means of their metrics, and what the trials share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from narrows.metrics.intervals import half_width, mean
from narrows.metrics.metric import Entry
from narrows.metrics.tables import summary_row
from narrows.spec.scenario import Scenario

REMEDY = (
    'since nothing in it is random; `[host]` with jitter = "100us" (processing noise) makes '
    "trials differ"
)

TRACE = (
    "All trials replay the same trace, so their spread shows what else is random and says nothing "
    "about other traces, or other passes of this one."
)

INTERVALS = "means ± half of the 95 % interval"
"""The words beside means with intervals."""
SINGLE = "one trial shows no spread; --trials 5 runs more"
"""The words beside values without an interval."""


def spread_note(runs: Sequence[Entry]) -> str:
    """Returns the note that a single run's statistics of transfers have no spread.

    Empty for other runs.
    """
    return f"{SINGLE.capitalize()}." if len(runs) == 1 and runs[0].get("completions") else ""


def alike(digests: Iterable[Sequence[str]]) -> str:
    """Returns a sentence about trials that are one and the same run, by each condition's digests.

    Empty if no condition has only equal trials.
    """
    several = [each for each in digests if len(each) > 1]
    same = sum(len(set(each)) == 1 for each in several)
    if not same:
        return ""
    if len(several) == 1:
        return f"The {len(several[0])} trials are one and the same run, {REMEDY}."
    every = same == len(several)
    where = "each combination" if every else f"{same:,} of {len(several):,} combinations"
    return f"The trials of {where} are one and the same run, {REMEDY}."


def same_trace(scenario: Scenario, trials: int) -> str:
    """Returns a sentence about trials whose links all replay one trace; else an empty text."""
    path = scenario["path"]
    links = [path, *path["links"], *filter(None, [path["reverse"]])]
    replayed = any((link["service"] or {}).get("kind") == "trace" for link in links)
    return TRACE if replayed and trials > 1 else ""


def left_out(runs: Sequence[Entry]) -> Iterator[str]:
    """Yields a sentence for each class whose unfinished transfers weren't counted."""
    if runs[0]["scenario"]["run"]["record"] != "summary":
        return
    found = [entry for run in runs for entry in run.get("completions", ())]
    for name in dict.fromkeys(entry["class"] for entry in found):
        own = [entry for entry in found if entry["class"] == name]
        if any(entry["unfinished"] is None for entry in own):
            yield note_of_finished(name, [entry["completed"] for entry in own])


def note_of_finished(name: str, completed: Iterable[float]) -> str:
    """Returns the sentence that completion times are only of the transfers that were finished."""
    ordered = sorted(completed)
    counts = " to ".join(dict.fromkeys(f"{count:,.0f}" for count in (ordered[0], ordered[-1])))
    return (
        f"{name}: completion times are those of {counts} finished transfers; how many weren't "
        'finished isn\'t known with record = "summary", but with "samples"'
    )


def join_trials(runs: Sequence[Entry], groups: Sequence[str]) -> dict[str, Any]:
    """Returns the scenario once, the means over the valid trials, and the summary of each trial.

    `groups` has the class of each flow by id. The scenario is the first trial's; the others differ
    in their seeds, which are given with each trial.
    """
    shared = [{key: value for key, value in run.items() if key != "scenario"} for run in runs]
    return {"scenario": runs[0]["scenario"], "means": means(runs, groups), "runs": shared}


def means(runs: Sequence[Entry], groups: Sequence[str]) -> dict[str, dict[str, float | None]]:
    """Returns the mean of each column of `summary` over the valid trials that have a value.

    `half_width` is half of its 95 % interval by Student's t, None for a single value; `trials` is
    the number of values.
    """
    rows = [summary_row(run, groups) for run in runs if "invalid" not in run]
    columns = dict.fromkeys(name for row in rows for name in row)
    known = {
        name: [float(row[name]) for row in rows if isinstance(row.get(name), int | float)]
        for name in columns
    }
    return {name: _mean(values) for name, values in known.items() if values}


def _mean(values: Sequence[float]) -> dict[str, float | None]:
    reach = half_width(values) if len(values) > 1 else None
    return {"mean": mean(values), "half_width": reach, "trials": len(values)}
