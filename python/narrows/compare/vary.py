"""What makes the trials of a scenario differ where chance has no part in it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from narrows.compare.quantities import Measured
from narrows.spec import Scenario

BUFFER, DELAY = 0.03, 0.01
"""By up to these parts of theirs the buffer and the path's delay vary.

The buffer alone isn't enough: a small one has few sizes in whole packets.
"""
SAME = 1e-6
"""Values that differ by less than this part of theirs are the same."""


def chanceless(trials: Sequence[Measured]) -> bool:
    """Whether the seeds made no difference.

    Without random loss, jitter or a control that draws random numbers a scenario
    has one result, which may hang on where exactly the buffer ends. (BBR draws
    where its gain cycle begins, which a short flow doesn't live to see.)
    """
    if len(trials) < 2:
        return False  # the others were invalid, so chance has a part
    first = trials[0]
    return all(
        run.keys() == first.keys()
        and all(math.isclose(run[cell], first[cell], rel_tol=SAME) for cell in first)
        for run in trials
    )


def varied(scenario: Scenario, trial: int) -> Scenario:
    """The scenario with the buffer and the delay of a trial; the first has them as given.

    The others divide the stretches between a little less and a little more ever
    finer, the same for every back end.
    """
    if trial == 1:
        return scenario
    path = scenario["path"]
    buffer = {
        unit: max(1, round(size * (1 + BUFFER * (2 * _halton(trial, 2) - 1))))
        for unit, size in path["buffer"].items()
    }
    rtt_ns = round(path["rtt_ns"] * (1 + DELAY * (2 * _halton(trial, 3) - 1)))
    return {**scenario, "path": {**path, "buffer": buffer, "rtt_ns": rtt_ns}}


def _halton(number: int, base: int) -> float:
    """The number's digits in `base`, mirrored at the point: from 0 to 1, evenly spread."""
    part, place = 0.0, 1 / base
    while number:
        number, digit = divmod(number, base)
        part += place * digit
        place /= base
    return part
