"""Figure 6: throughput of the large CUBIC flow beside medium flows of three sizes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, interval, judge_bounds, per_trial

from . import sizes, testbed

if TYPE_CHECKING:
    import polars as pl

    from narrows.report import Check
    from narrows.store import StoredTrial

LOW = 20.0


def cases(scope: Scope) -> Iterator[Case]:
    """Both controls, three sizes, all rates."""
    yield from sizes.cases(scope)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Throughput over the rate."""
    figure = sizes.figure(
        data, "goodput_mbps", "Throughput of a large CUBIC flow beside medium flows", "Mbit/s"
    )
    return [Picture("", "Payload of the large flow over its life", figure)]


def judge(data: Data) -> list[Finding]:
    """The rates at which BBR flows hurt, by their size."""
    return [Finding("mixed/fig6", [low(data), reach(data)])]


def throughput_ratio(data: Data, size: str, rate: float) -> float:
    """The large flow's throughput beside BBR flows over that beside CUBIC flows."""
    bbr, cubic = (
        sizes.by_rate(data, "goodput_mbps", small, size).filter(pl.col("rate_mbps") == rate)["mean"]
        for small in ("bbr", "cubic")
    )
    return float(bbr.item() / cubic.item())


def low(data: Data) -> Check:
    """The low rates, at which flows of every size hurt."""
    return judge_bounds(
        data,
        "mixed/fig6",
        "low",
        "At low rates BBR flows of every size hurt the large flow.",
        f"Its throughput beside BBR flows over that beside CUBIC flows of the same size, mean over "
        f"the rates up to {LOW:g} Mbit/s.",
        {label: per_trial(data, partial(_mean, size=size)) for size, label in sizes.SIZES.items()},
    )


def _mean(data: Data, size: str) -> float:
    rates = [rate for rate in data["outcome"]["rate_mbps"].unique() if rate <= LOW]
    return sum(throughput_ratio(data, size, rate) for rate in rates) / len(rates)


def reach(data: Data) -> Check:
    """The highest rate, at which only large flows hurt."""
    top = float(str(data["outcome"]["rate_mbps"].max()))
    found = {
        size: per_trial(data, partial(throughput_ratio, size=size, rate=top))
        for size in sizes.SIZES
    }
    words = ", ".join(
        f"{sizes.SIZES[size]}: {interval(data, values)}" for size, values in found.items()
    )
    return judge_bounds(
        data,
        "mixed/fig6",
        "reach",
        "The larger they are, the more they do so at high rates.",
        f"The same ratio at {top:g} Mbit/s: that for a size less that for the one before.",
        {
            f"{sizes.SIZES[b]} less {sizes.SIZES[a]}": differences(found[b], found[a])
            for a, b in pairwise(found)
        },
        f" ({words})",
    )
