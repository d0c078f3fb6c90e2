"""Compares two results: their specifications, their metrics and their figures.

    narrows diff narrows-results/before-1a2b3c4d narrows-results/after-5e6f7a8b

Both are runs, or both are sweeps. `narrows compare` shows whether back ends agree on the same
specification; this shows how a change of the specification, or of narrows, changed the results.
"""

from __future__ import annotations

from narrows.diff.judge import Effect
from narrows.diff.make import diff

__all__ = ["Effect", "diff"]
