"""Figure 4: utilisation of the bottleneck."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.mixed import grid, testbed, unstated

if TYPE_CHECKING:
    from narrows.store import StoredTrial

UNDERUSED = 0.85


def cases(scope: Scope) -> Iterator[Case]:
    """The whole of Table I with flows of 1 MB; CUBIC-bbr with super-packets, too."""
    yield from unstated.plain(testbed.table(scope))
    bursty = (case for case in testbed.table(scope) if case.key["pair"] == "CUBIC-bbr")
    yield from unstated.under(unstated.OFFLOAD, bursty)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """What each run gave: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Utilisation for every rate, in percent."""
    rows = unstated.only(data)["outcome"].with_columns(percent=100 * pl.col("utilization"))
    shown = Data({"outcome": rows}, data.scope)
    figure = grid.figure(shown, "percent", "Utilisation of the bottleneck", "Percent", top=102)
    return [Picture("", "Bytes that left the bottleneck while the large flow lasted", figure)]


def judge(data: Data) -> list[Finding]:
    """Where the link is underused, and by whom."""
    described = unstated.only(data)
    reason = unstated.reason(unstated.OFFLOAD, data, lambda varied: [others(varied)])
    return [Finding("mixed/fig4", [underused(described), others(described)], reason)]


def _low(data: Data, pair: str, rooms: tuple[float, ...]) -> dict[tuple[int, float], float]:
    """The cells of a pair in which the link is underused."""
    cells = {
        (rate, room): grid.mean(data, "utilization", pair, rate, room)
        for rate in grid.rates(data)
        for room in rooms
    }
    return {cell: value for cell, value in cells.items() if value < UNDERUSED}


def underused(data: Data) -> Check:
    """CUBIC-bbr in buffers up to 1 BDP."""
    found = {room: _low(data, "CUBIC-bbr", (room,)) for room in (0.5, 1.0)}
    words = [
        f"{room:g} BDP: "
        + (", ".join(f"{100 * v:.0f} % at {r}" for (r, _), v in low.items()) or "none")
        for room, low in found.items()
    ]
    return Check(
        "CUBIC-bbr leaves the link underused at some rates for buffers up to 1 BDP.",
        f"Rates in Mbit/s at which less than {100 * UNDERUSED:g} % is used. Passes if there are "
        "some at 0.5 BDP and some at 1 BDP.",
        "at some rates",
        "; ".join(words),
        all(found.values()),
    )


def others(data: Data) -> Check:
    """CUBIC-bbr in larger buffers."""
    found = _low(data, "CUBIC-bbr", (2.0, 4.0, 8.0))
    return Check(
        "In larger buffers it doesn't.",
        f"Cells of CUBIC-bbr from 2 BDP on with less than {100 * UNDERUSED:g} % used. Passes if "
        "there are none.",
        "none",
        f"{len(found)} cells",
        not found,
    )
