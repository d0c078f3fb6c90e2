"""Two results held against each other: what was asked, what came out, drawn over each other.

    narrows diff narrows-results/before-1a2b3c4d narrows-results/after-5e6f7a8b

Both are runs, or both are sweeps. `narrows compare` asks whether back ends agree on the same
specification; this asks what a change of the specification, or of narrows, made of the results.
"""

from __future__ import annotations

from narrows.diff.judge import Change, Row
from narrows.diff.make import Diff, diff

__all__ = ["Change", "Diff", "Row", "diff"]
