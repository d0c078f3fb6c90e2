"""Rates, durations and sizes as people write them, in exact arithmetic.

Rates use tc's decimal units (`80mbit`), durations `25ms`, sizes decimal bytes
(`250kb` = 250 000 bytes), binary ones (`64kib`), packets (`100pkt`) or
bandwidth-delay products (`1.75bdp`). Nothing passes through a float, so
`0.1gbit` is 100 000 000 bit/s and never one less.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from narrows.spec.suggest import nearest

RATE_UNITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
"""Bits per second."""

DURATION_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9}
"""Nanoseconds."""

BYTE_UNITS = {
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
}
"""Bytes."""

RELATIVE_UNITS = ("pkt", "bdp")
"""Sizes that only mean something on a path."""

_QUANTITY = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+) ?([^\W\d_]+(?:/s)?)")
_MAX_TEXT = 64


class UnitError(ValueError):
    """A text that isn't a quantity: what was `found`, and the `remedy`."""

    def __init__(self, found: str, remedy: str) -> None:
        self.found = found
        self.remedy = remedy
        super().__init__(f"found {found}; {remedy} would be right")


@dataclass(frozen=True)
class Size:
    """An amount of data: `amount` times `unit`, which is "b" (bytes), "pkt" or "bdp"."""

    amount: Fraction
    unit: str

    def __str__(self) -> str:
        return format_size(self)

    def in_bytes(self, bdp: Fraction) -> int:
        """Whole bytes, halves rounded up; `bdp` is the path's product in bytes.

        Raises ValueError for packets, whose size a path doesn't know.
        """
        if self.unit == "pkt":
            raise ValueError("packets have no fixed number of bytes")
        exact = self.amount * bdp if self.unit == "bdp" else self.amount
        return int(exact + Fraction(1, 2))


def bdp_bytes(rate_bps: int, rtt_ns: int) -> Fraction:
    """The bandwidth-delay product in bytes (IP bytes, as the rate counts them)."""
    return Fraction(rate_bps * rtt_ns, 8 * 10**9)


def parse_rate(text: str) -> int:
    """Bits per second; raises UnitError."""
    return _whole(text, RATE_UNITS, "80mbit", "bit/s")


def parse_duration(text: str) -> int:
    """Nanoseconds; raises UnitError."""
    return _whole(text, DURATION_UNITS, "25ms", "ns")


def parse_size(text: str) -> Size:
    """Bytes, packets or bandwidth-delay products; raises UnitError."""
    amount, unit = _split(text, (*BYTE_UNITS, *RELATIVE_UNITS), "250kb")
    if unit == "bdp":
        return Size(amount, unit)
    size = Size(amount * BYTE_UNITS.get(unit, 1), "pkt" if unit == "pkt" else "b")
    if size.amount.denominator != 1:
        whole = "packets" if unit == "pkt" else "bytes"
        raise UnitError(quote(text), f"a whole number of {whole}")
    return size


def format_rate(bps: int) -> str:
    """The usual spelling; `parse_rate` reads it back exactly."""
    return _format(bps, RATE_UNITS, "bit")


def format_duration(ns: int) -> str:
    """The usual spelling, up to seconds; `parse_duration` reads it back exactly."""
    units = {unit: scale for unit, scale in DURATION_UNITS.items() if unit != "min"}
    return _format(ns, units, "s")


def format_size(size: Size) -> str:
    """The usual decimal spelling; `parse_size` reads it back exactly.

    Raises ValueError for a share of a BDP that no decimal number can write.
    """
    if size.unit != "b":
        return f"{_decimal(size.amount)}{size.unit}"
    units = {unit: BYTE_UNITS[unit] for unit in ("b", "kb", "mb", "gb")}
    return _format(int(size.amount), units, "b")


def quote(text: str, limit: int = _MAX_TEXT) -> str:
    """`text` in double quotes, shortened and with control characters escaped."""
    if len(text) > limit:
        text = text[: limit - 3] + "..."
    safe = "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode("ascii")
        for char in text
    )
    return f'"{safe}"'


def _whole(text: str, units: dict[str, int], example: str, base: str) -> int:
    amount, unit = _split(text, tuple(units), example)
    value = amount * units[unit]
    if value.denominator != 1:
        raise UnitError(quote(text), f"a whole number of {base}")
    return int(value)


def _split(text: str, units: tuple[str, ...], example: str) -> tuple[Fraction, str]:
    """The number and the unit of `text`, which must be one of `units`."""
    wanted = f'a number with one of the units {", ".join(units)}, such as "{example}",'
    if len(text) > _MAX_TEXT:
        raise UnitError(quote(text), wanted)
    if text.strip().startswith("-"):
        raise UnitError(f"a negative value, {quote(text)}", f'a positive one, such as "{example}",')
    match = _QUANTITY.fullmatch(text.strip())
    if match is None:
        raise UnitError(quote(text), wanted)
    number, unit = match.groups()
    if unit not in units:
        close = nearest(unit, units)
        remedy = f'"{number}{close}"' if close else wanted
        raise UnitError(f"the unit {quote(unit)} in {quote(text)}", remedy)
    return Fraction(number), unit


def _format(value: int, units: dict[str, int], zero: str) -> str:
    """`value` in the largest unit of which it holds at least one."""
    fitting = [unit for unit, scale in units.items() if scale <= value]
    unit = max(fitting, key=lambda name: units[name]) if fitting else zero
    return f"{_decimal(Fraction(value, units[unit]))}{unit}"


def _decimal(value: Fraction) -> str:
    """`value` as a terminating decimal number; raises ValueError if there is none."""
    digits, rest = 0, value.denominator
    for prime in (2, 5):
        power = 0
        while rest % prime == 0:
            rest, power = rest // prime, power + 1
        digits = max(digits, power)
    if rest != 1:
        raise ValueError(f"{value} has no finite decimal form")
    scaled = str(int(value * 10**digits)).rjust(digits + 1, "0")
    return f"{scaled[:-digits]}.{scaled[-digits:]}" if digits else scaled
