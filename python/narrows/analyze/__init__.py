"""Captures of real traffic as results: the tables, metrics and figures of a run.

The native module reads the packets. Here its findings become a results directory with a
specification that describes the capture as closely as possible.
"""

from __future__ import annotations

from narrows.analyze.make import Analysis, Datagrams, analyze, describe

__all__ = ["Analysis", "Datagrams", "analyze", "describe"]
