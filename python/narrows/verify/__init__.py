"""Repeats stored runs and compares what they recorded, value for value.

A result says which specification, seed and engine it came from. Whoever receives it can check here
that its scenario really gives it, without trusting the sender.
"""

from __future__ import annotations

from narrows.verify.repeat import check_place, kept_runs, repeat
from narrows.verify.text import document, lines

__all__ = ["check_place", "document", "kept_runs", "lines", "repeat"]
