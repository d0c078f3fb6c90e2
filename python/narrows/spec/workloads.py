"""What the application of a flow does: `workload = { kind = "poisson", ... }`.

Each kind is read into the form that a scenario holds. What isn't written has the
default below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from narrows.spec.elements import ElementError
from narrows.spec.laws import Law, read_law
from narrows.spec.suggest import one_of
from narrows.spec.units import (
    UnitError,
    format_duration,
    parse_duration,
    parse_rate,
    parse_size,
    quote,
)

NS = 10**9
MAX_DURATION_NS = 10**15
_MAX_DIGITS = 40
DEFAULT_BUFFER = "30s"
"""What a player buffers at most."""


@dataclass(frozen=True)
class Workload:
    """A kind of workload by its name, and how a scenario says it."""

    kind: str
    scenario: Mapping[str, Any]


def read_workload(value: object) -> Workload:
    """The workload in a TOML table; raises ElementError, and TypeError for anything else."""
    if not isinstance(value, Mapping):
        raise TypeError
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        found = f"{quote(kind)}, which is no workload" if isinstance(kind, str) else "nothing"
        raise ElementError(("kind",), found, one_of(str(kind or ""), _KINDS))
    names, read = _KINDS[kind]
    for name in value:
        if name not in names and name != "kind":
            raise ElementError((name,), "an unknown key", one_of(name, names))
    return Workload(kind, read(value))


def _poisson(table: Mapping[str, object]) -> dict[str, Any]:
    mean_ns = NS / _frequency(_needed(table, "rate", '"5/s"'))
    if not 1 <= mean_ns <= MAX_DURATION_NS:
        raise ElementError(("rate",), f"{_show(table['rate'])}", "from 1/h to 1000000/s")
    gap = read_law({"kind": "exponential", "mean": f"{round(mean_ns)}ns"}, _time, "1s")
    return {"kind": "arrivals", "gap_ns": gap, "size_bytes": _size_law(table)}


def _arrivals(table: Mapping[str, object]) -> dict[str, Any]:
    gap = _positive(_time_law(table, "gap"), "gap")
    return {"kind": "arrivals", "gap_ns": gap, "size_bytes": _size_law(table)}


def _on_off(table: Mapping[str, object]) -> dict[str, Any]:
    on, off = (_positive(_time_law(table, name), name) for name in ("on", "off"))
    return {"kind": "on_off", "on_ns": on, "off_ns": off}


def _requests(table: Mapping[str, object]) -> dict[str, Any]:
    think = _time_law(table, "think") if "think" in table else {"constant": 0}
    return {"kind": "requests", "think_ns": think, "size_bytes": _size_law(table)}


def _video(table: Mapping[str, object]) -> dict[str, Any]:
    bitrate = _plain(table, "bitrate", parse_rate, '"5mbit"')
    chunk = _plain(table, "chunk", _time, '"4s"')
    start = _plain(table, "start", _time, '"4s"') if "start" in table else chunk
    given = "buffer" in table
    buffer = _plain(table, "buffer", _time, '"30s"') if given else parse_duration(DEFAULT_BUFFER)
    if start + chunk > buffer:
        found = f'"{format_duration(buffer)}"'
        least = format_duration(start + chunk)
        raise ElementError(("buffer",), found, f'room for `start` and a chunk, "{least}" or more,')
    return {
        "kind": "video",
        "bitrate_bps": bitrate,
        "chunk_ns": chunk,
        "start_ns": start,
        "buffer_ns": buffer,
    }


_KINDS: Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, object]], dict[str, Any]]]] = {
    "poisson": (("rate", "size"), _poisson),
    "arrivals": (("gap", "size"), _arrivals),
    "on_off": (("on", "off"), _on_off),
    "requests": (("size", "think"), _requests),
    "video": (("bitrate", "chunk", "start", "buffer"), _video),
}
KINDS = tuple(_KINDS)
"""The names of all workloads."""


def _needed(table: Mapping[str, object], name: str, example: str) -> object:
    if name not in table:
        raise ElementError((name,), "nothing", f"a value such as {example}")
    return table[name]


def _size_law(table: Mapping[str, object]) -> Law:
    value = _needed(table, "size", '"1mb"')
    return _positive(_law(value, "size", _bytes, "1mb"), "size")


def _time_law(table: Mapping[str, object], name: str) -> Law:
    return _law(_needed(table, name, '"2s"'), name, _time, "2s")


def _law(value: object, name: str, measure: Callable[[str], int], example: str) -> Law:
    try:
        return read_law(value, measure, example)
    except ElementError as error:
        raise ElementError((name, *error.key), error.found, error.remedy) from None


def _positive(law: Law, name: str) -> Law:
    """A law that doesn't always give zero."""
    largest = law["constant"] if "constant" in law else law["points"][-1][1]
    if largest == 0:
        raise ElementError((name,), "zero", "more than zero")
    return law


def _plain(
    table: Mapping[str, object], name: str, parse: Callable[[str], int], example: str
) -> int:
    """A quantity above zero."""
    value = _needed(table, name, example)
    try:
        exact = parse(value) if isinstance(value, str) else None
    except UnitError as error:
        raise ElementError((name,), error.found, error.remedy) from None
    if exact is None:
        raise ElementError((name,), _show(value), f"a quantity with its unit, such as {example},")
    if exact <= 0:
        raise ElementError((name,), _show(value), f"a quantity above zero, such as {example},")
    return exact


def _frequency(value: object) -> Fraction:
    """Events a second, from "5/s", "300/min" or "20/h"."""
    wrong = ElementError(("rate",), _show(value), 'a number of flows in a time, such as "5/s",')
    if not isinstance(value, str):
        raise wrong
    number, _, unit = value.partition("/")
    seconds = {"s": 1, "min": 60, "h": 3600}.get(unit.strip())
    try:
        # `Fraction` would write out the zeros of "1e999999999", and never be done with it.
        if len(number) > _MAX_DIGITS or "e" in number.lower():
            raise wrong
        frequency = Fraction(number.strip()) / (seconds or 0)
    except (ValueError, ZeroDivisionError):
        raise wrong from None
    if frequency <= 0:
        raise wrong
    return frequency


def _time(text: str) -> int:
    span = parse_duration(text)
    if span > MAX_DURATION_NS:
        limit = format_duration(MAX_DURATION_NS)
        raise UnitError(quote(text), f'a duration of at most "{limit}"')
    return span


def _bytes(text: str) -> int:
    size = parse_size(text)
    if size.unit != "b":
        raise UnitError(quote(text), 'a size in bytes, such as "1mb",')
    return int(size.amount)


def _show(value: object) -> str:
    from narrows.spec.fields import describe

    return describe(value)
