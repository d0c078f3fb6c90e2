"""Figure 2: completion times of 1 MB flows beside a large one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean, median
from typing import TYPE_CHECKING

from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds, per_trial

from . import grid, testbed

if TYPE_CHECKING:
    import polars as pl

    from narrows.report import Check
    from narrows.store import StoredTrial

COMPARED = ("BBR-cubic", "CUBIC-cubic")
CLOSEST = 2.0
V_CUBIC = "mixed/fig2-bbr-v-cubic"
SMALL, LARGE = (0.5, 1.0), (4.0, 8.0)


def cases(scope: Scope) -> Iterator[Case]:
    """All conditions of Table I, with flows of 1 MB."""
    yield from testbed.table(scope)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Completion times for every rate."""
    title = "Completion time of 1 MB flows beside a large one"
    caption = "Mean completion time of the 1 MB flows of a run"
    figure = grid.figure(data, "medium_s", title, "Completion (s)")
    return [Picture("", caption, figure)]


def judge(data: Data) -> list[Finding]:
    """The four patterns that the text names."""
    return [
        Finding("mixed/fig2-bbr-consistent", [consistent(data)]),
        Finding("mixed/fig2-cubic-bloat", [bloat(data)]),
        Finding(V_CUBIC, [shrinks(data), comparable(data), closest(data)]),
        Finding("mixed/fig2-cubic-v-bbr", [large_against_small(data), less(data)]),
    ]


def _ratio(data: Data, pair: str, over: Sequence[float], under: Sequence[float]) -> list[float]:
    """At each rate the mean completion time in some buffers over that in others."""
    return [
        mean(grid.mean(data, "medium_s", pair, rate, buffer) for buffer in over)
        / mean(grid.mean(data, "medium_s", pair, rate, buffer) for buffer in under)
        for rate in grid.rates(data)
    ]


def consistent(data: Data) -> Check:
    """BBR-bbr over the buffers."""
    return judge_bounds(
        data,
        "mixed/fig2-bbr-consistent",
        "even",
        "Completion times of BBR-bbr hardly change with the buffer.",
        "Mean completion time in each buffer over that in all five, at each rate.",
        grid.evenness_by_rate(data, "medium_s", "BBR-bbr"),
    )


def bloat(data: Data) -> Check:
    """CUBIC-cubic in large buffers against small ones."""
    by_rate = per_trial(data, lambda one: _ratio(one, "CUBIC-cubic", LARGE, SMALL))
    return judge_bounds(
        data,
        "mixed/fig2-cubic-bloat",
        "grows",
        "Completion times of CUBIC-cubic grow with the buffer.",
        "Mean completion time at 4 and 8 BDP over that at 0.5 and 1 BDP, at each rate.",
        {
            f"{rate} Mbit/s": [ratios[place] for ratios in by_rate]
            for place, rate in enumerate(grid.rates(data))
        },
    )


def shrinks(data: Data) -> Check:
    """BBR-cubic in small buffers against larger ones."""
    return judge_bounds(
        data,
        V_CUBIC,
        "shrinks",
        "Completion times of BBR-cubic grow as the buffer shrinks.",
        "Mean completion time at 0.5 BDP over that at 2 BDP and more, median over the rates.",
        per_trial(data, lambda one: median(_ratio(one, "BBR-cubic", (0.5,), (2.0, 4.0, 8.0)))),
    )


def comparable(data: Data) -> Check:
    """BBR-cubic in small buffers against CUBIC-cubic in large ones."""

    def ratio(one: Data) -> float:
        return median(
            mean(grid.mean(one, "medium_s", "BBR-cubic", rate, buffer) for buffer in SMALL)
            / mean(grid.mean(one, "medium_s", "CUBIC-cubic", rate, buffer) for buffer in LARGE)
            for rate in grid.rates(one)
        )

    return judge_bounds(
        data,
        V_CUBIC,
        "comparable",
        "At 0.5 and 1 BDP they are comparable to CUBIC-cubic's at 4 and 8 BDP.",
        "Ratio of the two mean completion times, median over the rates.",
        per_trial(data, ratio),
    )


def closest(data: Data) -> Check:
    """The buffer in which both pairs are closest."""
    apart = per_trial(data, _apart)
    others = [buffer for buffer in testbed.BUFFERS if buffer != CLOSEST]
    words = ", ".join(
        f"{buffer:g} BDP: {mean(factors[buffer] for factors in apart):.2f}"
        for buffer in testbed.BUFFERS
    )
    return judge_bounds(
        data,
        V_CUBIC,
        "closest",
        "At 2 BDP BBR-cubic and CUBIC-cubic are closest.",
        "The factor between the two mean completion times, mean over the rates: in another buffer "
        "less that at 2 BDP.",
        {f"{buffer:g} BDP": [f[buffer] - f[CLOSEST] for f in apart] for buffer in others},
        f" ({words})",
    )


def _apart(data: Data) -> dict[float, float]:
    """The factor between the times of BBR-cubic and CUBIC-cubic, by buffer."""
    found = {}
    for buffer in testbed.BUFFERS:
        bbr, cubic = (
            [grid.mean(data, "medium_s", pair, rate, buffer) for rate in grid.rates(data)]
            for pair in COMPARED
        )
        found[buffer] = mean(max(b / c, c / b) for b, c in zip(bbr, cubic, strict=True))
    return found


def large_against_small(data: Data) -> Check:
    """CUBIC-bbr in large buffers against small ones."""
    return judge_bounds(
        data,
        "mixed/fig2-cubic-v-bbr",
        "slowed",
        "In large buffers 1 MB BBR flows beside CUBIC slow down.",
        "Mean completion time of CUBIC-bbr at 4 and 8 BDP over that at 0.5 and 1 BDP, median over "
        "the rates.",
        per_trial(data, lambda one: median(_ratio(one, "CUBIC-bbr", LARGE, SMALL))),
    )


def less(data: Data) -> Check:
    """CUBIC-bbr against CUBIC-cubic in large buffers."""

    def time(one: Data, pair: str) -> float:
        cells = [(rate, buffer) for rate in grid.rates(one) for buffer in LARGE]
        return mean(grid.mean(one, "medium_s", pair, rate, buffer) for rate, buffer in cells)

    return judge_bounds(
        data,
        "mixed/fig2-cubic-v-bbr",
        "less",
        "They slow down less than CUBIC flows do.",
        "Mean completion time at 4 and 8 BDP over all rates, BBR flows over CUBIC flows.",
        per_trial(data, lambda one: time(one, "CUBIC-bbr") / time(one, "CUBIC-cubic")),
    )
