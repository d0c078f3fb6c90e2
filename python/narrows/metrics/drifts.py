"""Finds what drifts in a condition: trials whose halves differ in the same way."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TypeAlias

from narrows.metrics.equivalence import LEAST_TRIALS
from narrows.metrics.halves import RELATIVE, SHARE
from narrows.metrics.intervals import half_width, mean
from narrows.metrics.metric import Row
from narrows.words import short_number

SHARE_OF_ALL, LEVEL_OF_ALL = 0.03, 0.99
"""The smallest drift of a share that counts if the interval of all trials shows it, and its level.

BBRv3 beside CUBIC with 16 BDP takes 20 minutes to settle, a few points in each minute. Of 74
combinations of 3 or 5 trials, measured for 200 to 1,790 s, this finds that one each time, and no
other.
"""
QUEUE_OF_ALL, LEVEL_OF_QUEUES = 0.05, 0.95
"""The smallest drift of a queue, relative to its larger half, that counts if one trial drifts by
itself and the interval of all trials shows it, and the level of that interval.

Of 503 combinations this finds BBRv3 over a trace of LTE, and no other.
"""
HALF = re.compile(r"\b((goodput|queue|completion)_((early|late)_(mbps|ms|s)|drifts)|needed_s)$")
"""The columns of `summary` on halves and on short runs; the notes here show them."""
SHORT = "too short"
"""Stands for runs that are too short for shares among the quantities that drift."""
_OF_SHARES = ("share", "goodput_mbps", "jain", "rtt_bias")
CONCERNED = {
    "shares": _OF_SHARES,
    "goodput": ("goodput_mbps", "utilization"),
    "the queue": ("queue", "delay", "rtt_mean", "rtt_p95"),
    "completion times": ("completion", "fct", "slowdown", "late"),
    SHORT: _OF_SHARES,
}
"""The beginnings of the metrics that are wrong while a quantity drifts."""
NEEDED = "needed_s"
"""The column with the time that shares must be measured, if the run had less."""

Pair: TypeAlias = tuple[float, float]
_GOODPUT, _COMPLETION = ".goodput_early_mbps", ".completion_early_s"


@dataclass(frozen=True, slots=True)
class Drift:
    """A quantity that differs between the halves, in a unit for people; `owner` is a class."""

    quantity: str
    owner: str
    early: float
    late: float
    unit: str

    @property
    def size(self) -> float:
        """The difference, relative to the smallest that counts."""
        shares = self.unit == "%"
        least = 100 * SHARE if shares else RELATIVE * max(self.early, self.late)
        return abs(self.late - self.early) / least

    @property
    def changing(self) -> str:
        """The change as a clause: "shares still change"."""
        return f"{self.quantity} still {'change' if self.quantity.endswith('s') else 'changes'}"

    def words(self, early: str, late: str) -> str:
        """Returns the values with words for the halves: "bbr 61 % at first, 44 % at last"."""
        form = "{:.0f}".format if self.unit == "%" else short_number
        values = (f"{form(one)} {self.unit}" for one in (self.early, self.late))
        told = ", ".join(
            f"{value} {when}" for value, when in zip(values, (early, late), strict=True)
        )
        return f"{self.owner} {told}".lstrip()


def drifts(rows: Sequence[Row], trials: int) -> list[Drift]:
    """Returns the drifts of a condition, the largest of each quantity, from rows of `summary`.

    More than half of its trials must drift the same way: one that does alone shows chance. A share
    also drifts by less than `SHARE` where the interval of all trials shows it. So does a queue, and
    if more than half of the trials drift, up or down: BBRv3 behind a trace of LTE fills a buffer of
    3 MB sooner or later, and sometimes empties it again before it stays full.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    groups = [name.removesuffix(_GOODPUT) for name in names if name.endswith(_GOODPUT)]
    goodputs = [_goodputs(row, groups) for row in rows]
    shares = [_shares(one) for one in goodputs] if len(groups) > 1 else []
    flags = [_may_drift(row, "goodput") for row in rows]
    levels = [_pair(row, "queue_early_ms", "queue_late_ms") for row in rows]
    queues = [p if _may_drift(row, "queue") else None for p, row in zip(levels, rows, strict=True)]
    found = [
        *(_drift("shares", group, [one.get(group) for one in compress(shares, flags)], trials)
          or _drift_of_all(group, [one.get(group) for one in shares])
          for group in reversed(groups) if shares),
        _drift("goodput", "", [_total(one) for one in compress(goodputs, flags)], trials),
        _drift("the queue", "", queues, trials)
        or _swing(queues, trials)
        or (_queue_of_all(levels) if any(queues) else None),
        *(_drift("completion times", name.removesuffix(_COMPLETION),
                 [_pair(row, name, name.replace("early", "late"))
                  if _may_drift(row, "completion") else None for row in rows], trials)
          for name in names if name.endswith(_COMPLETION)),
    ]  # fmt: skip
    known = sorted((one for one in found if one is not None), key=lambda one: round(one.size, 6))
    return list({one.quantity: one for one in known}.values())[::-1]


def concerns(quantities: Collection[str], metric: str) -> bool:
    """Returns True if a metric, of all flows or a class, is wrong while these quantities drift."""
    group, _, name = metric.rpartition(".")
    if name == "goodput_mbps" and not group:  # a share changes no sum
        return "goodput" in quantities
    own, all_ = (
        tuple(begin for one in some for begin in CONCERNED[one]) for some in (quantities, CONCERNED)
    )
    return name.startswith(own) or (bool({*quantities} - {SHORT}) and not name.startswith(all_))


def _may_drift(row: Row, quantity: str) -> bool:
    """Returns True if a run found a drift; earlier versions kept halves only then."""
    return row.get(f"{quantity}_drifts") != 0


def _pair(row: Row, early: str, late: str) -> Pair | None:
    known = [float(row[name]) for name in (early, late) if row.get(name) is not None]
    return (known[0], known[1]) if len(known) == 2 else None


def _goodputs(row: Row, groups: Sequence[str]) -> dict[str, Pair]:
    names = {group: (f"{group}{_GOODPUT}", f"{group}.goodput_late_mbps") for group in groups}
    pairs = ((group, _pair(row, *its)) for group, its in names.items())
    return {group: pair for group, pair in pairs if pair is not None}


def _total(goodputs: Mapping[str, Pair]) -> Pair | None:
    early, late = (sum(pair[half] for pair in goodputs.values()) for half in (0, 1))
    return (early, late) if early and late else None


def _shares(goodputs: Mapping[str, Pair]) -> dict[str, Pair]:
    total = _total(goodputs)
    if total is None:
        return {}
    return {
        group: (100 * pair[0] / total[0], 100 * pair[1] / total[1])
        for group, pair in goodputs.items()
    }


_UNITS = {"shares": "%", "goodput": "Mbit/s", "the queue": "ms", "completion times": "s"}


def _drift(quantity: str, owner: str, pairs: Sequence[Pair | None], trials: int) -> Drift | None:
    known = [pair for pair in pairs if pair is not None]
    ways = [[p for p in known if p[1] > p[0]], [p for p in known if p[1] < p[0]]]
    most = max(ways, key=len)
    if 2 * len(most) <= trials:
        return None
    drift = _mean_drift(quantity, owner, most)
    return drift if drift.size >= 1 else None


def _swing(pairs: Sequence[Pair | None], trials: int) -> Drift | None:
    """Returns a queue's largest drift in a trial if more than half of them drift, up or down.

    Of 356 combinations that ran here, this finds one that doesn't drift the same way in most
    trials: BBRv3 over a trace of LTE.
    """
    known = [_mean_drift("the queue", "in one trial", [pair]) for pair in pairs if pair is not None]
    far = [drift for drift in known if drift.size >= 1]
    return max(far, key=lambda drift: drift.size) if 2 * len(far) > trials else None


def _drift_of_all(owner: str, pairs: Sequence[Pair | None]) -> Drift | None:
    """Returns the drift of a share that the trials show together, though hardly one by itself."""
    known = [pair for pair in pairs if pair is not None]
    shown = _is_shown(known, 100 * SHARE_OF_ALL, LEVEL_OF_ALL)
    return _mean_drift("shares", owner, known) if shown else None


def _queue_of_all(pairs: Sequence[Pair | None]) -> Drift | None:
    """Returns the drift of a queue that the trials show together."""
    known = [pair for pair in pairs if pair is not None]
    drift = _mean_drift("the queue", "", known)
    least = QUEUE_OF_ALL * max(drift.early, drift.late)
    return drift if _is_shown(known, least, LEVEL_OF_QUEUES) else None


def _is_shown(pairs: Sequence[Pair], least: float, level: float) -> bool:
    """Returns True if halves differ by more than `least` and the interval of all trials."""
    changes = [late - early for early, late in pairs]
    enough = len(pairs) >= LEAST_TRIALS
    return enough and abs(mean(changes)) > max(least, half_width(changes, level))


def _mean_drift(quantity: str, owner: str, pairs: Sequence[Pair]) -> Drift:
    early, late = (mean([pair[half] for pair in pairs]) for half in (0, 1))
    return Drift(quantity, owner, early, late, _UNITS[quantity])
