"""Varies the trials of a scenario beyond their seeds.

Seeds alone are too little: a start-up that draws no random numbers is the same in every trial, and
its consequences would count as if they had been observed many times
(docs/decisions/021-trials-of-a-comparison-vary-the-path.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from narrows.compare.quantities import Measured
from narrows.spec import Scenario
from narrows.spec.scenario import Flow, Path

BUFFER, DELAY = 0.03, 0.01
"""The largest relative variation of the buffer and of the delays.

Varying the buffer alone isn't enough: a small one has few sizes in whole packets.
"""
SAME = 1e-6
"""Values with a smaller relative difference count as the same."""


def chanceless(trials: Sequence[Measured]) -> bool:
    """Returns True if the seeds made no difference.

    Without random loss, jitter or a control that draws random numbers a scenario has one result,
    which may depend on the exact size of the buffer. (BBR draws where its gain cycle begins, but a
    short flow ends before that.)
    """
    if len(trials) < 2:
        return False  # the others were invalid, so the runs differ by chance
    first = trials[0]
    return all(
        run.keys() == first.keys()
        and all(math.isclose(run[cell], first[cell], rel_tol=SAME) for cell in first)
        for run in trials
    )


def vary(scenario: Scenario, trial: int) -> Scenario:
    """Returns the scenario with the buffer and the delay of a trial.

    The first keeps the given ones.

    The others divide the ranges around them ever more finely, identically for every back end.
    """
    if trial == 1:
        return scenario
    path, larger = scenario["path"], 1 + BUFFER * (2 * _halton(trial, 2) - 1)
    longer = 1 + DELAY * (2 * _halton(trial, 3) - 1)
    changed: Path = {
        **path,
        "buffer": _resize(path["buffer"], larger),
        "rtt_ns": round(path["rtt_ns"] * longer),
        "links": [{**one, "buffer": _resize(one["buffer"], larger)} for one in path["links"]],
    }
    flows = [_stretch(flow, longer) for flow in scenario["flows"]]
    return {**scenario, "path": changed, "flows": flows}


def _resize(buffer: Mapping[str, int], larger: float) -> dict[str, int]:
    """Returns a buffer `larger` times as large, of at least one byte or packet."""
    return {unit: max(1, round(size * larger)) for unit, size in buffer.items()}


def _stretch(flow: Flow, longer: float) -> Flow:
    """Returns a flow whose own delay, if it has one, is `longer` times as long."""
    own = flow["rtt_ns"]
    return flow if own is None else {**flow, "rtt_ns": round(own * longer)}


def _halton(number: int, base: int) -> float:
    """Returns a term of the Halton sequence, which spreads evenly from 0 to 1.

    It has the digits of `number` in `base`, mirrored at the point.
    """
    part, place = 0.0, 1 / base
    while number:
        number, digit = divmod(number, base)
        part += place * digit
        place /= base
    return part
