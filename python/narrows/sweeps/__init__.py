"""Runs a study's combinations on all cores into a store, and exports its tables."""

from __future__ import annotations

from narrows.sweeps.estimate import estimate
from narrows.sweeps.export import export, export_file
from narrows.sweeps.prepare import SweepJob, prepare
from narrows.sweeps.run import SweepOutcome, execute

__all__ = ["SweepJob", "SweepOutcome", "estimate", "execute", "export", "export_file", "prepare"]
