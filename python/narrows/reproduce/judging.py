"""Numbers for verdicts: means over trials with their intervals, and checks in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

from narrows.metrics.intervals import half_width, mean
from narrows.report import Check
from narrows.reproduce.exhibit import Finding


def interval(values: Sequence[float], digits: int = 3, unit: str = "") -> str:
    """The mean and half of its 95 % interval, such as "10.3 ± 0.2 %"; of one value, itself."""
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return "nothing"
    middle = f"{mean(known):.{digits}g}"
    if len(known) < 2:
        return middle + unit
    return f"{middle} ± {half_width(known):.2g}{unit}"


def between(
    statement: str,
    rule: str,
    expected: str,
    values: Sequence[float],
    limits: tuple[float, float],
    unit: str = "",
) -> Check:
    """A check that the mean of a measurement over trials lies between two limits."""
    low, high = limits
    known = [v for v in values if math.isfinite(v)]
    passed = low <= mean(known) <= high if known else None
    bounds = _bounds(low, high, unit)
    return Check(statement, f"{rule} Passes {bounds}.", expected, interval(values, 3, unit), passed)


def _bounds(low: float, high: float, unit: str) -> str:
    if math.isinf(high):
        return f"from {low:g}{unit} on"
    if math.isinf(low):
        return f"up to {high:g}{unit}"
    return f"from {low:g} to {high:g}{unit}"


def version(finding: Finding, document: Finding, profile: str) -> Check:
    """Whether the kernel's version is why a claim fails, from what the document's kernel did.

    `document` is the finding of the same claim under `profile`, the document's kernel.
    """
    failed = {check.statement for check in finding.checks if check.passed is False}
    there = [check for check in document.checks if check.statement in failed]
    return Check(
        f"The kernel's version makes the difference: the document's is {profile}.",
        "The checks that fail here, of the same runs under the document's kernel. Passes if all "
        "of them are met there.",
        "; ".join(check.expected for check in there),
        "; ".join(check.measured for check in there) or "not checked there",
        len(there) == len(failed) and all(check.passed for check in there),
    )


def crossing(x: Sequence[float], first: Sequence[float], second: Sequence[float]) -> float | None:
    """The least x at which two lines through the points cross, after `first` was above `second`.

    Straight between the points. None if they don't.
    """
    above = [a - b for a, b in zip(first, second, strict=True)]
    for i in range(1, len(above)):
        if above[i - 1] > 0 >= above[i]:
            part = above[i - 1] / (above[i - 1] - above[i])
            return x[i - 1] + part * (x[i] - x[i - 1])
    return None
