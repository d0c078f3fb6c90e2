"""Which combinations of values a study has: all of them, or a sample.

A random design draws every axis anew for each combination. A Latin hypercube
cuts every axis into as many strata as there are combinations and uses each
stratum once (McKay, Beckman and Conover, Technometrics 21, 1979), so that few
combinations still cover every axis evenly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from narrows.errors import SpecError
from narrows.spec import Axis, Study
from narrows.spec.overrides import Key
from narrows.spec.study import MAX_CELLS

Group = Sequence[Axis]
Point = dict[Key, object]
"""A value for every axis."""


def points(study: Study) -> Iterator[Point]:
    """The combinations in a fixed order, each once.

    In a grid the last axis varies fastest. Raises SpecError for too many.
    """
    drawn = study.design != "grid"
    count = study.budget if drawn else math.prod(len(group[0].values) for group in study.groups)
    if count > MAX_CELLS:
        remedy = f"at most {MAX_CELLS}; a Latin hypercube (`sweep.design`) has a budget"
        raise SpecError.at("sweep", f"{count} combinations", remedy, study.file)
    seen = set()
    for point in _drawn(study) if drawn else _grid(study.groups):
        spelling = tuple((type(value), value) for value in point.values())
        if spelling not in seen:
            seen.add(spelling)
            yield point


def _grid(groups: Sequence[Group]) -> Iterator[Point]:
    for chosen in product(*(range(len(group[0].values)) for group in groups)):
        parts = zip(groups, chosen, strict=True)
        yield {axis.key: axis.values[index] for group, index in parts for axis in group}


def _drawn(study: Study) -> Iterator[Point]:
    positions = [
        _positions(study.design, study.budget, f"{study.seed}:{group[0].place}")
        for group in study.groups
    ]
    for index in range(study.budget):
        parts = [column[index] for column in positions]
        yield {
            axis.key: _value(axis, part)
            for group, part in zip(study.groups, parts, strict=True)
            for axis in group
        }


def _positions(design: str, count: int, seed: str) -> list[float]:
    """Where on its axis each combination lies, from 0 to below 1.

    The stream belongs to the axis: another one doesn't change it.
    """
    stream = Random(seed)  # noqa: S311 (a design needs no secrets)
    inside = [stream.random() for _ in range(count)]
    if design == "random":
        return inside
    order = [stream.random() for _ in range(count)]
    strata = sorted(range(count), key=lambda index: (order[index], index))
    return [(stratum + part) / count for stratum, part in zip(strata, inside, strict=True)]


def _value(axis: Axis, part: float) -> object:
    if axis.values:
        return axis.values[min(int(part * len(axis.values)), len(axis.values) - 1)]
    if axis.range is None:
        raise ValueError(f"an axis without values: {axis.place}")
    return axis.range.at(part)
