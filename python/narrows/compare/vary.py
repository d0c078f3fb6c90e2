"""What makes the trials of a scenario differ where chance has no part in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from narrows.compare.quantities import Measured

SPREAD = 0.03
"""The buffer varies by up to this part of its size."""
SAME = 1e-6
"""Values that differ by less than this part of theirs are the same."""


def chanceless(trials: Sequence[Measured]) -> bool:
    """Whether the seeds made no difference.

    Without random loss, jitter or a control that draws random numbers a scenario
    has one result, which may hang on where exactly the buffer ends. (BBR draws
    where its gain cycle begins, which a short flow doesn't live to see.)
    """
    first = trials[0]
    return all(
        run.keys() == first.keys()
        and all(math.isclose(run[cell], first[cell], rel_tol=SAME) for cell in first)
        for run in trials
    )


def with_buffer(scenario: Mapping[str, Any], trial: int) -> dict[str, Any]:
    """The scenario with the buffer of a trial, the first of which has the buffer as given.

    The others divide the stretch between 3 % less and 3 % more ever finer (the
    sequence of van der Corput), the same for every back end.
    """
    part, place, number = 0.0, 0.5, trial
    while number:
        part += place * (number % 2)
        place, number = place / 2, number // 2
    buffer = {
        unit: max(1, round(size * (1 + SPREAD * (2 * part - 1))))
        for unit, size in scenario["path"]["buffer"].items()
    }
    return {**scenario, "path": {**scenario["path"], "buffer": buffer}}
