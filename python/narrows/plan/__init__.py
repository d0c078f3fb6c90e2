"""Turns a specification into scenarios for a back end, each with its content hash."""

from __future__ import annotations

from narrows.plan.build import Plan, Trial, plan, trial_of
from narrows.plan.canonical import canonical_json, content_hash
from narrows.plan.grid import MOST_PROBLEMS, Cell, Grid, grid
from narrows.plan.select import Selection

__all__ = [
    "MOST_PROBLEMS",
    "Cell",
    "Grid",
    "Plan",
    "Selection",
    "Trial",
    "canonical_json",
    "content_hash",
    "grid",
    "plan",
    "trial_of",
]
