"""Readable names of places and their values: "BBR", "HyStart off", "Queue: FQ-CoDel"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from narrows.spec import registry
from narrows.spec.values import measure, part
from narrows.words import begin_lower, begin_upper, join_words

_TITLES = {
    "rate": "Rate",
    "rtt": "Two-way delay",
    "buffer": "Buffer",
    "loss": "Random loss",
    "queue": "Queue",
    "cca": "Control",
    "control": "Rate control",
    "count": "Number of flows",
    "hystart": "HyStart",
    "ecn": "ECN",
    "gso": "GSO",
    "gro": "GRO",
    "fq": "FQ",
    "profile": "Kernel",
}
_ELEMENTS = {"queue": registry.queues, "service": registry.services}
_UNITS = {
    "rate": (1e6, "Mbit/s"),
    "duration": (1e6, "ms"),
    "b": (1, "bytes"),
    "pkt": (1, "packets"),
    "bdp": (1, "BDP"),
}
"""For each kind of quantity, the unit in figures and its size in the unit of specifications."""
_LARGER = {
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")),
    "ms": ((1e3, "s"),),
}
"""For a unit the larger ones and their sizes, the largest first."""
MOST_DIGITS = 1e4
"""A number of several above this is too long for the unit that suits the smallest."""
_FLOW = re.compile(r"flows\[(\d+)\]")
_OF_FLOW = re.compile(r" \(flow \d+\)$")


def quantity(value: object) -> tuple[float, str] | None:
    """A number and its unit in figures; None if the value isn't a quantity."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value), ""
    text = str(value)
    if (known := part(text)) is not None:
        return 100 * known, "%"
    found = measure(text)
    if found is None:
        return None
    scale, unit = _UNITS[found[0]]
    return found[1] / scale, unit


def unit_for(numbers: Sequence[float], unit: str) -> tuple[float, str]:
    """The size and the name of the unit in which several numbers of `unit` are short.

    That is the one in which the smallest, or else the largest, is 1 or more.
    """
    known = (*_LARGER.get(unit, ()), (1.0, unit))
    least, most = min((n for n in numbers if n), default=0.0), max(numbers)
    small, large = (
        next((pair for pair in known if number >= pair[0]), known[-1]) for number in (least, most)
    )
    return small if most <= MOST_DIGITS * small[0] else large


def title_of(place: str) -> str:
    """The title of an axis: "Buffer", "Control of flow 1"."""
    title, flow = _title(_key(place)), _FLOW.match(place)
    return title if flow is None else f"{title} of flow {int(flow[1]) + 1}"


def axes_in_words(places: Sequence[str]) -> str:
    """Axes in a sentence: "buffer and control"; a flow is named only if several are varied."""
    plain = [_title(_key(place)) for place in places]
    titles = [
        title if plain.count(title) == 1 else title_of(place)
        for title, place in zip(plain, places, strict=True)
    ]
    return join_words(dict.fromkeys(map(uncapitalize, titles)))


def uncapitalize(text: str) -> str:
    """The text with a small first letter, unless it begins with an acronym or a name."""
    first = text.partition(" ")[0]
    return text if first[1:] != first[1:].lower() else begin_lower(text)


def value_words(place: str, value: object) -> str:
    """A value at a place, without the place: "BBR", "FQ-CoDel", "40 Mbit/s"."""
    key, text = _key(place), str(value)
    if key == "cca":
        return registry.title(text)
    if key in _ELEMENTS:
        entry = _ELEMENTS[key]().get(text)
        return text if entry is None else str(entry["title"])
    found = quantity(value)
    if found is None and text.startswith(key):  # such as hystart = "hystart++"
        return _title(key) + text.removeprefix(key)
    if found is None:
        return {"true": "on", "false": "off", "l4s": "L4S"}.get(text.lower(), text)
    number, (size, unit) = found[0], unit_for([found[0]], found[1])
    return f"{number / size:g} {unit}".rstrip()


def setting(place: str, value: object) -> str:
    """A value with its place, for a legend or a title: "Rate 40 Mbit/s", "HyStart off"."""
    key, words = _key(place), value_words(place, value)
    if key == "cca":
        return words
    title, flow = _title(key), _FLOW.match(place)
    if key in _ELEMENTS:
        text = f"{title}: {words}"
    elif words.startswith(title):
        text = words
    else:
        text = f"{title} {words}"
    return text if flow is None or flow[1] == "0" else f"{text} (flow {int(flow[1]) + 1})"


def settings(values: Iterable[tuple[str, object]]) -> list[str]:
    """Values with their places, without repetition: "Number of flows 2 each" for all classes."""
    found: dict[str, set[str]] = {}
    for place, value in values:
        words = setting(place, value)
        found.setdefault(_OF_FLOW.sub("", words), set()).add(words)
    return [
        next(iter(words)) if len(words) == 1 else f"{plain} each" for plain, words in found.items()
    ]


def _key(place: str) -> str:
    """The last key of a place, except `kind`."""
    parts = place.split(".")
    if len(parts) > 1 and parts[-1] == "kind":
        parts.pop()
    return parts[-1]


def _title(key: str) -> str:
    return _TITLES.get(key) or begin_upper(key).replace("_", " ")
