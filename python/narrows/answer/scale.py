"""The place that a question asks about: its values as numbers and as written."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from narrows.answer.question import OPTION
from narrows.errors import InputError
from narrows.spec.values import measure

FEWEST = 5
"""Fewer values of the study are completed to this many, so that several ranges are noticed."""
_DIGITS = 3
"""Significant digits of values between those of the study."""
_WRITTEN = re.compile(r"\s*([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z/]+)\s*")


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers in a unit, such as "bdp"; without a unit plain ones, and perhaps `whole`."""

    unit: str
    whole: bool
    given: tuple[float, ...]
    """The values of the study, ascending."""
    numbers: tuple[float, ...]
    """The values, completed to a grid."""

    def spelling(self, number: float) -> object:
        """A number as a specification writes it."""
        if self.unit:
            return f"{number:.12g}{self.unit}"
        return int(number) if self.whole else number

    def between(self, low: float, high: float) -> float | None:
        """A number in the middle, in ratio if both are positive; None if none is left.

        It has three significant digits, or more if the two differ by less.
        """
        middle = math.sqrt(low * high) if low > 0 else (low + high) / 2
        if self.whole:
            middle = (low + high) // 2
            return middle if low < middle < high else None
        for digits in (_DIGITS, _DIGITS + 1, _DIGITS + 2):
            rounded = float(f"{middle:.{digits}g}")
            if low < rounded < high:
                return rounded
        return None


def scale_of(place: str, values: Sequence[object]) -> Scale | None:
    """The scale of an axis; None if its values are words, or of several kinds."""
    if any(isinstance(value, bool) for value in values):
        return None
    if all(isinstance(value, int | float) for value in values):
        numbers = [float(str(value)) for value in values]
        return _scale(place, "", all(isinstance(value, int) for value in values), numbers)
    first = _WRITTEN.fullmatch(str(values[0]))
    unit = measure(f"1{first[2]}") if first else None
    known = [measure(str(value)) for value in values]
    if first is None or unit is None or any(one is None or one[0] != unit[0] for one in known):
        return None
    numbers = [one[1] / unit[1] for one in known if one is not None]
    return _scale(place, first[2], unit[0] in ("b", "pkt"), numbers)


def _scale(place: str, unit: str, whole: bool, numbers: Sequence[float]) -> Scale:
    """Completes the values to a grid."""
    ascending = sorted(set(numbers))
    if len(ascending) < 2:
        found = f"{json.dumps(ascending)} at {place}"
        raise InputError.at(OPTION, found, "two values or more, the ends of a range,")
    given = tuple(ascending)
    scale = Scale(unit, whole and all(n == int(n) for n in given), given, given)
    while len(ascending) < FEWEST:
        gaps = list(pairwise(ascending))
        low, high = max(gaps, key=lambda gap: _width(*gap))
        middle = scale.between(low, high)
        if middle is None:
            break
        ascending = sorted([*ascending, middle])
    return replace(scale, numbers=tuple(ascending))


def _width(low: float, high: float) -> float:
    return math.log(high / low) if low > 0 else math.inf
