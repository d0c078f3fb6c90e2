"""Captures of real traffic as results: the tables, metrics and figures of a run.

The native module reads the packets; here its findings become a results directory
with a specification that comes as near to what was seen as a specification can.
"""

from __future__ import annotations

from narrows.analyze.run import Analysis, analyze

__all__ = ["Analysis", "analyze"]
