"""Figure 3: throughput of the large flow."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, median
from typing import TYPE_CHECKING

from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import between
from narrows.reproduce.mixed import grid, testbed

if TYPE_CHECKING:
    import polars as pl

    from narrows.store import StoredTrial


def cases(scope: Scope) -> Iterator[Case]:
    """The whole of Table I with flows of 1 MB."""
    yield from testbed.table(scope)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """What each run gave: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Throughput for every rate."""
    title = "Throughput of the large flow"
    caption = "Payload of the large flow over the time from its start to its end"
    return [Picture("", caption, grid.figure(data, "goodput_mbps", title, "Mbit/s"))]


def judge(data: Data) -> list[Finding]:
    """Constant, lower, far lower."""
    return [Finding("mixed/fig3", [constant(data), lower(data), far_lower(data)])]


def constant(data: Data) -> Check:
    """BBR-bbr over the buffers."""
    spread = grid.spreads(data, "goodput_mbps", "BBR-bbr")
    return between(
        "The large flow of BBR-bbr has the same throughput in every buffer.",
        "Highest over lowest mean throughput of the five buffers, median over the rates "
        f"(the largest is {max(spread):.2f}).",
        "constant",
        [median(spread)],
        (1.0, 1.25),
    )


def _against_large(data: Data, pair: str, room: float) -> list[float]:
    """Throughput at one buffer over the mean at 2 BDP and more, at each rate."""
    return [
        grid.mean(data, "goodput_mbps", pair, rate, room)
        / mean(grid.mean(data, "goodput_mbps", pair, rate, big) for big in (2.0, 4.0, 8.0))
        for rate in grid.rates(data)
    ]


def lower(data: Data) -> Check:
    """CUBIC-cubic at 0.5 BDP."""
    return between(
        "That of CUBIC-cubic is lower at 0.5 BDP.",
        "Mean throughput at 0.5 BDP over that at 2 BDP and more, median over the rates.",
        "a noticeable reduction",
        [median(_against_large(data, "CUBIC-cubic", 0.5))],
        (0.0, 0.9),
    )


def far_lower(data: Data) -> Check:
    """CUBIC-bbr against CUBIC-cubic in small buffers."""
    found = {
        pair: [median(_against_large(data, pair, room)) for room in (0.5, 1.0)]
        for pair in ("CUBIC-bbr", "CUBIC-cubic")
    }
    bbr, cubic = found["CUBIC-bbr"], found["CUBIC-cubic"]
    return Check(
        "That of CUBIC-bbr is far lower at 0.5 and 1 BDP, far more so than CUBIC-cubic's.",
        "Mean throughput there over that at 2 BDP and more, median over the rates. Passes if "
        "CUBIC-bbr keeps less than 0.6 of it at both, and at both less than 0.8 of the part "
        "that CUBIC-cubic keeps.",
        "far lower",
        f"CUBIC-bbr {bbr[0]:.2f} and {bbr[1]:.2f}, CUBIC-cubic {cubic[0]:.2f} and {cubic[1]:.2f}",
        max(bbr) < 0.6 and all(b < 0.8 * c for b, c in zip(bbr, cubic, strict=True)),
    )
