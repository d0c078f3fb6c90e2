"""Figure 3: throughput of the large flow."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import mean, median
from typing import TYPE_CHECKING

from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds, per_trial, ratios

from . import grid, testbed

if TYPE_CHECKING:
    import polars as pl

    from narrows.report import Check
    from narrows.store import StoredTrial


def cases(scope: Scope) -> Iterator[Case]:
    """The whole of Table I with flows of 1 MB."""
    yield from testbed.table(scope)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Throughput for every rate."""
    title = "Throughput of the large flow"
    caption = "Payload of the large flow over the time from its start to its end"
    return [Picture("", caption, grid.figure(data, "goodput_mbps", title, "Mbit/s"))]


def judge(data: Data) -> list[Finding]:
    """The throughput is constant, lower or far lower, depending on the pair."""
    return [Finding("mixed/fig3", [constant(data), lower(data), far_lower(data), more_so(data)])]


def constant(data: Data) -> Check:
    """BBR-bbr over the buffers."""
    return judge_bounds(
        data,
        "mixed/fig3",
        "constant",
        "The large flow of BBR-bbr has the same throughput in every buffer.",
        "Mean throughput in each buffer over that in all five, median over the rates.",
        grid.evenness(data, "goodput_mbps", "BBR-bbr"),
    )


def _against_large(data: Data, pair: str, buffer: float) -> list[float]:
    """Throughput at one buffer over the mean at 2 BDP and more, at each rate."""
    return [
        grid.mean(data, "goodput_mbps", pair, rate, buffer)
        / mean(grid.mean(data, "goodput_mbps", pair, rate, big) for big in (2.0, 4.0, 8.0))
        for rate in grid.rates(data)
    ]


def _median_part(data: Data, pair: str, buffer: float) -> list[float]:
    """The same, median over the rates, by trial."""
    return per_trial(data, lambda one: median(_against_large(one, pair, buffer)))


def lower(data: Data) -> Check:
    """CUBIC-cubic at 0.5 BDP."""
    return judge_bounds(
        data,
        "mixed/fig3",
        "lower",
        "That of CUBIC-cubic is lower at 0.5 BDP.",
        "Mean throughput at 0.5 BDP over that at 2 BDP and more, median over the rates.",
        _median_part(data, "CUBIC-cubic", 0.5),
    )


def far_lower(data: Data) -> Check:
    """CUBIC-bbr in small buffers."""
    return judge_bounds(
        data,
        "mixed/fig3",
        "far-lower",
        "That of CUBIC-bbr is far lower at 0.5 and 1 BDP.",
        "Mean throughput there over that at 2 BDP and more, median over the rates.",
        {f"{buffer:g} BDP": _median_part(data, "CUBIC-bbr", buffer) for buffer in (0.5, 1.0)},
    )


def more_so(data: Data) -> Check:
    """CUBIC-bbr against CUBIC-cubic in small buffers."""
    found = {
        f"{buffer:g} BDP": ratios(
            *(_median_part(data, pair, buffer) for pair in ("CUBIC-bbr", "CUBIC-cubic"))
        )
        for buffer in (0.5, 1.0)
    }
    return judge_bounds(
        data,
        "mixed/fig3",
        "more-so",
        "Far more so than CUBIC-cubic's.",
        "The part that CUBIC-bbr keeps there over the part that CUBIC-cubic keeps.",
        found,
    )
