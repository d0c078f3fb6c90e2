"""Distributions of sizes and durations. Made by tools/generate_elements.py.

nw.workloads.Poisson(rate="5/s", size=nw.distributions.Exponential(mean="1mb"))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from narrows.api.element import Distribution
from narrows.api.writing import Values


@dataclass(kw_only=True, repr=False)
class Exponential(Distribution):
    """Exponential.

    The gaps of a Poisson process.

    Source: drawn from a table of its inverse.

    Attributes:
        mean: The mean. Takes a duration or a size, such as "2s" or "1mb".
    """

    kind: ClassVar[str] = "exponential"

    mean: Values[str]
    """The mean. Takes a duration or a size, such as "2s" or "1mb"."""


@dataclass(kw_only=True, repr=False)
class Uniform(Distribution):
    """Uniform.

    All values between two are equally likely.

    Source: drawn from a table of its inverse.

    Attributes:
        min: The minimum. Takes a duration or a size, such as "2s" or "1mb".
        max: The maximum. Takes a duration or a size, such as "2s" or "1mb".
    """

    kind: ClassVar[str] = "uniform"

    min: Values[str]
    """The minimum. Takes a duration or a size, such as "2s" or "1mb"."""
    max: Values[str]
    """The maximum. Takes a duration or a size, such as "2s" or "1mb"."""


@dataclass(kw_only=True, repr=False)
class Lognormal(Distribution):
    """Log-normal.

    The logarithm is normally distributed; it takes either the median or the mean.

    Source: drawn from a table of its inverse.

    Attributes:
        sigma: The standard deviation of the logarithm, above 0. Takes a number from 0.0 to
            10.0.
        median: The median. Takes a duration or a size, such as "2s" or "1mb".
        mean: The mean. Takes a duration or a size, such as "2s" or "1mb".
    """

    kind: ClassVar[str] = "lognormal"

    sigma: Values[float]
    """The standard deviation of the logarithm, above 0. Takes a number from 0.0 to 10.0."""
    median: Values[str] | None = None
    """The median. Takes a duration or a size, such as "2s" or "1mb"."""
    mean: Values[str] | None = None
    """The mean. Takes a duration or a size, such as "2s" or "1mb"."""


@dataclass(kw_only=True, repr=False)
class Pareto(Distribution):
    """Pareto.

    A heavy tail; with `max` the bounded distribution.

    Source: drawn from a table of its inverse.

    Attributes:
        min: The minimum. Takes a duration or a size, such as "2s" or "1mb".
        shape: The exponent of the tail, above 0.001. Takes a number from 0.001 to 100.0.
        max: The maximum. Takes a duration or a size, such as "2s" or "1mb".
    """

    kind: ClassVar[str] = "pareto"

    min: Values[str]
    """The minimum. Takes a duration or a size, such as "2s" or "1mb"."""
    shape: Values[float]
    """The exponent of the tail, above 0.001. Takes a number from 0.001 to 100.0."""
    max: Values[str] | None = None
    """The maximum. Takes a duration or a size, such as "2s" or "1mb"."""


@dataclass(kw_only=True, repr=False)
class Empirical(Distribution):
    """Empirical.

    Values with the shares that don't exceed them, linear in between; it takes either a file
    or the pairs themselves.

    Source: drawn from a table of its inverse.

    Attributes:
        file: A file with a value and its share on each line. Takes a file.
        points: The pairs: `[["1kb", 0.5], ["1mb", 1]]`. Takes pairs of a value and a share.
    """

    kind: ClassVar[str] = "empirical"

    file: Values[str] | None = None
    """A file with a value and its share on each line. Takes a file."""
    points: Sequence[tuple[str, float]] | None = None
    """The pairs: `[["1kb", 0.5], ["1mb", 1]]`. Takes pairs of a value and a share."""
