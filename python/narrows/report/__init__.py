"""Reports: a results directory as pictures and one self-contained HTML page."""

from __future__ import annotations

from narrows.report.page import Check
from narrows.report.write import FINDINGS, Verdicts, write_report

__all__ = ["FINDINGS", "Check", "Verdicts", "write_report"]
