"""Elements of a path by name: a kind, and the parameters that the registry lists for it.

A person writes `queue = "codel"` or `queue = { kind = "codel", target = "3ms" }`.
What isn't written has the registry's default, which the plan fills in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from narrows.spec.suggest import one_of
from narrows.spec.traces import read_trace
from narrows.spec.units import (
    Size,
    UnitError,
    format_duration,
    format_rate,
    format_size,
    parse_duration,
    parse_rate,
    parse_size,
    quote,
)

Entry = Mapping[str, Any]
"""What the registry says of an element or of a parameter."""
FULL_PACKET = 1500
"""IP bytes of a packet where packets and bytes must be exchanged."""


class ElementError(ValueError):
    """What is wrong inside an element: the key, what was found, what would be right."""

    def __init__(self, key: tuple[str, ...], found: str, remedy: str) -> None:
        self.key, self.found, self.remedy = key, found, remedy
        super().__init__(f"{'.'.join(key)}: found {found}; {remedy} would be right")


@dataclass(frozen=True)
class Element:
    """A kind of element, what was said of its parameters, and the room of a queue.

    `given` holds exact values by the keys of a scenario (`target_ns`).
    """

    kind: str
    given: Mapping[str, object] = field(default_factory=dict)
    limit: Size | None = None


@dataclass(frozen=True)
class Impairment:
    """An element that stands in a direction, before or behind its links."""

    direction: str
    at: str
    element: Element


DIRECTIONS = ("forward", "backward")
PLACES = ("behind", "before")


def read_impairment(value: object, known: Mapping[str, Entry]) -> Impairment:
    """An impairment from a TOML table; raises ElementError, and TypeError for no table."""
    if not isinstance(value, Mapping):
        raise TypeError
    chosen = []
    for key, words in (("direction", DIRECTIONS), ("at", PLACES)):
        word = value.get(key, words[0])
        if word not in words:
            raise ElementError((key,), _show(word), one_of(str(word), words))
        chosen.append(str(word))
    rest = {key: entry for key, entry in value.items() if key not in ("direction", "at")}
    return Impairment(chosen[0], chosen[1], read_element(rest, known, "impairment"))


def read_element(value: object, known: Mapping[str, Entry], what: str) -> Element:
    """An element from a TOML text or table; raises ElementError, and TypeError for neither."""
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, Mapping):
        raise TypeError
    kind = value.get("kind")
    if not isinstance(kind, str):
        raise ElementError(("kind",), _show(kind), one_of("", known))
    entry = known.get(kind)
    if entry is None:
        at = ("kind",) if len(value) > 1 else ()
        raise ElementError(at, f"{quote(kind)}, which is no {what}", one_of(kind, known))
    limit = _limit(value["limit"], entry) if "limit" in value and entry["room"][0] else None
    given = {}
    parameters = {parameter["name"]: parameter for parameter in entry["parameters"]}
    for name, raw in value.items():
        if name == "kind" or (name == "limit" and limit is not None):
            continue
        if name not in parameters:
            room = ["limit"] if entry["room"][0] else []
            raise ElementError((name,), "an unknown key", one_of(name, [*parameters, *room]))
        given[parameters[name]["key"]] = read_value(raw, parameters[name])
    for name, parameter in parameters.items():
        if parameter["required"] and parameter["key"] not in given:
            raise ElementError((name,), "nothing", expectation(parameter))
    return Element(kind, given, limit)


def resolved(element: Element, entry: Entry, rate_bps: int) -> dict[str, object]:
    """The element as a scenario holds it: every parameter, on a link of this rate."""
    values = {
        parameter["key"]: rate_bps if parameter["default"] == "rate" else parameter["default"]
        for parameter in entry["parameters"]
    }
    return {"kind": element.kind, **values, **element.given}


def room(size: Size | None, entry: Entry, bdp: Fraction) -> dict[str, int] | None:
    """The room of a queue as a scenario holds it; None if it must be given and isn't.

    A discipline that counts packets takes bytes as full ones, rounded up.
    """
    counted, default = entry["room"]
    if size is None:
        return None if default is None else {counted: default}
    if size.unit == "pkt":
        packets = int(size.amount)
        return {"bytes": packets * FULL_PACKET} if counted == "bytes" else {"packets": packets}
    amount = size.in_bytes(bdp)
    return {"packets": -(-amount // FULL_PACKET)} if counted == "packets" else {"bytes": amount}


def read_value(value: object, parameter: Entry) -> object:
    """The exact value of a parameter; raises ElementError."""
    key = (str(parameter["name"]),)
    try:
        exact = _READERS[parameter["unit"]](value, parameter)
    except UnitError as error:
        raise ElementError(key, error.found, error.remedy) from None
    except (TypeError, ValueError):
        raise ElementError(key, _show(value), expectation(parameter)) from None
    return exact


def expectation(parameter: Entry) -> str:
    """What a parameter should be, in words."""
    least, most = parameter["least"], parameter["most"]
    if parameter["unit"] == "whole":
        return f"a whole number from {least} to {most}"
    if parameter["unit"] in ("share", "number") and most < _MOST:
        return f"a number from {least:g} to {most:g}"
    if parameter["unit"] == "duration" and most < _MOST:
        steps = f' in steps of "{format_duration(step)}"' if (step := parameter["step"]) > 1 else ""
        return f'a duration from "{format_duration(least)}" to "{format_duration(most)}"{steps}'
    if parameter["unit"] == "duration" and least > 1:
        return f'a duration of at least "{format_duration(least)}"'
    if parameter["unit"] == "word":
        return "one of " + ", ".join(parameter["words"])
    return _WORDS[parameter["unit"]]


def show_default(parameter: Entry) -> str:
    """The default of a parameter as a person would write it."""
    value = parameter["default"]
    if parameter["required"]:
        return "required"
    if value is None:
        return "none"
    if value == "rate":
        return "the link's rate"
    if isinstance(value, bool):
        return str(value).lower()
    match parameter["unit"]:
        case "duration":
            return format_duration(value)
        case "rate":
            return format_rate(value)
        case "bytes":
            return format_size(Size(Fraction(value), "b"))
        case "share" | "number":
            return f"{value:g}"
    return f"{value}"


def show_values(parameter: Entry) -> str:
    """What the value of a parameter may be, as a person would write it."""
    least, most = parameter["least"], parameter["most"]
    match parameter["unit"]:
        case "flag":
            return "true or false"
        case "word":
            return ", ".join(parameter["words"])
        case "duration":
            return f"{format_duration(least)} to {format_duration(most)}"
        case "share" | "number":
            return f"{least:g} to {most:g}"
        case unit:
            return f"{unit}, {least} to {most}"


def show_room(entry: Entry) -> str:
    """How the room of a queue is counted, with its default."""
    counted, default = entry["room"]
    if counted == "either":
        return "bytes or packets"
    return counted if default is None else f"{counted}, default {default}"


def _limit(value: object, entry: Entry) -> Size:
    """A queue's room by `tc`'s name; a plain number is in the discipline's own unit."""
    counted = entry["room"][0]
    remedy = 'a size such as "250kb" or "100pkt"'
    if isinstance(value, int) and not isinstance(value, bool) and counted != "either":
        size = Size(Fraction(value), "pkt" if counted == "packets" else "b")
    else:
        try:
            size = parse_size(_text(value))
        except UnitError as error:
            raise ElementError(("limit",), error.found, error.remedy) from None
        except TypeError:
            raise ElementError(("limit",), _show(value), remedy) from None
    if size.amount <= 0:
        raise ElementError(("limit",), _show(value), "a limit above zero")
    return size


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError
    return value


def _within(number: int, parameter: Entry) -> int:
    if not parameter["least"] <= number <= min(parameter["most"], _MOST):
        raise ValueError
    if number % parameter["step"]:
        raise ValueError
    return number


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    number = float(value)
    if not 0 <= number <= _MOST:
        raise ValueError
    return number + 0.0


def _real(value: object, parameter: Entry) -> float:
    number = _number(value)
    if not parameter["least"] <= number <= parameter["most"]:
        raise ValueError
    return number


def _flag(value: object, _: Entry) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _word(value: object, parameter: Entry) -> str:
    word = _text(value)
    if word not in parameter["words"]:
        raise ValueError
    return word


def _amount(unit: str) -> Callable[[object, Entry], int]:
    """Packets or bytes: a plain number, or a text with the unit."""

    def read(value: object, parameter: Entry) -> int:
        if isinstance(value, str):
            size = parse_size(value)
            if size.unit != unit:
                raise ValueError
            return _within(int(size.amount), parameter)
        return _within(_whole(value), parameter)

    return read


def _quantity(parse: Callable[[str], int]) -> Callable[[object, Entry], int]:
    def read(value: object, parameter: Entry) -> int:
        return _within(parse(_text(value)), parameter)

    return read


def _timed(parse: Callable[[str], int]) -> Callable[[object, Entry], list[list[int]]]:
    """A table of times, each with what belongs to it: ns and the value, ascending."""

    def read(value: object, parameter: Entry) -> list[list[int]]:
        if not isinstance(value, Mapping):
            raise TypeError
        pairs = [
            [parse_duration(at), _within(parse(_text(what)), parameter)]
            for at, what in value.items()
        ]
        if len({at for at, _ in pairs}) != len(pairs):
            raise ValueError
        return sorted(pairs)

    return read


_MOST = 10**15
"""Larger numbers than this are slips; sums of them still fit 64 bits."""
_READERS: Mapping[str, Callable[[object, Entry], object]] = {
    "packets": _amount("pkt"),
    "bytes": _amount("b"),
    "duration": _quantity(parse_duration),
    "rate": _quantity(parse_rate),
    "share": _real,
    "whole": lambda value, parameter: _within(_whole(value), parameter),
    "number": _real,
    "flag": _flag,
    "word": _word,
    "rates": _timed(parse_rate),
    "delays": _timed(parse_duration),
    "spans": _timed(parse_duration),
    "opportunities": lambda value, _: read_trace(_text(value)),
}
_WORDS = {
    "packets": 'a number of packets, such as 100 or "100pkt",',
    "bytes": 'a number of bytes, such as "30kb",',
    "duration": 'a duration with its unit, such as "5ms",',
    "rate": 'a rate above zero with its unit, such as "80mbit",',
    "share": "a number from 0 to 1",
    "number": "a number that isn't negative",
    "flag": "true or false",
    "opportunities": "the path of a trace in mahimahi's format",
    "rates": 'a table of times and rates, such as { "10s" = "40mbit" },',
    "delays": 'a table of times and delays, such as { "10s" = "40ms" },',
    "spans": 'a table of times and durations, such as { "10s" = "500ms" },',
}


def _show(value: object) -> str:
    from narrows.spec.fields import describe

    return "nothing" if value is None else describe(value)
