"""Figure 4: utilisation of the bottleneck."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, make_note, per_trial

from . import grid, testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial


NOTICEABLE = 0.98
"""A smaller reduction isn't visible in bars."""


QUICK_TRIALS = 8
"""With three, four rates don't tell what happens at most of them."""


def cases(scope: Scope) -> Iterator[Case]:
    """The whole of Table I with flows of 1 MB."""
    yield from testbed.table(scope, **({"trials": QUICK_TRIALS} if scope.quick else {}))


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Utilisation for every rate, in percent."""
    rows = data["outcome"].with_columns(percent=100 * pl.col("utilization"))
    shown = replace(data, frames={"outcome": rows})
    figure = grid.figure(shown, "percent", "Utilisation of the bottleneck", "Percent", top=102)
    return [Picture("", "Bytes that left the bottleneck while the large flow lasted", figure)]


def judge(data: Data) -> list[Finding]:
    """Which pairs underuse the link, and in which buffers."""
    return [
        Finding("mixed/fig4", [utilisation(data)], notes=[others(data)]),
        Finding("mixed/fig4-cubic", [lower(data)]),
    ]


def utilisation(data: Data) -> Check:
    """CUBIC-bbr in buffers up to 1 BDP."""

    def least(one: Data, buffer: float) -> float:
        used = (
            grid.mean(one, "utilization", "CUBIC-bbr", rate, buffer) for rate in grid.rates(one)
        )
        return 100 * min(used)

    return judge_bounds(
        data,
        "mixed/fig4",
        "underused",
        "CUBIC-bbr leaves the link underused at some rates for buffers up to 1 BDP.",
        "The least utilisation of all rates in each of these buffers.",
        {
            f"{buffer:g} BDP": per_trial(data, partial(least, buffer=buffer))
            for buffer in (0.5, 1.0)
        },
    )


def others(data: Data) -> Check:
    """CUBIC-bbr in larger buffers."""
    cells = [(rate, buffer) for rate in grid.rates(data) for buffer in (2.0, 4.0, 8.0)]
    found = {
        f"{rate} Mbit/s, {buffer:g} BDP": [
            100 * used for used in grid.cell(data, "utilization", "CUBIC-bbr", rate, buffer)
        ]
        for rate, buffer in cells
    }
    least = min(found, key=lambda name: sum(found[name]) / len(found[name]))
    return make_note(
        "What it leaves in larger buffers; the study doesn't speak of these.",
        "The least utilisation of all rates from 2 BDP on.",
        f"{interval(data, found[least], 3, ' %')} at {least}",
    )


def lower(data: Data) -> Check:
    """CUBIC-cubic at 0.5 BDP against larger buffers."""

    def part(one: Data) -> float:
        less = [
            grid.mean(one, "utilization", "CUBIC-cubic", rate, 0.5)
            < NOTICEABLE * grid.mean(one, "utilization", "CUBIC-cubic", rate, 2.0)
            for rate in grid.rates(one)
        ]
        return 100 * sum(less) / len(less)

    return judge_bounds(
        data,
        "mixed/fig4-cubic",
        "lower",
        "CUBIC-cubic leaves some of the link unused at 0.5 BDP in most cases.",
        f"Rates at which less than {100 * NOTICEABLE:g} % of what is used at 2 BDP is used.",
        per_trial(data, part),
    )
