"""What the figures of proposals share: a change of BBR beside BBR as it is.

In every run the BBR flows are called "tested", whichever variant they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

import polars as pl

from narrows.figures.model import Guide, Panel
from narrows.metrics.intervals import half_width
from narrows.report import Check
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data
from narrows.reproduce.judging import interval
from narrows.store import StoredTrial

TESTED = "tested"
PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Variant:
    """A BBR: its label in figures, its colour, and its options."""

    label: str
    colour: str
    options: Mapping[str, float | str | bool] = field(default_factory=dict)
    cca: str = "bbr"

    def flows(self, count: int, **others: int) -> list[dict[str, Any]]:
        """`count` flows of it, beside others, whose numbers are given by control."""
        own = {
            "name": TESTED,
            "cca": self.cca,
            "count": count,
            "options": dict(self.options),
        }
        return [own, *({"cca": cca, "count": number} for cca, number in others.items())]


AS_IT_IS = Variant("BBR", "bbr")
Make = Callable[[list[dict[str, Any]], float], dict[str, Any]]
"""A specification from flows and the buffer in BDP."""


def cells(
    variants: Mapping[str, Variant],
    mixes: Mapping[str, Mapping[str, int]],
    buffers: Sequence[float],
    make: Make,
) -> Iterator[Case]:
    """Every variant, plain BBR among them, in every mix and buffer.

    A mix names the number of BBR flows as `bbr`, and of others by control.
    """
    for name, variant in variants.items():
        for mix, counts in mixes.items():
            rest = {cca: count for cca, count in counts.items() if cca != "bbr"}
            for room in buffers:
                spec = make(variant.flows(counts["bbr"], **rest), room)
                yield Case({"variant": name, "mix": mix, "buffer_bdp": room}, spec)


def outcome(trial: StoredTrial) -> pl.DataFrame:
    """One row: loss, utilisation and share in percent, queue in BDP, delay of BBR in ms."""
    return run_frames.summary(trial).select(
        (pl.col("loss_rate") * 100).alias("loss"),
        (pl.col("utilization") * 100).alias("utilization"),
        pl.col("queue_mean_bdp").alias("queue"),
        (pl.col(f"{TESTED}.share") * 100).alias("share"),
        pl.col(f"{TESTED}.delay_p95_ms").alias("delay_p95"),
        pl.col(f"{TESTED}.delay_p99_ms").alias("delay_p99"),
    )


def values(data: Data, value: str, **where: str | float) -> list[float]:
    """A column of `outcome` in each trial of one condition."""
    rows = data["outcome"]
    for column, wanted in where.items():
        rows = rows.filter(pl.col(column) == wanted)
    return [float(v) for v in rows[value].drop_nulls().to_list()]


def panel(
    data: Data,
    value: str,
    y_label: str,
    variants: Mapping[str, Variant],
    mix: str,
    *,
    title: str = "",
    guides: tuple[Guide, ...] = (),
    top: float | None = None,
) -> Panel:
    """A value over the buffer, a line for each variant with the range of its trials."""
    lines = []
    for name, variant in variants.items():
        rows = data["outcome"].filter((pl.col("variant") == name) & (pl.col("mix") == mix))
        found = spread.over(rows, "buffer_bdp", value)
        lines.append(spread.line(found, "buffer_bdp", variant.label, variant.colour))
    marks = tuple(lines)
    return Panel("Buffer (BDP)", y_label, marks, title=title, y_range=(0, top), guides=guides)


def less(
    data: Data,
    statement: str,
    value: str,
    unit: str,
    variant: str,
    mix: str,
    buffers: Sequence[float],
    *,
    most: float = 1.0,
) -> Check:
    """A check that the variant has less of a value than plain BBR in each of some buffers."""
    pairs = [
        (
            values(data, value, variant=variant, mix=mix, buffer_bdp=room),
            values(data, value, variant=PLAIN, mix=mix, buffer_bdp=room),
        )
        for room in buffers
    ]
    told = ", ".join(
        f"{interval(new, 3, unit)} instead of {interval(old, 3, unit)} at {room:g} BDP"
        for room, (new, old) in zip(buffers, pairs, strict=True)
    )
    factor = "" if most == 1.0 else f" {most:g} times"
    return Check(
        statement,
        f"Means over trials ({_words(value)}; {mix}). Passes if the proposal's is below{factor} "
        "that of BBR as it is in every buffer named.",
        "less",
        told,
        all(mean(new) < most * mean(old) for new, old in pairs),
    )


def not_less(
    data: Data,
    statement: str,
    value: str,
    unit: str,
    variant: str,
    mix: str,
    buffers: Sequence[float],
    *,
    points: float,
) -> Check:
    """A check that the variant has no less of a value than plain BBR, but for some points."""
    worst, told = float("inf"), []
    for room in buffers:
        new = values(data, value, variant=variant, mix=mix, buffer_bdp=room)
        old = values(data, value, variant=PLAIN, mix=mix, buffer_bdp=room)
        worst = min(worst, mean(new) - mean(old))
        told.append(f"{interval(new, 3, unit)} instead of {interval(old, 3, unit)}, {room:g} BDP")
    return Check(
        statement,
        f"Means over trials ({_words(value)}; {mix}). Passes if none is more than {points:g} "
        "points below that of BBR as it is.",
        "no less",
        "; ".join(told),
        worst >= -points,
    )


def fairer(
    data: Data,
    statement: str,
    variant: str,
    mix: str,
    buffers: Sequence[float],
) -> Check:
    """A check that BBR's share, of half the flows, is nearer to one half than plain BBR's."""
    told, passed = [], True
    for room in buffers:
        new = values(data, "share", variant=variant, mix=mix, buffer_bdp=room)
        old = values(data, "share", variant=PLAIN, mix=mix, buffer_bdp=room)
        passed = passed and abs(mean(new) - 50) < abs(mean(old) - 50)
        told.append(f"{interval(new, 3, ' %')} instead of {interval(old, 3, ' %')}, {room:g} BDP")
    return Check(
        statement,
        f"BBR's share of the goodput with as many flows of each kind ({mix}), means over trials. "
        "Passes if it is nearer to 50 % in every buffer named.",
        "nearer to one half",
        "; ".join(told),
        passed,
    )


def clearly_more(new: Sequence[float], old: Sequence[float]) -> bool:
    """Whether the 95 % intervals of two means don't meet and the first lies above."""
    return mean(new) - half_width(new) > mean(old) + half_width(old)


def _words(value: str) -> str:
    return {
        "loss": "packets dropped of packets arrived",
        "queue": "the queue's mean length",
        "utilization": "utilisation of the link",
        "share": "BBR's share of the goodput",
        "delay_p95": "95th percentile of BBR's queueing delay",
        "delay_p99": "99th percentile of BBR's queueing delay",
    }[value]
