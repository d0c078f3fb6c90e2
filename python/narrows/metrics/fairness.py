"""Measures of fairness between flows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from narrows import _native


def shares(amounts: Iterable[float | None]) -> list[float | None]:
    """Returns each amount as a share of their sum; None where it is unknown or all are zero."""
    return _native.shares(list(amounts))


def jain(values: Sequence[float]) -> float | None:
    """Jain's index: (sum x)^2 / (n sum x^2), from 1/n to 1; None if nothing was shared.

    R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness, DEC-TR-301, 1984.
    """
    return _native.jain(list(values))


def rtt_bias(rtts: Sequence[float], goodputs: Sequence[float]) -> float | None:
    """How strongly flows with a longer RTT get less: b in goodput ~ RTT^-b.

    0 if the RTT makes no difference, 1 if goodput is inversely proportional to
    it. `rtts` are the flows' two-way delays without queueing. The exponent is
    that of least squares on logarithms; None unless two flows with different
    RTTs got something.
    """
    points = [
        (math.log(rtt), math.log(goodput))
        for rtt, goodput in zip(rtts, goodputs, strict=True)
        if rtt > 0 and goodput > 0
    ]
    if len({x for x, _ in points}) < 2:
        return None
    middle = math.fsum(x for x, _ in points) / len(points)
    height = math.fsum(y for _, y in points) / len(points)
    spread = math.fsum((x - middle) ** 2 for x, _ in points)
    return -math.fsum((x - middle) * (y - height) for x, y in points) / spread
