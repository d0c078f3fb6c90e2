"""Collects the notes on a run's trials: what a reader of their means should know."""

from __future__ import annotations

from collections.abc import Sequence

from narrows.metrics import groups, settling
from narrows.metrics.metric import Entry
from narrows.metrics.trials import left_out, same_trace, spread_note


def notes_of_run(runs: Sequence[Entry], classes: Sequence[str]) -> list[str]:
    """Returns sentences on trials that differ, drift, are too short or leave something out."""
    found = [
        spread_note(runs),
        groups.note_of_run(runs, classes),
        settling.note_of_run(runs, classes),
        same_trace(runs[0]["scenario"], len(runs)),
        *left_out(runs),
    ]
    return list(filter(None, found))
