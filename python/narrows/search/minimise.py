"""Resets conditions one by one, as long as the control still fails."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from narrows.search.space import Dimension, Value, departures
from narrows.search.trying import PointResults, PointRunner

SEEDS = (1, 2, 3)
"""The seeds of tries during the reduction."""
CLEAR = 2.0
"""A failure this far beyond the limit is as good as a worse one."""
FINAL = tuple(range(101, 111))
"""The seeds that confirm a finding: others than those that found it."""


def minimise(trying: PointRunner, tried: PointResults) -> PointResults | None:
    """The fewest departures with which it still fails; None if it failed with one seed only."""
    space = trying.objective.space
    if not trying.fails(tried.point, SEEDS):
        return None
    point = dict(tried.point)
    changed = True
    while changed:  # resetting one condition can make another one unnecessary
        changed = False
        for one in space:
            if point[one.name] != one.plain and trying.fails({**point, one.name: one.plain}, SEEDS):
                point[one.name] = one.plain
                changed = True
    for one in space:
        while (nearer := one.nearer(point[one.name])) is not None and nearer != point[one.name]:
            if not trying.fails({**point, one.name: nearer}, SEEDS):
                break
            point[one.name] = nearer
    (final,) = trying.all([point], FINAL)
    return final if final.fails else None


def findings(trying: PointRunner, tried: Iterable[PointResults], most: int) -> list[PointResults]:
    """Up to `most` findings, the worst first; none that another one's conditions explain.

    Of clear failures, those that take the fewest packets to run come first.
    """
    space = trying.objective.space
    found: list[PointResults] = []
    for candidate in sorted((one for one in tried if one.fails), key=_rank):
        if len(found) == most:
            break
        if any(_explains(one, candidate, space) for one in found):
            continue
        small = minimise(trying, candidate)
        names = [departures(space, one.point) for one in found]
        if small is not None and departures(space, small.point) not in names:
            found.append(small)
    return found


def _rank(one: PointResults) -> tuple[float, float]:
    return -min(one.badness[0], CLEAR), float(one.point["rate_mbit"])


def _explains(small: PointResults, candidate: PointResults, space: Sequence[Dimension]) -> bool:
    """Returns True if the candidate has all of a finding's departures, in the same directions."""
    return all(
        _alike(one, small.point[one.name], candidate.point[one.name])
        for one in space
        if small.point[one.name] != one.plain
    )


def _alike(dimension: Dimension, one: Value, other: Value) -> bool:
    """Returns True if two values depart from the plain one in the same direction."""
    if isinstance(one, str) or isinstance(other, str) or isinstance(dimension.plain, str):
        return one == other
    return other != dimension.plain and (one > dimension.plain) == (other > dimension.plain)
