"""Ranges of values: `{from = "1mbit", to = "1gbit", count = 7, scale = "log"}`.

The ends are exact, and so is whatever `step` gives. What lies between the ends
of a `count` or is drawn at random is rounded to four significant digits, so
that values read well and don't depend on a platform's logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from narrows.errors import Problem, SpecError
from narrows.spec.fields import describe
from narrows.spec.suggest import one_of
from narrows.spec.units import (
    Size,
    UnitError,
    format_duration,
    format_rate,
    format_size,
    parse_duration,
    parse_rate,
    parse_size,
)

KEYS = ("from", "to", "step", "count", "scale")
SCALES = ("linear", "log")
MAX_VALUES = 100_000
_DIGITS = 4


@dataclass(frozen=True)
class Measure:
    """What a number stands for: its `kind`, how to write it, whether it must be whole."""

    kind: str
    spell: Callable[[Fraction], object]
    whole: bool


@dataclass(frozen=True)
class Range:
    """From `low` to `high` in steps, in `count` values, or (with neither) drawn from."""

    low: Fraction
    high: Fraction
    measure: Measure
    step: Fraction | None
    count: int | None
    log: bool

    def values(self) -> tuple[object, ...]:
        """The values as a specification writes them; empty if they are to be drawn."""
        if self.step is not None:
            steps = range(self.steps())
            exact = [self.low + index * self.step for index in steps]
        elif self.count is not None:
            exact = [self._between(Fraction(i, self.count - 1)) for i in range(self.count)]
        else:
            return ()
        return tuple(self.measure.spell(value) for value in dict.fromkeys(exact))

    def steps(self) -> int:
        """How many values the steps give."""
        return 0 if self.step is None else int((self.high - self.low) / self.step) + 1

    def at(self, part: float) -> object:
        """The value at `part` of the way, from 0 to 1."""
        return self.measure.spell(self._between(Fraction(part)))

    def _between(self, part: Fraction) -> Fraction:
        if part in (0, 1):
            return self.high if part else self.low
        if self.log:
            value = Fraction(float(self.low) * float(self.high / self.low) ** float(part))
        else:
            value = self.low + part * (self.high - self.low)
        return min(max(_rounded(value, self.measure.whole), self.low), self.high)


def _rounded(value: Fraction, whole: bool) -> Fraction:
    if value == 0:
        return value
    digits = _DIGITS - 1 - math.floor(math.log10(abs(value)))
    return Fraction(round(value, min(digits, 0) if whole else digits))


def is_range(value: object) -> bool:
    """Whether a value of a specification means a range."""
    return isinstance(value, Mapping) and "from" in value


def parse_range(table: Mapping[str, Any], place: str, file: str | None) -> Range:
    """Reads a range; raises SpecError with every problem found."""
    problems = list(_shape(table, place))
    if problems:
        raise _located(problems, file)
    ends = {}
    for name in ("from", "to", *(["step"] if "step" in table else [])):
        try:
            ends[name] = _quantity(table[name])
        except UnitError as error:
            problems.append(Problem(f"{place}.{name}", error.found, error.remedy))
    problems = problems or list(_relations(table, ends, place))
    if problems:
        raise _located(problems, file)
    low, high = ends["from"], ends["to"]
    measure = low[1] if low[1].whole <= high[1].whole else high[1]
    step = ends["step"][0] if "step" in ends else None
    log = table.get("scale") == "log"
    made = Range(low[0], high[0], measure, step, table.get("count"), log)
    if made.steps() > MAX_VALUES:
        found, remedy = f"{made.steps()} values", f"at most {MAX_VALUES}"
        raise SpecError.at(f"{place}.step", found, remedy, file)
    return made


def _located(problems: list[Problem], file: str | None) -> SpecError:
    return SpecError(Problem(p.place, p.found, p.remedy, file) for p in problems)


def _shape(table: Mapping[str, Any], place: str) -> Iterator[Problem]:
    """Problems with the keys and with what isn't a quantity."""
    for key in table:
        if key not in KEYS:
            yield Problem(f"{place}.{key}", "an unknown key", one_of(key, KEYS))
    if "to" not in table:
        yield Problem(f"{place}.to", "nothing", "the end of the range")
    if "step" in table and "count" in table:
        yield Problem(f"{place}.step", "both a step and a count", "one of the two")
    count = table.get("count", 2)
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= MAX_VALUES:
        remedy = f"a whole number from 2 to {MAX_VALUES}"
        yield Problem(f"{place}.count", describe(count), remedy)
    if table.get("scale", "linear") not in SCALES:
        yield Problem(f"{place}.scale", describe(table["scale"]), '"linear" or "log"')
    elif table.get("scale") == "log" and "step" in table:
        yield Problem(f"{place}.step", "a step on a logarithmic scale", "a count")


def _relations(
    table: Mapping[str, Any], ends: Mapping[str, tuple[Fraction, Measure]], place: str
) -> Iterator[Problem]:
    """Problems between the ends and the step."""
    (low, measure), (high, _) = ends["from"], ends["to"]
    for name, (_, other) in ends.items():
        if other.kind != measure.kind:
            found = f"{describe(table[name])}, {other.kind}"
            yield Problem(f"{place}.{name}", found, f"{measure.kind}, as `from`,")
    if high <= low:
        yield Problem(f"{place}.to", describe(table["to"]), "an end above the beginning")
    if table.get("scale") == "log" and low <= 0:
        yield Problem(f"{place}.from", describe(table["from"]), "a beginning above zero")
    if "step" in ends and ends["step"][0] <= 0:
        yield Problem(f"{place}.step", describe(table["step"]), "a step above zero")


def _quantity(value: object) -> tuple[Fraction, Measure]:
    """A number or a quantity with its unit; raises UnitError."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Fraction(value), Measure("a number", int, True)
    if isinstance(value, float) and math.isfinite(value):
        return Fraction(repr(value)), Measure("a number", float, False)
    if not isinstance(value, str):
        remedy = 'a number, or a quantity such as "10mbit" or "25ms",'
        raise UnitError(describe(value), remedy)
    return _with_unit(value)


def _with_unit(text: str) -> tuple[Fraction, Measure]:
    """A rate, a duration or a size: no unit belongs to two of them."""
    for parse, kind, spell in (
        (parse_rate, "a rate", format_rate),
        (parse_duration, "a duration", format_duration),
    ):
        try:
            return Fraction(parse(text)), _whole_measure(kind, spell)
        except UnitError:
            continue
    try:
        size = parse_size(text)
    except UnitError as error:
        remedy = error.remedy if error.remedy.startswith("a positive") else _EXAMPLES
        raise UnitError(error.found, remedy) from None
    kinds = {"b": "a size in bytes", "pkt": "a size in packets", "bdp": "a size in BDP"}
    unit = size.unit
    measure = Measure(kinds[unit], lambda value: format_size(Size(value, unit)), unit != "bdp")
    return size.amount, measure


_EXAMPLES = 'a quantity such as "10mbit", "25ms" or "1.75bdp"'


def _whole_measure(kind: str, spell: Callable[[int], str]) -> Measure:
    return Measure(kind, lambda value: spell(int(value)), True)
