"""The kinds of value that a specification holds: how each is read, and what it should be.

A kind turns a TOML value into its exact form or raises a validation error that
carries what was found and what would be right; `reading` adds the place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, core_schema

from narrows.spec import python_control, registry, workloads
from narrows.spec.elements import (
    Element,
    ElementError,
    Impairment,
    read_element,
    read_impairment,
)
from narrows.spec.suggest import one_of
from narrows.spec.units import (
    Size,
    UnitError,
    format_duration,
    format_rate,
    parse_duration,
    parse_rate,
    parse_size,
    quote,
)

MAX_RATE_BPS = 10**12
MAX_DURATION_NS = 10**6 * 10**9
MAX_BYTES = 10**12
MAX_PACKETS = 10**9
MAX_SEED = 2**64 - 1
MAX_FLOWS = 10_000
MAX_TRIALS = 10_000
MAX_NAME = 80

_SWEEP = "which makes a sweep (`narrows sweep` runs it; here one value counts)"


def wrong(found: str, remedy: str, key: tuple[str, ...] = ()) -> PydanticCustomError:
    """The validation error of a value, or of what stands at `key` in it; both texts are shown."""
    context = {"found": found, "remedy": remedy, "key": key}
    return PydanticCustomError("narrows", "found {found}", context)


def describe(value: object) -> str:
    """A TOML value in the words of an error message."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value) if abs(value) < 10**24 else "a huge number"
        case float():
            return str(value)
        case str():
            return quote(value)
        case list():
            return "a list"
        case Mapping():
            return "a table"
        case _:
            return f"a {type(value).__name__}"


@dataclass(frozen=True)
class Kind:
    """A kind of value: how to read it, and in words what it should be."""

    read: Callable[[Any], Any]
    expects: str

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Reads the raw value itself: pydantic's own coercions are too kind."""
        return core_schema.no_info_plain_validator_function(self.check)

    def check(self, value: object) -> object:
        """The exact form of `value`; raises a validation error with the remedy."""
        if isinstance(value, list):
            raise wrong(f"a list, {_SWEEP}", self.expects)
        if isinstance(value, dict) and "from" in value:
            raise wrong(f"a range, {_SWEEP}", self.expects)
        try:
            return self.read(value)
        except UnitError as error:
            raise wrong(error.found, error.remedy) from None
        except ElementError as error:
            raise wrong(error.found, error.remedy, error.key) from None
        except TypeError:
            raise wrong(describe(value), self.expects) from None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _rate(value: object) -> int:
    rate = parse_rate(_text(value))
    if rate == 0:
        raise UnitError(describe(value), "a rate above zero")
    if rate > MAX_RATE_BPS:
        raise UnitError(describe(value), f"a rate of at most {format_rate(MAX_RATE_BPS)}")
    return rate


def _duration(value: object) -> int:
    duration = parse_duration(_text(value))
    if duration > MAX_DURATION_NS:
        limit = format_duration(MAX_DURATION_NS)
        raise UnitError(describe(value), f"a duration of at most {limit}")
    return duration


def _span(value: object) -> int:
    span = _duration(value)
    if span == 0:
        raise UnitError(describe(value), "a duration above zero")
    return span


def _buffer(value: object) -> Size:
    size = parse_size(_text(value))
    if size.amount == 0:
        raise UnitError(describe(value), 'a buffer above zero, such as "1bdp" or "100pkt",')
    limit = MAX_PACKETS if size.unit == "pkt" else MAX_BYTES
    if size.amount > limit:
        raise UnitError(describe(value), f"at most {limit} {size.unit}")
    return size


def _volume(value: object) -> int:
    size = parse_size(_text(value))
    if size.unit != "b":
        raise UnitError(describe(value), 'a size in bytes, such as "1mb",')
    if not 0 < size.amount <= MAX_BYTES:
        raise UnitError(describe(value), "a size above zero and of at most 1000gb")
    return int(size.amount)


def _number(value: object) -> float:
    """A finite number; TOML also has inf and nan."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    try:
        number = float(value)
    except OverflowError:
        raise TypeError from None
    if not math.isfinite(number):
        raise TypeError
    return number


def _option(value: object) -> float | str | bool:
    """What an option can be; what it should be is known with its control."""
    return value if isinstance(value, bool | str | int) else _number(value)


def _probability(value: object) -> float:
    number = _number(value)
    if not 0 <= number < 1:
        raise TypeError
    return number + 0.0  # a negative zero has another spelling, hence another hash


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _name(value: object) -> str:
    name = _text(value)
    if not name.strip() or len(name) > MAX_NAME or not name.isprintable():
        raise TypeError
    return name


def _whole(low: int, high: int) -> Kind:
    def read(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise TypeError
        return value

    return Kind(read, f"a whole number from {low} to {high}")


def _word(known: Callable[[], Any], what: str, example: str) -> Kind:
    """One word of a list that may only be known once the native module is loaded."""

    def read(value: object) -> str:
        word = _text(value)
        words = tuple(known())
        if word not in words:
            raise UnitError(f"{quote(word)}, which is no {what}", one_of(word, words))
        return word

    return Kind(read, f'a {what}, such as "{example}",')


def _element(known: Callable[[], Mapping[str, Any]], what: str, example: str) -> Kind:
    """A name, or a table with a `kind`, of something in a registry."""
    expects = f'a {what}, such as "{example}" or {{ kind = "{example}" }},'
    return Kind(lambda value: read_element(value, known(), what), expects)


_known_cca = _word(registry.ccas, "congestion control", "cubic")


def _cca(value: object) -> str:
    name = _text(value)
    if not python_control.is_own(name):
        return str(_known_cca.read(value))
    if not python_control.well_formed(name):
        raise UnitError(quote(name), python_control.EXAMPLE)
    return name


Rate = Annotated[int, Kind(_rate, 'a rate with its unit, such as "80mbit",')]
"""Bits per second."""
Duration = Annotated[int, Kind(_duration, 'a duration with its unit, such as "10s",')]
"""Nanoseconds; zero is allowed."""
Span = Annotated[int, Kind(_span, 'a duration with its unit, such as "25ms",')]
"""Nanoseconds; above zero."""
Buffer = Annotated[Size, Kind(_buffer, 'a size such as "1.75bdp", "250kb" or "100pkt"')]
"""Room for waiting packets."""
Volume = Annotated[int, Kind(_volume, 'a size in bytes, such as "30mb",')]
"""Payload bytes."""
Probability = Annotated[float, Kind(_probability, "a probability, a number from 0 to below 1,")]
"""A plain number."""
Number = Annotated[float, Kind(_number, "a finite number")]
"""Any finite number."""
Option = Annotated[
    float | str | bool,
    Kind(_option, 'a number, true, false or a text such as "200ms"'),
]
"""The value of an option of a control."""
Boolean = Annotated[bool, Kind(_boolean, "true or false")]
"""TOML's own."""
Name = Annotated[str, Kind(_name, f"a text of 1 to {MAX_NAME} printable characters")]
"""What a person calls something."""
Count = Annotated[int, _whole(1, MAX_FLOWS)]
"""How many flows."""
Trials = Annotated[int, _whole(1, MAX_TRIALS)]
"""How many runs, with seeds that follow one another."""
Seed = Annotated[int, _whole(0, MAX_SEED)]
"""The seed of the first trial."""
Cca = Annotated[str, Kind(_cca, 'a congestion control, such as "cubic",')]
"""A control of the simulator, or a module and a class in it."""
Queue = Annotated[Element, _element(registry.queues, "queue discipline", "codel")]
"""A queue discipline of the simulator."""
Service = Annotated[Element, _element(registry.services, "service", "wifi")]
"""How a link serves its queue."""
Obstacle = Annotated[
    Impairment,
    Kind(
        lambda value: read_impairment(value, registry.impairments()),
        'a table, such as { kind = "loss", probability = 0.01 },',
    ),
]
"""What else happens to the packets of a direction."""
Profile = Annotated[str, _word(registry.profiles, "profile", "linux-6.12")]
"""Which kernel's TCP the hosts have."""
Buffers = Annotated[
    str, _word(lambda: ("raised", "stock", "unlimited"), "setting of socket buffers", "raised")
]
"""Limits of the send buffer and the receive window."""
Workload = Annotated[
    workloads.Workload,
    Kind(
        workloads.read_workload,
        'a table with a kind, such as { kind = "poisson", rate = "5/s", size = "1mb" },',
    ),
]
"""What the application of a flow does."""
ECN_MODES = ("off", "classic", "dctcp", "l4s")
"""How a flow can use explicit congestion notification."""
Ecn = Annotated[str, _word(lambda: ECN_MODES, "use of ECN", "classic")]
"""Explicit congestion notification of a flow."""
Level = Annotated[
    str, _word(lambda: ("summary", "samples", "packets"), "level of recording", "samples")
]
"""How much is kept."""
