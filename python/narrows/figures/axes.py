"""The axes of a sweep for figures: written values as positions, with words."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from narrows.figures.model import Scale
from narrows.figures.names import quantity, title_of, unit_for, value_words

CROWDED = 0.08
"""Ticks closer than this part of the axis get no label."""
WIDE = 6.0
"""Positive values that differ by a larger factor get a logarithmic scale."""


@dataclass(frozen=True)
class ChartAxis:
    """The values of an axis: each written value's position, in order, and its short label."""

    place: str
    label: str
    positions: dict[object, float]
    words: dict[object, str]
    scale: Scale
    measured: bool = True
    """True if the values are quantities, with further values between them."""

    @property
    def label_of_scale(self) -> str:
        """The label, which says so if the scale is logarithmic."""
        return f"{self.label}, log scale" if self.scale == "log" else self.label

    @property
    def ticks(self) -> tuple[tuple[float, str], ...]:
        """The positions of the values with their labels; only some if they are crowded."""
        if not self.measured:
            return tuple((at, self.words[value]) for value, at in self.positions.items())
        log = self.scale == "log"
        places = {v: math.log(at) if log else at for v, at in self.positions.items()}
        reach = max(places.values()) - min(places.values())
        kept: list[object] = []
        for value in places:
            if not kept or places[value] - places[kept[-1]] >= CROWDED * reach:
                kept.append(value)
        return tuple((self.positions[value], self.words[value]) for value in kept)


def axis(place: str, values: Iterable[object], scaled: Scale | None = None) -> ChartAxis:
    """The axis of these values; values that aren't numbers keep the given order.

    Numbers above zero get the scale `scaled`, by default one that suits them.
    """
    known = list(dict.fromkeys(values))
    measured = [quantity(value) for value in known]
    kinds = {measure[1] for measure in measured if measure is not None}
    title = title_of(place)
    if any(measure is None for measure in measured) or len(kinds) > 1:
        return ChartAxis(
            place,
            title,
            {value: float(index) for index, value in enumerate(known)},
            {value: value_words(place, value) for value in known},
            "linear",
            measured=False,
        )
    numbers = {value: measure[0] for value, measure in zip(known, measured, strict=True) if measure}
    numbers = dict(sorted(numbers.items(), key=lambda item: item[1]))
    size, unit = unit_for(list(numbers.values()), next(iter(kinds)))
    numbers = {value: number / size for value, number in numbers.items()}
    least, most = min(numbers.values()), max(numbers.values())
    wide: Scale = "log" if least > 0 and most / least >= WIDE else "linear"
    scale = wide if scaled is None or least <= 0 else scaled
    words = {value: f"{number:g}" for value, number in numbers.items()}
    return ChartAxis(place, f"{title} ({unit})" if unit else title, numbers, words, scale)
