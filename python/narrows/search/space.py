"""The conditions that a search varies. Each has a plain value, its default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from narrows.words import join_words

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

Value = float | int | str
Point = Mapping[str, Value]
"""A value for each dimension."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """One condition: a number between two bounds, or one of several words.

    `told` is how a sentence mentions a value that isn't plain. With `zero`, numbers below `least`
    count as none.
    """

    name: str
    plain: Value
    told: str
    least: float = 0.0
    most: float = 0.0
    words: tuple[str, ...] = ()
    whole: bool = False
    zero: bool = False

    def distribution(self) -> BaseDistribution:
        """The distribution that Optuna draws from."""
        from optuna.distributions import (
            CategoricalDistribution,
            FloatDistribution,
            IntDistribution,
        )

        if self.words:
            return CategoricalDistribution(self.words)
        if self.whole:
            return IntDistribution(int(self.least), int(self.most))
        # Half of the logarithmic scale lies below `least` where that means none.
        least = self.least**2 / self.most if self.zero else self.least
        return FloatDistribution(least, self.most, log=True)

    def round_value(self, drawn: Value) -> Value:
        """The value with two significant digits."""
        if isinstance(drawn, str) or self.whole:
            return drawn
        if self.zero and drawn < self.least:
            return 0.0
        return float(f"{drawn:.2g}")

    def nearer(self, value: Value) -> Value | None:
        """The value halfway to the plain one; None if there is nothing between."""
        if isinstance(value, str) or isinstance(self.plain, str):
            return None
        if self.whole:
            middle: Value = int((value + self.plain) // 2)
        elif self.plain == 0:
            middle = self.round_value(value / 2)
        else:
            middle = self.round_value((value * self.plain) ** 0.5)
        return None if middle in (value, self.plain) else middle


_PATH = (
    Dimension("rate_mbit", 20.0, "{:g} Mbit/s", 1.0, 200.0),
    Dimension("rtt_ms", 40.0, "an RTT of {:g} ms", 4.0, 400.0),
    Dimension("buffer_bdp", 1.0, "a buffer of {:g} BDP", 0.1, 16.0),
    Dimension(
        "queue", "droptail", "{} as the queue", words=("droptail", "codel", "fq_codel", "pie")
    ),
    Dimension("loss", 0.0, "random loss of {:g}", 0.0003, 0.05, zero=True),
    Dimension("jitter_ms", 0.0, "jitter of {:g} ms", 0.5, 30.0, zero=True),
)
_SUBJECTS = Dimension("subjects", 1, "{} flows", 1, 8, whole=True)
_EQUALS = Dimension("subjects", 2, "{} flows", 2, 8, whole=True)
_RIVALS = (
    Dimension("rivals", 1, "{} rivals", 1, 8, whole=True),
    Dimension("rival_start_s", 0.0, "rivals that start after {:g} s", 0.5, 10.0, zero=True),
    Dimension("rival_rtt_ratio", 1.0, "rivals with {:g} times the RTT", 0.25, 4.0),
)


def dimensions(*, rivals: bool, equals: bool) -> tuple[Dimension, ...]:
    """The dimensions, with flows of a rival or with two or more of the control (`equals`)."""
    return (*_PATH, _EQUALS if equals else _SUBJECTS, *(_RIVALS if rivals else ()))


def departures(space: tuple[Dimension, ...], point: Point) -> tuple[str, ...]:
    """The names of the dimensions whose value isn't plain."""
    return tuple(one.name for one in space if point[one.name] != one.plain)


def sentence(space: tuple[Dimension, ...], point: Point) -> str:
    """The conditions that aren't plain, in words."""
    found = [one.told.format(point[one.name]) for one in space if point[one.name] != one.plain]
    return join_words(found) if found else "default conditions"


def specification(
    name: str, point: Point, subject: str, rival: str | None, *, trials: int, seed: int = 1
) -> str:
    """A point as a specification, with the control `subject` and an optional `rival`."""
    duration_s = 30.0 + 100 * float(point["rtt_ms"]) / 1e3
    lines = [
        f'name = "{name}"', "", "[path]",
        f'rate = "{point["rate_mbit"]:g}mbit"', f'rtt = "{point["rtt_ms"]:g}ms"',
        f'buffer = "{point["buffer_bdp"]:g}bdp"', f'queue = "{point["queue"]}"',
    ]  # fmt: skip
    if point["loss"]:
        lines.append(f"loss = {point['loss']:g}")
    if point["jitter_ms"]:
        lines.append(f'impairments = [{{ kind = "jitter", max = "{point["jitter_ms"]:g}ms" }}]')
    lines += [
        "",
        "[[flows]]",
        'name = "subject"',
        f'cca = "{subject}"',
        f"count = {point['subjects']}",
    ]
    if rival is not None:
        rtt_ms = float(point["rtt_ms"]) * float(point["rival_rtt_ratio"])
        lines += [
            "", "[[flows]]", 'name = "rival"', f'cca = "{rival}"', f"count = {point['rivals']}",
            f'start = "{point["rival_start_s"]:g}s"', f'rtt = "{rtt_ms:.3g}ms"',
        ]  # fmt: skip
    lines += [
        "", "[host]", 'jitter = "100us"', "", "[run]", f'duration = "{duration_s:g}s"',
        'warmup = "15s"', f"trials = {trials}", f"seed = {seed}", "",
    ]  # fmt: skip
    return "\n".join(lines)
