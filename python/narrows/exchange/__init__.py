"""Imports the results of other programs, and exports ours in their formats."""

from __future__ import annotations

from narrows.exchange.read import FORMATS, import_files
from narrows.exchange.write import export_run

__all__ = ["FORMATS", "export_run", "import_files"]
