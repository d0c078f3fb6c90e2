"""Means and shares of few trials and their intervals: Student, Welch, Clopper and Pearson."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

import numpy as np

from narrows.words import round_number

LEVEL = 0.95
_STEPS = 20_001
_ROUNDING = 1e-9
"""Smaller half-widths, relative to the mean, are due to rounding."""
_SHOWN = 2
"""The significant digits of half of an interval."""
_SMALL = 1e-3
"""Smaller numbers are written with an exponent."""
_NO_WIDTH = re.compile(r"± 0(?![.\d])")


@cache
def student(freedom: float, level: float = LEVEL) -> float:
    """How many standard errors on either side hold `level` of Student's t distribution.

    `freedom` is the degrees of freedom, 1 or more, whole or not. With t = sqrt(freedom) / tan(a)
    the density of the angle is sin(a)^(freedom - 1), which is integrated numerically; five digits
    are correct. The steps are even in the root of the angle, since the density is steep near 0 if
    `freedom` is below 2.
    """
    roots = np.linspace(0.0, math.sqrt(math.pi / 2), _STEPS)
    heights = roots * np.sin(roots**2) ** (freedom - 1.0)
    area = np.concatenate([[0.0], np.cumsum((heights[1:] + heights[:-1]) / 2)])
    root = float(np.interp(1 - level, area / area[-1], roots))
    return math.sqrt(freedom) / math.tan(root**2)


def mean(values: Sequence[float]) -> float:
    """Returns the arithmetic mean of at least one value."""
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """Returns the sample standard deviation; zero for a single value."""
    if len(values) < 2:
        return 0.0
    middle = mean(values)
    return math.sqrt(math.fsum((v - middle) ** 2 for v in values) / (len(values) - 1))


def half_width(values: Sequence[float], level: float = LEVEL) -> float:
    """Half of the interval of the mean, by default of 95 %; infinite for a single value."""
    if len(values) < 2:
        return math.inf
    return student(len(values) - 1.0, level) * deviation(values) / math.sqrt(len(values))


def reach(values: Iterable[float | None]) -> float | None:
    """Half of the 95 % interval of the known values' mean; None if they don't vary."""
    known = [value for value in values if value is not None]
    return half_width(known) if len(set(known)) > 1 else None


def interval(values: Sequence[float], digits: int = 3, unit: str = "", level: float = LEVEL) -> str:
    """The mean and half of its interval, such as "10.31 ± 0.20 %"; of one value, itself.

    The half has two significant digits, and the mean ends at the same place. A mean without an
    interval has `digits` significant digits, and all digits before the point.
    """
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return "nothing"
    middle = mean(known)
    reach = half_width(known, level) if len(known) > 1 else 0.0
    if reach <= _ROUNDING * abs(middle):
        return f"{round_number(middle, digits)}{' ± 0' if len(known) > 1 else ''}{unit}"
    return f"{_with_half(middle, reach)}{unit}"


def _with_half(middle: float, half: float) -> str:
    """Returns a mean and half of its interval to the same place: "24,712 ± 38", "840 ± 220"."""
    decimals = _SHOWN - 1 - math.floor(math.log10(float(f"{half:.{_SHOWN - 1}e}")))
    known = round(middle, decimals) + 0.0  # without a negative zero
    if half >= _SMALL:
        shown = max(decimals, 0)
        return f"{known:,.{shown}f} ± {round(half, decimals):,.{shown}f}"
    told = f"{known:.{decimals}f}" if abs(known) >= _SMALL else f"{known:.3g}"
    return f"{told} ± {half:.{_SHOWN}g}"


def share_interval(successes: int, trials: int, level: float = LEVEL) -> tuple[float, float]:
    """The interval of a probability from independent trials, after Clopper and Pearson.

    It is exact: a share of 0 or 1 has a width, too. `trials` is 1 or more.
    """
    tail = (1 - level) / 2
    low = _probability(lambda p: 1 - _at_most(successes - 1, trials, p) < tail)
    high = _probability(lambda p: _at_most(successes, trials, p) > tail)
    return (low if successes else 0.0, high if successes < trials else 1.0)


def _probability(is_below: Callable[[float], bool]) -> float:
    """The probability below which `is_below` is true, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


def _at_most(successes: int, trials: int, p: float) -> float:
    """The probability of no more `successes`, each of probability `p` between 0 and 1."""
    ways = math.lgamma(trials + 1)
    return math.fsum(
        math.exp(
            ways
            - math.lgamma(k + 1)
            - math.lgamma(trials - k + 1)
            + k * math.log(p)
            + (trials - k) * math.log1p(-p)
        )
        for k in range(successes + 1)
    )


def explain_zero(lines: Iterable[str]) -> Iterator[str]:
    """Yields the lines, and one more that explains "± 0" if it occurs in them."""
    found = False
    for line in lines:
        found = found or _NO_WIDTH.search(line) is not None
        yield line
    if found:
        yield "(± 0: every trial gave the same value.)"


def difference_half_width(
    first: Sequence[float], second: Sequence[float], level: float = LEVEL
) -> float:
    """Returns half of the interval of the difference of two means, by default 95 %, after Welch.

    Their variances may differ. Infinite if either side is a single value.
    """
    if len(first) < 2 or len(second) < 2:
        return math.inf
    parts = [(deviation(v) ** 2 / len(v), len(v) - 1) for v in (first, second)]
    variance = sum(part for part, _ in parts)
    weight = sum(part**2 / freedom for part, freedom in parts)
    if not weight:
        return 0.0
    # Rounded off noise, so that equal sizes share one integral.
    return student(round(max(variance**2 / weight, 1.0), 6), level) * math.sqrt(variance)
