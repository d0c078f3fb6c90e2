"""Reads the question of `narrows search --for`, which has one of four forms.

smallest PLACE with METRIC OP NUMBER [and ...]     (or largest)
PLACE from which METRIC OP NUMBER [and ...]        (or up to which)
PLACE at which METRIC = METRIC                     (where two are equal)
PLACE with the highest METRIC                      (or lowest)

Another metric may stand in place of a number, and a number in place of the second metric. Beside a
heading in per cent, such as "Utilization (%)", a number is in per cent.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from narrows.errors import InputError
from narrows.metrics.catalogue import scale_of
from narrows.metrics.headings import bound_in_unit, heading_in_percent
from narrows.spec.suggest import quote
from narrows.spec.values import measure, spell

Op: TypeAlias = Literal["<", "<=", ">", ">="]
Side: TypeAlias = Literal["smallest", "largest", "from", "up to"]

OPTION = "--for"
EXAMPLE = (
    '"smallest path.buffer with utilization >= 0.99 and queue_p95_ms < 20", '
    '"path.rtt from which bbr.share < 0.25", "path.buffer at which bbr.share = cubic.share" or '
    '"path.queue with the highest jain"'
)
HOLDS: Mapping[Op, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_UNITS = {"ms": ("duration", 1e6), "s": ("duration", 1e9), "mbps": ("rate", 1e6), "bdp": ("bdp", 1)}
"""For the end of a metric's name, the kind of quantity and the size of its unit."""

Naming: TypeAlias = Callable[[str], str]
"""Returns the column with a name or heading; raises InputError if there is none."""

_SIDED = re.compile(
    r"(?:[Tt]he )?(?P<side>smallest|largest) (?P<place>\S+) with (?P<conditions>.+)"
)
_BESIDE = re.compile(r"(?:[Tt]he )?(?P<place>\S+) (?P<side>from|up to) which (?P<conditions>.+)")
_EQUAL = re.compile(
    r"(?:[Tt]he )?(?P<place>\S+) at which (?P<metric>[^<>=]+?)\s*=\s*(?P<other>[^<>=]+)"
)
_BEST = re.compile(
    r"(?:[Tt]he )?(?P<place>\S+) with (?:the )?(?P<order>highest|lowest) (?P<metric>.+)"
)
MINUS = " - "
"""Stands between the two metrics of a difference."""
_CONDITION = re.compile(r"([^<>=]+?)\s*(<=|>=|<|>)\s*([^<>=]+)")
_NUMBER = re.compile(r"[-+.\d].*|nan|inf(inity)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AskedCondition:
    """A bound on the mean of a metric, or of its difference from another one of the same runs.

    `heading` and `other_heading` are the headings in per cent that name the metrics; empty
    otherwise. The bound is a fraction all the same.
    """

    metric: str
    op: Op
    bound: float
    other: str = ""
    heading: str = ""
    other_heading: str = ""

    @property
    def quantity(self) -> str:
        """The metric, or the difference, that the bound is on."""
        return f"{self.metric}{MINUS}{self.other}" if self.other else self.metric

    def holds(self, value: float) -> bool:
        """Returns True if a value is on the right side of the bound."""
        return HOLDS[self.op](value, self.bound)

    def __str__(self) -> str:
        return f"{self.heading or self.metric} {self.op} {_right_words(self)}"

    @property
    def headings(self) -> dict[str, str]:
        """The headings in per cent by metric."""
        return _headings_of((self.metric, self.heading), (self.other, self.other_heading))


def metrics_in(quantity: str) -> tuple[str, ...]:
    """The two metrics of a difference, or the one metric."""
    return tuple(quantity.split(MINUS))


@dataclass(frozen=True, slots=True)
class BoundQuestion:
    """Asks for the end of the values of a place at which all conditions hold.

    "smallest" and "largest" ask for the first and the last such value, "from" for the value from
    which on they hold up to the end of the range, "up to" for the opposite.
    """

    place: str
    side: Side
    conditions: tuple[AskedCondition, ...]

    @property
    def quantities(self) -> tuple[str, ...]:
        """The metrics and differences that have bounds, each once."""
        return tuple(dict.fromkeys(one.quantity for one in self.conditions))

    @property
    def headings(self) -> dict[str, str]:
        """The headings in per cent by metric."""
        return _headings_of(*(pair for one in self.conditions for pair in one.headings.items()))

    @property
    def conditions_text(self) -> str:
        """The conditions in words."""
        return " and ".join(map(str, self.conditions))

    def __str__(self) -> str:
        if self.side in ("smallest", "largest"):
            return f"{self.side} {self.place} with {self.conditions_text}"
        return f"{self.place} {self.side} which {self.conditions_text}"


@dataclass(frozen=True, slots=True)
class EqualQuestion:
    """Asks for the value of a place at which two metrics are equal, or one equals a number."""

    place: str
    metric: str
    bound: float
    other: str = ""
    heading: str = ""
    other_heading: str = ""

    @property
    def quantities(self) -> tuple[str, ...]:
        """The difference, or the one metric."""
        return (self.condition("<").quantity,)

    @property
    def headings(self) -> dict[str, str]:
        """The headings in per cent by metric."""
        return self.condition("<").headings

    def condition(self, op: Op) -> AskedCondition:
        """The condition that holds on one side of the value."""
        return AskedCondition(
            self.metric, op, self.bound, self.other, self.heading, self.other_heading
        )

    def __str__(self) -> str:
        return f"{self.place} at which {self.heading or self.metric} = {_right_words(self)}"


@dataclass(frozen=True, slots=True)
class BestQuestion:
    """Asks for the value of a place with the highest or the lowest mean of a metric."""

    place: str
    metric: str
    highest: bool
    heading: str = ""

    @property
    def quantities(self) -> tuple[str, ...]:
        """The one metric."""
        return (self.metric,)

    @property
    def headings(self) -> dict[str, str]:
        """The heading in per cent by metric."""
        return _headings_of((self.metric, self.heading))

    def __str__(self) -> str:
        order = "highest" if self.highest else "lowest"
        return f"{self.place} with the {order} {self.heading or self.metric}"


Question: TypeAlias = BoundQuestion | EqualQuestion | BestQuestion


def _headings_of(*pairs: tuple[str, str]) -> dict[str, str]:
    """Returns the headings by metric, without metrics that are named by their columns."""
    return {metric: heading for metric, heading in pairs if heading}


def _right_words(asked: AskedCondition | EqualQuestion) -> str:
    """Returns the other metric, or the bound in the unit of the heading that names the metric."""
    if asked.other:
        return asked.other_heading or asked.other
    return f"{(scale_of(asked.metric) if asked.heading else 1) * asked.bound:g}"


def place_in(text: str) -> str:
    """The place that a question is about; raises InputError if it has none of the forms."""
    return _place(_form(text)["place"])


def parse(text: str, named: Naming) -> Question:
    """The question in a sentence; raises InputError if it has none of the forms.

    `named` gives the columns of its metrics.
    """
    found, place = _form(text), place_in(text)
    if found.re is _SIDED:
        side: Side = "smallest" if found["side"] == "smallest" else "largest"
        return BoundQuestion(place, side, _conditions(found["conditions"], named))
    if found.re is _BESIDE:
        side = "from" if found["side"] == "from" else "up to"
        return BoundQuestion(place, side, _conditions(found["conditions"], named))
    metric, heading = _column_and_heading(found["metric"], named)
    if found.re is _EQUAL:
        bound, other, other_heading = _right_side(found["other"], found["metric"], metric, named)
        return EqualQuestion(place, metric, bound, other, heading, other_heading)
    return BestQuestion(place, metric, found["order"] == "highest", heading)


def _column_and_heading(written: str, named: Naming) -> tuple[str, str]:
    """Returns a metric's column, and its heading if that is in per cent."""
    column = named(written)
    return column, written if heading_in_percent(written, column) else ""


def _form(text: str) -> re.Match[str]:
    words = " ".join(text.split()).rstrip("?.")
    for form in (_SIDED, _BESIDE, _EQUAL, _BEST):
        if found := form.fullmatch(words):
            return found
    raise InputError.at(OPTION, quote(text), EXAMPLE)


def _place(written: str) -> str:
    place = spell(written)
    if place is None:
        found = f"{quote(written)}, which is not a place"
        raise InputError.at(OPTION, found, "a place such as path.buffer")
    return place


def _conditions(text: str, named: Naming) -> tuple[AskedCondition, ...]:
    return tuple(_condition(part.strip(), named) for part in re.split(r" and ", text))


def _condition(text: str, named: Naming) -> AskedCondition:
    found = _CONDITION.fullmatch(text)
    if found is None:
        remedy = "METRIC, one of < <= > >=, and a number or metric, such as utilization >= 0.99,"
        raise InputError.at(OPTION, quote(text), remedy)
    op: Op = found[2]  # type: ignore[assignment]
    metric, heading = _column_and_heading(found[1], named)
    bound, other, other_heading = _right_side(found[3], found[1], metric, named)
    return AskedCondition(metric, op, bound, other, heading, other_heading)


def _right_side(text: str, written: str, metric: str, named: Naming) -> tuple[float, str, str]:
    """The bound of a metric: a number, or zero for its difference from another metric.

    The other metric and its heading in per cent follow.
    """
    if not _NUMBER.fullmatch(text):
        return (0.0, *_column_and_heading(text, named))
    number = _number(text, metric)
    if not text.endswith("%"):
        number = bound_in_unit(number, written, metric, OPTION)
    return number, "", ""


def _number(text: str, metric: str) -> float:
    """The number of a bound; a unit must be of the metric's kind."""
    per_cent = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = _quantity(text, metric)
    if not math.isfinite(number):
        raise InputError.at(OPTION, quote(text), "a number, such as 0.99,")
    return number / 100 if per_cent else number


def _quantity(text: str, metric: str) -> float:
    """A bound with a unit, in the unit of the metric."""
    kind, size = _UNITS.get(metric.rpartition("_")[2], ("", 1.0))
    found = measure(text)
    if found is None or found[0] != kind:
        remedy = f"a number in the unit of {metric}, such as 20, or another metric"
        raise InputError.at(OPTION, quote(text), remedy)
    return found[1] / size
