"""Turns scenarios in Python into the text of a specification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar

from narrows.spec.values import to_toml

T = TypeVar("T")


@dataclass(frozen=True)
class Range:
    """Values between two ends, in `count` values or in steps, for an axis of a sweep.

    The fields are named as in a specification (`from_`, since `from` is a Python keyword). Without
    a count or a step, a random or Latin-hypercube design draws values from it.

        >>> Range("1mbit", "1gbit", count=4, scale="log").as_table()
        {'from': '1mbit', 'to': '1gbit', 'count': 4, 'scale': 'log'}
    """

    from_: str | float
    to: str | float
    count: int | None = None
    step: str | float | None = None
    scale: Literal["linear", "log"] | None = None

    def as_table(self) -> dict[str, Any]:
        """Returns the range as a table of a specification."""
        parts = {"from": self.from_, "to": self.to, "count": self.count, "step": self.step}
        return {k: v for k, v in {**parts, "scale": self.scale}.items() if v is not None}


Values: TypeAlias = T | Sequence[T] | Range
"""One value, or several in a sweep."""


class Table:
    """A table of a specification; only fields that aren't None are written."""

    kind: ClassVar[str | None] = None
    """The kind of an element, which is written first."""

    def __repr__(self) -> str:
        """Returns the constructor call, without arguments that are None."""
        named = ((entry.name, getattr(self, entry.name)) for entry in fields(self))  # type: ignore[arg-type]
        given = ", ".join(f"{name}={value!r}" for name, value in named if value is not None)
        return f"{type(self).__name__}({given})"

    def as_table(self) -> dict[str, Any]:
        """Returns a table of a specification, or a whole specification."""
        named = {entry.name: getattr(self, entry.name) for entry in fields(self)}  # type: ignore[arg-type]
        head = {} if self.kind is None else {"kind": self.kind}
        return head | {k.rstrip("_"): _as_plain_value(v) for k, v in named.items() if v is not None}

    def toml(self) -> str:
        """Returns the text of a specification."""
        return to_toml(self.as_table())


@dataclass(kw_only=True, repr=False)
class Sweep(Table):
    """The combinations of a sweep that lists in place of values can't express."""

    design: Literal["grid", "random", "lhs"] | None = None
    """Every combination (the default), or `budget` of them."""
    budget: int | None = None
    """Combinations of a random or Latin-hypercube design."""
    seed: int | None = None
    """Seed of the design, not of the runs."""
    zip: Sequence[Sequence[str]] | None = None
    """Places that vary together, value by value."""
    axes: Mapping[str, object] | None = None
    """Axes that can't be written in place: {"path.loss": [0, 0.01]}."""
    cases: Sequence[Mapping[str, object]] | None = None
    """Named cases with their places: [{"name": "deep", "path": {"buffer": "8bdp"}}]."""
    until: Mapping[str, object] | None = None
    """Runs as many trials as needed: {"metric": "bbr.share", "within": 0.02, "max_trials": 30}."""


def _as_plain_value(value: object) -> object:
    if isinstance(value, Table | Range):
        return value.as_table()
    if isinstance(value, Mapping):
        return {str(key): _as_plain_value(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_as_plain_value(inner) for inner in value]
    return value
