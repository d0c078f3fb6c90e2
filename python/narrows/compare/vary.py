"""What makes the trials of a scenario differ where chance has no part in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SPREAD = 0.03
"""The buffer varies by up to this part of its size."""
_RANDOM = ("bbr", "cdg")
"""Controls that draw random numbers begin with one of these."""


def has_chance(scenario: Mapping[str, Any]) -> bool:
    """Whether another seed can give another result.

    Without random loss, jitter or a control that draws random numbers (BBR
    begins its gain cycle at random) it can't: the scenario is a mechanism with
    one result, which may hang on where exactly the buffer ends.
    """
    drawing = any(flow["cca"].startswith(_RANDOM) for flow in scenario["flows"])
    return bool(drawing or scenario["path"]["loss"] or scenario["host"]["jitter_ns"])


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
