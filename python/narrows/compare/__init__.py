"""Runs a scenario on several back ends, and says for each quantity whether they agree.

    narrows compare fig9.toml
    narrows compare experiments/agreement/study.toml --filter case=four-bbr-deep

`compare` runs and judges a specification, or each combination of a study.
`narrows.compare.quantities` says what is measured and how far apart two means may lie.
"""

from __future__ import annotations

from narrows.compare.judge import CellComparison, Comparison
from narrows.compare.quantities import ComparedQuantity
from narrows.compare.run import UNTIL_DECIDED
from narrows.compare.studies import compare
from narrows.metrics.equivalence import EquivalenceVerdict

__all__ = [
    "UNTIL_DECIDED",
    "CellComparison",
    "ComparedQuantity",
    "Comparison",
    "EquivalenceVerdict",
    "compare",
]
