"""Figure 6: throughput of the large CUBIC flow beside medium flows of three sizes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from narrows.figures import frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, held, interval, per_trial
from narrows.reproduce.mixed import sizes, testbed

if TYPE_CHECKING:
    import polars as pl

    from narrows.report import Check
    from narrows.store import StoredTrial

HURT = 0.6


def cases(scope: Scope) -> Iterator[Case]:
    """Both controls, three sizes, all rates."""
    yield from sizes.cases(scope)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """What each run gave: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Throughput over the rate."""
    figure = sizes.figure(
        data, "goodput_mbps", "Throughput of a large CUBIC flow beside medium flows", "Mbit/s"
    )
    return [Picture("", "Payload of the large flow over its life", figure)]


def judge(data: Data) -> list[Finding]:
    """Up to which rate the BBR flows hurt, by their size."""
    return [Finding("mixed/fig6", [reach(data)])]


def hurt_up_to(data: Data, size: str) -> float:
    """The highest rate at which the large flow has less than `HURT` of what it has beside CUBIC."""
    bbr, cubic = (sizes.by_rate(data, "goodput_mbps", small, size) for small in ("bbr", "cubic"))
    rates = frames.column(bbr, "rate_mbps")
    low = frames.column(bbr, "mean") < HURT * frames.column(cubic, "mean")
    return float(rates[low].max()) if low.any() else 0.0


def reach(data: Data) -> Check:
    """The rates for the three sizes."""
    found = {size: per_trial(data, partial(hurt_up_to, size=size)) for size in sizes.SIZES}
    words = ", ".join(f"{sizes.SIZES[size]}: {interval(values)}" for size, values in found.items())
    return held(
        "mixed/fig6",
        "reach",
        "The larger the BBR flows, the higher the rate up to which they hurt.",
        f"The highest rate at which the large flow has less than {100 * HURT:g} % of its "
        "throughput beside CUBIC flows of the same size: for a size less that for the one before.",
        {
            f"{sizes.SIZES[b]} less {sizes.SIZES[a]}": differences(found[b], found[a])
            for a, b in pairwise(found)
        },
        f" ({words} Mbit/s)",
    )
