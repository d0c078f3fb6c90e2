"""Turns a specification into scenarios for a back end, each with its content hash."""

from __future__ import annotations

from narrows.plan.build import Plan, Trial, plan, trial_of
from narrows.plan.canonical import canonical_json, content_hash
from narrows.plan.grid import Cell, Grid, grid

__all__ = [
    "Cell",
    "Grid",
    "Plan",
    "Trial",
    "canonical_json",
    "content_hash",
    "grid",
    "plan",
    "trial_of",
]
