"""Figure 10: 1 MB CUBIC flows beside a large BBR or CUBIC flow, over the buffer."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from narrows.metrics.intervals import difference_half_width, mean
from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval
from narrows.reproduce.mixed import testbed, times

RATE = 20


def cases(scope: Scope) -> Iterator[Case]:
    """Cells of Table I at 20 Mbit/s."""
    yield from times.cases(scope, RATE, "1mb")


measure = times.measure


def draw(data: Data) -> list[Picture]:
    """Completion times over the buffer, with their spread."""
    return times.pictures(
        data, "1 MB CUBIC flows beside a large flow", "Large flow of 30 MB, 20 Mbit/s, 45 ms"
    )


def judge(data: Data) -> list[Finding]:
    """The penalty beside BBR in small buffers, the gain in large ones."""
    return [Finding("mixed/fig10", [worst(data), clear(data), gain(data)])]


def penalties(data: Data, room: float) -> list[float]:
    """Mean completion time of each repetition beside BBR over that beside CUBIC."""
    rows = data["times"].filter((pl.col("beside") == "bbr") & (pl.col("buffer_bdp") == room))
    means = rows.group_by("trial", maintain_order=True).agg(pl.col("fct_s").mean())["fct_s"]
    return [value / times.mean(data, "cubic", room) for value in means.to_list()]


def worst(data: Data) -> Check:
    """Where the penalty is largest."""
    found = {room: penalties(data, room) for room in testbed.BUFFERS}
    words = ", ".join(f"{room:g} BDP: {interval(values)}" for room, values in found.items())
    largest = max(found.values(), key=mean)
    reach = difference_half_width(found[0.5], largest)
    return Check(
        "The largest penalty from BBR is at 0.5 BDP.",
        "Mean completion time of a repetition beside BBR over the mean of all beside CUBIC, by "
        "buffer. Passes if it is above 1.3 at 0.5 BDP and no other buffer has a larger one, by "
        "more than the 95 % interval of the difference.",
        "0.5 BDP",
        words,
        mean(found[0.5]) > 1.3 and mean(found[0.5]) >= mean(largest) - reach,
    )


def clear(data: Data) -> Check:
    """The penalty at 1 BDP."""
    value = times.penalty(data, 1.0)
    return Check(
        "It is clear at 1 BDP too.",
        "The same ratio at 1 BDP. Passes above 1.15.",
        "significantly longer",
        f"{value:.2f}",
        value > 1.15,
    )


def gain(data: Data) -> Check:
    """What it becomes in large buffers."""
    values = [times.penalty(data, room) for room in (4.0, 8.0)]
    return Check(
        "In large buffers CUBIC flows gain from BBR.",
        "The same ratio at 4 and 8 BDP. Passes if both are below 1.",
        "shorter beside BBR",
        f"{values[0]:.2f} and {values[1]:.2f}",
        max(values) < 1.0,
    )
