"""Shared parts of the figures of proposals, which compare a change of BBR with plain BBR.

In every run the BBR flows are called "tested", whichever variant they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from narrows.figures.model import Guide, Panel
from narrows.late import pl
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data
from narrows.reproduce.judging import differences, interval, ratios
from narrows.store import StoredTrial

TESTED = "tested"
PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Variant:
    """A version of BBR: its label in figures, its colour, and its options."""

    label: str
    colour: str
    options: Mapping[str, float | str | bool] = field(default_factory=dict)
    cca: str = "bbr"

    def flows(self, count: int, **others: int) -> list[dict[str, Any]]:
        """Returns `count` flows of the variant, beside others in numbers given by control."""
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
    """Yields every variant, plain BBR among them, in every mix and buffer.

    A mix gives the number of BBR flows as `bbr`, and of others by control.
    """
    for name, variant in variants.items():
        for mix, counts in mixes.items():
            rest = {cca: count for cca, count in counts.items() if cca != "bbr"}
            for room in buffers:
                spec = make(variant.flows(counts["bbr"], **rest), room)
                yield Case({"variant": name, "mix": mix, "buffer_bdp": room}, spec)


def outcome(trial: StoredTrial) -> pl.DataFrame:
    """Returns one row: loss, utilization and share in per cent, queue in BDP, BBR's delay in ms."""
    return run_frames.summary(trial).select(
        (pl.col("loss_rate") * 100).alias("loss"),
        (pl.col("utilization") * 100).alias("utilization"),
        pl.col("queue_mean_bdp").alias("queue"),
        (pl.col(f"{TESTED}.share") * 100).alias("share"),
        pl.col(f"{TESTED}.delay_p95_ms").alias("delay_p95"),
        pl.col(f"{TESTED}.delay_p99_ms").alias("delay_p99"),
    )


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
    """Returns a value over the buffer, a line for each variant with the range of its trials."""
    lines = []
    for name, variant in variants.items():
        rows = data["outcome"].filter((pl.col("variant") == name) & (pl.col("mix") == mix))
        found = spread.over(rows, "buffer_bdp", value)
        lines.append(spread.line(found, "buffer_bdp", variant.label, variant.colour))
    marks = tuple(lines)
    return Panel("Buffer (BDP)", y_label, marks, title=title, y_range=(0, top), guides=guides)


def against_plain(
    data: Data, value: str, variant: str, mix: str, buffers: Sequence[float]
) -> dict[str, list[float]]:
    """Returns a value with the variant over that with plain BBR, in every buffer and trial."""
    return {f"{room:g} BDP": ratios(*_pair(data, value, variant, mix, room)) for room in buffers}


def more_than_plain(
    data: Data, value: str, variant: str, mix: str, buffers: Sequence[float]
) -> dict[str, list[float]]:
    """Returns a value with the variant minus that with plain BBR, in every buffer and trial."""
    return {
        f"{room:g} BDP": differences(*_pair(data, value, variant, mix, room)) for room in buffers
    }


def off_half(
    data: Data, variant: str, mix: str, buffers: Sequence[float]
) -> dict[str, list[float]]:
    """Returns the distance of BBR's share from one half, relative to plain BBR's distance."""
    pairs = {room: _pair(data, "share", variant, mix, room) for room in buffers}
    return {
        f"{room:g} BDP": ratios([abs(v - 50) for v in new], [abs(v - 50) for v in old])
        for room, (new, old) in pairs.items()
    }


def _pair(
    data: Data, value: str, variant: str, mix: str, room: float
) -> tuple[list[float], list[float]]:
    """Returns the values with the variant and with plain BBR."""
    new, old = (
        data.values(value, variant=name, mix=mix, buffer_bdp=room) for name in (variant, PLAIN)
    )
    return new, old


def as_measured(
    data: Data, value: str, unit: str, variant: str, mix: str, buffers: Sequence[float]
) -> str:
    """Returns the values of a variant and of plain BBR, in words."""
    words = []
    for buffer in buffers:
        new, old = _pair(data, value, variant, mix, buffer)
        words.append(
            f"{interval(data, new, 3, unit)} instead of {interval(data, old, 3, unit)}, "
            f"{buffer:g} BDP"
        )
    return f" ({'; '.join(words)})"


WORDS = {
    "loss": "packets dropped of packets arrived",
    "queue": "the queue's mean length",
    "utilization": "utilisation of the link",
    "share": "BBR's share of the goodput",
    "delay_p99": "99th percentile of BBR's queueing delay",
}
"""The columns of `outcome` in words."""
