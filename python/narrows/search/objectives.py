"""The ways in which a control can fail: a metric each, with a limit that other controls keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from narrows.errors import InputError
from narrows.search.space import Dimension, Point, dimensions
from narrows.spec.suggest import one_of, quote
from narrows.words import short_number

Row = Mapping[str, float | None]
"""A row of the table `summary`."""

_LEAST = 1e-4
"""The least divisor, which keeps quotients finite."""


@dataclass(frozen=True, slots=True)
class Objective:
    """A way to fail.

    `limit` gets the results of the references under the same conditions, and the conditions. It
    returns None if the references fail, too, because of the conditions. `laxest` is the limit that
    the worst references allow, if there is any. `more` means that more of the metric is better.
    `says` is the finding as a sentence, and `shown` formats a value in it.
    """

    name: str
    asks: str
    says: str
    metric: str
    shown: Callable[[float], str]
    more: bool
    limit: Callable[[Sequence[float], Point], float | None]
    laxest: Callable[[Point], float]
    rivals: bool = False
    equals: bool = False

    @property
    def space(self) -> tuple[Dimension, ...]:
        """The conditions that a search for it varies."""
        return dimensions(rivals=self.rivals, equals=self.equals)

    def badness(
        self, value: float | None, references: Sequence[float | None], point: Point
    ) -> float:
        """How far the value is beyond its limit, as a quotient: 1 or more is a failure."""
        limit = self.limit_of(references, point)
        if limit is None or value is None:
            return 0.0
        worse, better = (limit, value) if self.more else (value, limit)
        return worse / max(better, _LEAST)

    def might_fail(self, value: float | None, point: Point) -> bool:
        """Returns True if a value is a failure beside some references."""
        if value is None:
            return False
        return value <= self.laxest(point) if self.more else value >= self.laxest(point)

    def limit_of(self, references: Sequence[float | None], point: Point) -> float | None:
        """The limit; None if there is none to compare with."""
        known = [value for value in references if value is not None]
        return self.limit(known, point) if known else None


def _percent(value: float) -> str:
    return f"{value * 100:.1f} %"


def _ms(value: float) -> str:
    return f"{value:.0f} ms"


def _mbps(value: float) -> str:
    return f"{short_number(value)} Mbit/s"


def _number(value: float) -> str:
    return f"{value:.2f}"


def _half_of_the_best(references: Sequence[float], _: Point) -> float:
    return 0.5 * max(references)


def _thrice_the_loss(references: Sequence[float], _: Point) -> float:
    return max(0.1, 3 * max(references))


def _twice_the_queue(references: Sequence[float], point: Point) -> float:
    return max(0.5 * float(point["rtt_ms"]), 2 * max(references))


def _rivals_part(point: Point) -> float:
    return float(point["rivals"]) / (float(point["rivals"]) + float(point["subjects"]))


def _subjects_part(point: Point) -> float:
    return 1 - _rivals_part(point)


def _a_tenth_of_fair(
    fair: Callable[[Point], float],
) -> Callable[[Sequence[float], Point], float | None]:
    """A tenth of the fair share, if the reference gets half of it or more."""

    def limit(references: Sequence[float], point: Point) -> float | None:
        return 0.1 * fair(point) if min(references) >= 0.5 * fair(point) else None

    return limit


def _fair_among_equals(references: Sequence[float], _: Point) -> float | None:
    return 0.6 if max(references) >= 0.85 else None


def _most_of_the_other(references: Sequence[float], _: Point) -> float:
    return 0.8 * max(references)


OBJECTIVES: Mapping[str, Objective] = {
    one.name: one
    for one in (
        Objective("utilization", "Does it use less than half of what Reno, CUBIC or BBR use?",
                  "{subject} uses {value} of the link, and {others} up to {best}",
                  "utilization", _percent, more=True, limit=_half_of_the_best,
                  laxest=lambda _: 0.5),
        Objective("loss", "Does it lose over 10 % of packets, and three times what others lose?",
                  "{subject} loses {value} of its packets, and {others} up to {best}",
                  "loss_rate", _percent, more=False, limit=_thrice_the_loss,
                  laxest=lambda _: 0.1),
        Objective("delay", "Does it keep half a round trip of queue, and twice what others keep?",
                  "{subject} keeps a queue of {value}, and {others} up to {best}",
                  "queue_mean_ms", _ms, more=False, limit=_twice_the_queue,
                  laxest=lambda point: 0.5 * float(point["rtt_ms"])),
        Objective("starves", "Does a rival get under a tenth of its fair share beside it?",
                  "{others} gets {value} of the bytes beside {subject}, and {best} beside itself",
                  "rival.share", _percent, more=True, limit=_a_tenth_of_fair(_rivals_part),
                  laxest=lambda point: 0.1 * _rivals_part(point),
                  rivals=True),
        Objective("starved", "Does it get under a tenth of its fair share beside a rival?",
                  "{subject} gets {value} of the bytes beside {others}, and {others} {best} there",
                  "subject.share", _percent, more=True, limit=_a_tenth_of_fair(_subjects_part),
                  laxest=lambda point: 0.1 * _subjects_part(point),
                  rivals=True),
        Objective("unfair", "Do its own flows share unequally, where another's share equally?",
                  "flows of {subject} have a Jain's index of {value}, and of {others} up to {best}",
                  "subject.jain", _number, more=True, limit=_fair_among_equals,
                  laxest=lambda _: 0.6, equals=True),
        Objective("slower", "Is it slower than another control, such as its older version?",
                  "{subject} gets {value}, and {others} {best}",
                  "subject.goodput_mbps", _mbps, more=True, limit=_most_of_the_other,
                  laxest=lambda _: float("inf")),
    )
}  # fmt: skip

METRICS = tuple(dict.fromkeys(one.metric for one in OBJECTIVES.values()))
"""Every metric that an objective reads."""


def find(name: str) -> Objective:
    """The objective of a name; raises InputError."""
    if name not in OBJECTIVES:
        found = f"{quote(name)}, which is not an objective"
        raise InputError.at("--objective", found, one_of(name, list(OBJECTIVES)))
    return OBJECTIVES[name]
