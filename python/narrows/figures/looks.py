"""How classes of flows are distinguished: colours, dashes.

A class has the colour of its control, which is the same everywhere; several classes of a control
differ in shade and dash. A class whose control isn't one, or varies, gets a colour that no control
beside it has. Dashes differ where somebody, whatever their colour vision, might confuse two
colours.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from narrows.figures.model import Dash
from narrows.figures.palette import COLOURS, SHADED, colour, shade
from narrows.figures.vision import distance
from narrows.metrics.headings import control_of
from narrows.spec import registry

ALIKE = 15.0
"""Lines with a smaller colour distance (`narrows.figures.vision`) can be confused."""
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot")
HUES = tuple(f"flow:{number}" for number in range(7))
"""Keys of colours for classes that aren't congestion controls."""


@dataclass(frozen=True, slots=True)
class Look:
    """A key of `narrows.figures.palette`, and a dash."""

    hue: str
    dash: Dash


def looks(controls: Sequence[str | None]) -> list[Look]:
    """The looks of classes of these controls in one figure, in their order."""
    known = [cca if cca in COLOURS or cca in registry.ccas() else None for cca in controls]
    free = [hue for hue in HUES if not any(alike(hue, cca) for cca in known if cca)] or list(HUES)
    others = itertools.cycle(free)
    wanted, counts = [], Counter[str]()
    for cca in known:
        if cca is None or counts[cca] == SHADED:
            wanted.append((next(others), 0))
        else:
            wanted.append((shade(cca, counts[cca]), counts[cca]))
            counts[cca] += 1
    return distinct_looks(wanted)


def distinct_looks(wanted: Sequence[tuple[str, int]]) -> list[Look]:
    """Looks of these hues; each has the dash of its number unless a similar hue has it."""
    found: list[Look] = []
    for hue, number in wanted:
        dashes = [DASHES[(number + step) % len(DASHES)] for step in range(len(DASHES))]
        taken = {look.dash for look in found if alike(look.hue, hue)}
        found.append(Look(hue, next((dash for dash in dashes if dash not in taken), dashes[0])))
    return found


@cache
def alike(one: str, other: str) -> bool:
    """Returns True if two keys of the palette can be confused, on light or dark."""
    first, second = colour(one), colour(other)
    near = min(distance(first.light, second.light), distance(first.dark, second.dark))
    return near < ALIKE


def looks_of(
    groups: Sequence[str], controls: Mapping[str, str | None] | None = None
) -> dict[str, Look]:
    """The looks of classes with these controls; a class without an entry has that of its name."""
    known = controls or {}
    ccas = [known[group] if group in known else control_of(group) for group in groups]
    return dict(zip(groups, looks(ccas), strict=True))


def asides(count: int) -> list[float]:
    """The offsets of several lines' points from a tick."""
    step = min(0.14, 0.7 / max(count, 1))
    return [(number - (count - 1) / 2) * step for number in range(count)]
