"""Reports: a results directory as pictures and one self-contained HTML page."""

from __future__ import annotations

from narrows.report.check import Check, UnjudgedCheck
from narrows.report.write import FINDINGS, REPLAY, write_report

__all__ = ["FINDINGS", "REPLAY", "Check", "UnjudgedCheck", "write_report"]
