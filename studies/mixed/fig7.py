"""Figure 7: utilisation of the bottleneck beside medium flows of three sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from narrows.figures import frames
from narrows.figures.model import Guide
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, judge_bounds, per_trial

from . import sizes, testbed

if TYPE_CHECKING:
    import polars as pl

    from narrows.report import Check
    from narrows.store import StoredTrial

DIPS = {"500kb": 20.0, "1mb": 40.0, "2mb": 60.0}
STATED = tuple(Guide(at, sizes.SIZES[size], upright=True) for size, at in DIPS.items())


def cases(scope: Scope) -> Iterator[Case]:
    """Both controls, three sizes, all rates."""
    yield from sizes.cases(scope)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Utilisation over the rate, in percent."""
    title = "Utilisation beside medium flows of three sizes"
    figure = sizes.figure(data, "utilization", title, "Percent", 100.0, STATED)
    words = "Bytes that left the bottleneck while the large flow lasted; dashed: the study's dips"
    return [Picture("", words, figure)]


def judge(data: Data) -> list[Finding]:
    """The rates of the dips in utilisation."""
    return [Finding("mixed/fig7", [*dips(data), deeper(data)])]


def lowest(data: Data, small: str, size: str) -> tuple[float, float]:
    """The rate of the lowest utilisation, and that in percent."""
    rows = sizes.by_rate(data, "utilization", small, size)
    used = frames.column(rows, "mean")
    place = int(used.argmin())
    return float(frames.column(rows, "rate_mbps")[place]), 100 * float(used[place])


def dips(data: Data) -> list[Check]:
    """The rate at which the link is used least, for each size."""
    return [
        judge_bounds(
            data,
            "mixed/fig7",
            f"dip-{size}",
            f"With {sizes.SIZES[size]} BBR flows the utilisation dips at {stated:g} Mbit/s.",
            "The rate with the lowest utilisation in each repetition.",
            [rate for rate, _ in _lowest(data, "bbr", size)],
        )
        for size, stated in DIPS.items()
    ]


def _lowest(data: Data, small: str, size: str) -> list[tuple[float, float]]:
    return per_trial(data, lambda one: lowest(one, small, size))


def deeper(data: Data) -> Check:
    """The dips compared with those of CUBIC flows."""
    bbr, cubic = (
        {size: [used for _, used in _lowest(data, small, size)] for size in DIPS}
        for small in ("bbr", "cubic")
    )
    return judge_bounds(
        data,
        "mixed/fig7",
        "deeper",
        "The dip is BBR's doing: CUBIC flows of the same sizes leave none as deep.",
        "Lowest utilisation of each size with CUBIC flows less that with BBR flows.",
        {sizes.SIZES[size]: differences(cubic[size], bbr[size]) for size in DIPS},
    )
