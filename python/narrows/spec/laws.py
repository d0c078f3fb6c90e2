"""Distributions of sizes and times, as tables that the engine draws from.

A person writes a plain quantity (`"1mb"`, `"2s"`) or a table with the distribution's
name: `{ kind = "lognormal", median = "20kb", sigma = 1.5 }`. The engine knows no
logarithm, so that its results are the same everywhere; it gets the inverse of the
distribution function, point by point, and the points are a part of the scenario.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from statistics import NormalDist
from typing import Any

from narrows.files import read_limited
from narrows.spec.elements import ElementError
from narrows.spec.suggest import one_of
from narrows.spec.traces import directory
from narrows.spec.units import UnitError, quote

Law = dict[str, Any]
"""`{"constant": value}` or `{"points": [[probability, value], ...]}`, as in a scenario."""
Quantile = Callable[[float], float]
"""From a probability to the value that isn't exceeded with it."""

CERTAIN = 2**32
"""A probability of 1 in a table."""
STEPS = 8
"""Points for each halving of the probability of more (or less)."""
HALVINGS = 24
"""Tables end where larger (or smaller) values come once in 2^24 draws."""
MAX_VALUE = 10**15
LEAST_SHAPE = 0.001
"""With less than that, the digits of a float no longer tell the quantiles apart."""
MAX_FILE_BYTES = 1_000_000
MAX_POINTS = 10_000


def read_law(value: object, measure: Callable[[str], int], example: str) -> Law:
    """The law in a TOML text or table.

    `measure` reads a quantity such as `example`. Raises ElementError.
    """
    if isinstance(value, str):
        return {"constant": _measured(value, (), measure)}
    if not isinstance(value, Mapping):
        remedy = f'"{example}", or a distribution such as {{ kind = "exponential", mean = '
        raise ElementError((), _show(value), f'{remedy}"{example}" }}')
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in _LAWS:
        found = f"{quote(kind)}, which is no distribution" if isinstance(kind, str) else "nothing"
        raise ElementError(("kind",), found, one_of(str(kind or ""), _LAWS))
    return _LAWS[kind](_Table(value, measure, example))


class _Table:
    """The parameters of a distribution, each read once."""

    def __init__(
        self, given: Mapping[str, object], measure: Callable[[str], int], example: str
    ) -> None:
        self.given, self.measure, self.example = given, measure, example
        self.known = {"kind"}

    def has(self, name: str) -> bool:
        self.known.add(name)
        return name in self.given

    def quantity(self, name: str) -> int:
        """A quantity above zero."""
        if not self.has(name):
            raise ElementError((name,), "nothing", f'a quantity such as "{self.example}"')
        exact = _measured(self.given[name], (name,), self.measure)
        if exact == 0:
            raise ElementError((name,), _show(self.given[name]), "more than zero")
        return exact

    def number(self, name: str, least: float, most: float) -> float:
        """A plain number above `least`, and not above `most`."""
        value = self.given.get(name) if self.has(name) else None
        plain = isinstance(value, int | float) and not isinstance(value, bool)
        if not plain or not least < float(value) <= most:  # type: ignore[arg-type]
            remedy = f"a number above {least:g} and of at most {most:g}"
            raise ElementError((name,), "nothing" if value is None else _show(value), remedy)
        return float(value)  # type: ignore[arg-type]

    def done(self) -> None:
        """Raises ElementError for a key that means nothing."""
        for name in self.given:
            if name not in self.known:
                raise ElementError((name,), "an unknown key", one_of(name, sorted(self.known)))


def _exponential(table: _Table) -> Law:
    mean = table.quantity("mean")
    table.done()
    return _points(lambda p: -mean * math.log1p(-p), _upper())


def _uniform(table: _Table) -> Law:
    low, high = table.quantity("min"), table.quantity("max")
    table.done()
    if low > high:
        raise ElementError(("max",), _show(table.given["max"]), "at least `min`")
    return {"points": [[0, low], [CERTAIN, high]]}


def _lognormal(table: _Table) -> Law:
    sigma = table.number("sigma", 0, 10)
    if table.has("median") == table.has("mean"):
        raise ElementError(("median",), "both or neither", "either `median` or `mean`")
    if table.has("median"):
        scale = math.log(table.quantity("median"))
    else:
        scale = math.log(table.quantity("mean")) - sigma**2 / 2
    table.done()
    normal = NormalDist()
    return _points(lambda p: math.exp(scale + sigma * normal.inv_cdf(p)) if p else 0, _both())


def _pareto(table: _Table) -> Law:
    least, shape = table.quantity("min"), table.number("shape", LEAST_SHAPE, 100)
    rest = 0.0
    if table.has("max"):
        most = table.quantity("max")
        if most < least:
            raise ElementError(("max",), _show(table.given["max"]), "at least `min`")
        rest = (least / most) ** shape
    table.done()
    return _points(lambda p: least * (1 - p * (1 - rest)) ** (-1 / shape), _upper())


def _empirical(table: _Table) -> Law:
    if table.has("file") == table.has("points"):
        raise ElementError(("file",), "both or neither", "either `file` or `points`")
    if table.has("points"):
        key, rows = "points", table.given["points"]
    else:
        key, rows = "file", _read_file(table.given["file"])
    table.done()
    return {"points": _cdf(rows, key, table.measure)}


_LAWS: Mapping[str, Callable[[_Table], Law]] = {
    "exponential": _exponential,
    "uniform": _uniform,
    "lognormal": _lognormal,
    "pareto": _pareto,
    "empirical": _empirical,
}


def _upper() -> list[float]:
    """Probabilities that are dense towards 1, ascending, without 1."""
    tail = [1 - 2 ** (-step / STEPS) for step in range(STEPS, STEPS * HALVINGS + 1)]
    return [*(step / 32 for step in range(16)), *tail]


def _both() -> list[float]:
    """Probabilities that are dense towards 0 and 1."""
    low = [2 ** (-step / STEPS) for step in range(STEPS * HALVINGS, STEPS, -1)]
    return [0.0, *low, *_upper()[16:]]


def _points(quantile: Quantile, shares: list[float]) -> Law:
    """The table of a distribution; its last value comes once in 2^25 draws or less."""
    last = 1 - 2.0 ** -(HALVINGS + 1)
    try:
        pairs = [(round(p * CERTAIN), quantile(p)) for p in shares] + [(CERTAIN, quantile(last))]
    except (OverflowError, ZeroDivisionError):  # with a shape of 0.01, say
        pairs = [(CERTAIN, math.inf)]
    if not pairs[-1][1] <= MAX_VALUE:
        found = "a distribution with values beyond 10^15"
        raise ElementError((), found, "a lighter tail, or a `max`,")
    return {"points": [[p, round(value)] for p, value in pairs]}


def _read_file(name: object) -> list[list[object]]:
    """Rows of value and share from a text file: `20kb 0.5`."""
    if not isinstance(name, str):
        raise ElementError(("file",), _show(name), 'the path of a file, such as "sizes.txt",')
    path = directory() / name
    try:
        lines = read_limited(path, MAX_FILE_BYTES).decode("utf-8").splitlines()
    except (OSError, ValueError):
        remedy = f"a readable text file of at most 1 MB in {directory().resolve()}"
        raise ElementError(("file",), quote(name), remedy) from None
    rows = [line.split("#")[0].replace(",", " ").split() for line in lines]
    return [[row[0], *row[1:]] for row in rows if row]


def _cdf(rows: object, key: str, measure: Callable[[str], int]) -> list[list[int]]:
    """The table of an empirical distribution; between its points it is a straight line."""
    if not isinstance(rows, list) or not 1 <= len(rows) <= MAX_POINTS:
        raise ElementError((key,), _show(rows), f"1 to {MAX_POINTS} pairs of a value and a share")
    points = [_row(row, key, number, measure) for number, row in enumerate(rows, 1)]
    if points[0][0] > 0:
        points.insert(0, [0, points[0][1]])
    if points[-1][0] != CERTAIN:
        raise ElementError((key,), f"a last share of {points[-1][0] / CERTAIN:g}", "1 at the end")
    for number, (before, after) in enumerate(pairwise(points), 2):
        if before[0] >= after[0] or before[1] > after[1]:
            found = f"a pair ({number}) that doesn't ascend"
            raise ElementError((key,), found, "values and shares in ascending order")
    return points


def _row(row: object, key: str, number: int, measure: Callable[[str], int]) -> list[int]:
    remedy = "a value and the share of draws that don't exceed it, from 0 to 1"
    if not isinstance(row, list) or len(row) != 2:
        raise ElementError((key,), f"pair {number} without two parts", remedy)
    try:
        value, share = measure(str(row[0])), float(row[1])
    except UnitError as error:
        raise ElementError((key,), f"{error.found} in pair {number}", error.remedy) from None
    except (TypeError, ValueError):
        raise ElementError((key,), f"{_show(row[1])} in pair {number}", remedy) from None
    if not 0 <= share <= 1:
        raise ElementError((key,), f"a share of {share:g} in pair {number}", remedy)
    return [round(share * CERTAIN), value]


def _measured(value: object, key: tuple[str, ...], measure: Callable[[str], int]) -> int:
    try:
        if not isinstance(value, str):
            raise UnitError(_show(value), "a text with its unit")
        exact = measure(value)
    except UnitError as error:
        raise ElementError(key, error.found, error.remedy) from None
    if exact > MAX_VALUE:
        raise ElementError(key, quote(value), "less")
    return exact


def _show(value: object) -> str:
    from narrows.spec.fields import describe

    return describe(value)
