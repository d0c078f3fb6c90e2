"""One scenario on several back ends: every quantity of each, and whether they agree.

    narrows compare fig9.toml
    narrows compare experiments/agreement --table docs/reference/agreement.md

`compare` runs and judges one scenario, `study` also all of a directory.
`narrows.compare.quantities` says what is measured and how far apart two means may lie.
"""

from __future__ import annotations

from narrows.compare.judge import Comparison, Counts, Row
from narrows.compare.quantities import Cell
from narrows.compare.run import UNTIL_DECIDED, compare
from narrows.compare.studies import Study, study
from narrows.metrics.equivalence import Verdict

__all__ = [
    "UNTIL_DECIDED",
    "Cell",
    "Comparison",
    "Counts",
    "Row",
    "Study",
    "Verdict",
    "compare",
    "study",
]
