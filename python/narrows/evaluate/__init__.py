"""Tests a congestion control in the situations of a suite, beside common controls.

A suite is data: a folder of specifications with `[[check]]`, and a `suite.toml` with the question
of each. Suite -> runs of every control in every situation -> verdicts by interval -> pages.
"""

from __future__ import annotations

from narrows.evaluate.make import evaluate
from narrows.evaluate.runs import cca_of
from narrows.evaluate.suite import load_suite, suites

__all__ = ["cca_of", "evaluate", "load_suite", "suites"]
