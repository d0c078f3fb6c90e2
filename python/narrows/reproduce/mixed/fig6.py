"""Figure 6: throughput of the large CUBIC flow beside medium flows of three sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from narrows.figures import frames
from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.mixed import sizes, testbed

if TYPE_CHECKING:
    import polars as pl

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
    found = [hurt_up_to(data, size) for size in sizes.SIZES]
    words = ", ".join(
        f"{label}: {rate:g} Mbit/s" for label, rate in zip(sizes.SIZES.values(), found, strict=True)
    )
    return Check(
        "The larger the BBR flows, the higher the rate up to which they hurt.",
        f"The highest rate at which the large flow has less than {100 * HURT:g} % of its "
        "throughput beside CUBIC flows of the same size. Passes if it never falls with the size "
        "and is higher for 2 MB than for 500 KB.",
        "a higher rate for each size",
        words,
        found == sorted(found) and found[0] < found[-1],
    )
