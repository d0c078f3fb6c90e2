"""Many runs: a study's combinations on all cores, into a store, and out of it as tables."""

from __future__ import annotations

from narrows.sweep.estimate import Estimate, estimate
from narrows.sweep.export import export, export_file
from narrows.sweep.pool import Failure
from narrows.sweep.prepare import SweepJob, prepare
from narrows.sweep.run import SweepOutcome, execute

__all__ = [
    "Estimate",
    "Failure",
    "SweepJob",
    "SweepOutcome",
    "estimate",
    "execute",
    "export",
    "export_file",
    "prepare",
]
