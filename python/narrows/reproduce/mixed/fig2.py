"""Figure 2: completion times of 1 MB flows beside a large one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import mean, median
from typing import TYPE_CHECKING

from narrows.report import Check
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import between
from narrows.reproduce.mixed import grid, testbed, unstated

if TYPE_CHECKING:
    import polars as pl

    from narrows.store import StoredTrial

COMPARED = ("BBR-cubic", "CUBIC-cubic")
SMALL, LARGE = (0.5, 1.0), (4.0, 8.0)


def cases(scope: Scope) -> Iterator[Case]:
    """The whole of Table I with flows of 1 MB; those of CUBIC with super-packets, too."""
    yield from unstated.plain(testbed.table(scope))
    compared = (case for case in testbed.table(scope) if case.key["pair"] in COMPARED)
    yield from unstated.under(unstated.OFFLOAD, compared)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """What each run gave: one row."""
    return {"outcome": testbed.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Completion times for every rate."""
    title = "Completion time of 1 MB flows beside a large one"
    caption = "Mean completion time of the 1 MB flows of a run"
    figure = grid.figure(unstated.only(data), "medium_s", title, "Completion (s)")
    return [Picture("", caption, figure)]


def judge(data: Data) -> list[Finding]:
    """The four patterns that the text names."""
    described = unstated.only(data)

    def checks(varied: Data) -> list[Check]:
        return [shrinks(varied), comparable(varied), on_both_sides(described, varied)]

    reason = unstated.reason(unstated.OFFLOAD, data, checks)
    data = described
    return [
        Finding("mixed/fig2-bbr-consistent", [consistent(data)]),
        Finding("mixed/fig2-cubic-bloat", [bloat(data)]),
        Finding("mixed/fig2-bbr-v-cubic", [shrinks(data), comparable(data), closest(data)], reason),
        Finding("mixed/fig2-cubic-v-bbr", [slowed(data), less(data)]),
    ]


def _ratio(data: Data, pair: str, over: Sequence[float], under: Sequence[float]) -> list[float]:
    """At each rate the mean completion time in some buffers over that in others."""
    return [
        mean(grid.mean(data, "medium_s", pair, rate, room) for room in over)
        / mean(grid.mean(data, "medium_s", pair, rate, room) for room in under)
        for rate in grid.rates(data)
    ]


def consistent(data: Data) -> Check:
    """BBR-bbr over the buffers."""
    spread = grid.spreads(data, "medium_s", "BBR-bbr")
    return between(
        "Completion times of BBR-bbr hardly change with the buffer.",
        "Longest over shortest mean completion time of the five buffers, median over the rates "
        f"(the largest is {max(spread):.2f}).",
        "hardly any change",
        [median(spread)],
        (1.0, 1.35),
    )


def bloat(data: Data) -> Check:
    """CUBIC-cubic in large buffers against small ones."""
    ratios = _ratio(data, "CUBIC-cubic", LARGE, SMALL)
    return between(
        "Completion times of CUBIC-cubic grow with the buffer.",
        "Mean completion time at 4 and 8 BDP over that at 0.5 and 1 BDP, the least of all rates "
        f"(the median is {median(ratios):.2f}).",
        "4 and 8 BDP are worst",
        [min(ratios)],
        (1.2, float("inf")),
    )


def shrinks(data: Data) -> Check:
    """BBR-cubic in small buffers against larger ones."""
    ratios = _ratio(data, "BBR-cubic", (0.5,), (2.0, 4.0, 8.0))
    return between(
        "Completion times of BBR-cubic grow as the buffer shrinks.",
        "Mean completion time at 0.5 BDP over that at 2 BDP and more, median over the rates.",
        "a clear growth",
        [median(ratios)],
        (1.3, float("inf")),
    )


def comparable(data: Data) -> Check:
    """BBR-cubic in small buffers against CUBIC-cubic in large ones."""
    ratios = [
        mean(grid.mean(data, "medium_s", "BBR-cubic", rate, room) for room in SMALL)
        / mean(grid.mean(data, "medium_s", "CUBIC-cubic", rate, room) for room in LARGE)
        for rate in grid.rates(data)
    ]
    return between(
        "At 0.5 and 1 BDP they are comparable to CUBIC-cubic's at 4 and 8 BDP.",
        "Ratio of the two mean completion times, median over the rates.",
        "comparable",
        [median(ratios)],
        (0.5, 2.0),
    )


def closest(data: Data) -> Check:
    """The buffer at which both pairs are nearest to each other."""
    apart = _apart(data)
    found = min(apart, key=apart.__getitem__)
    each = ", ".join(f"{room:g} BDP: {factor:.2f}" for room, factor in apart.items())
    return Check(
        "At 2 BDP BBR-cubic and CUBIC-cubic are closest.",
        "By which factor the two mean completion times differ, mean over the rates, for each "
        "buffer. Passes if it is least at 2 BDP.",
        "2 BDP",
        f"{found:g} BDP ({each})",
        found == 2.0,
    )


def _apart(data: Data) -> dict[float, float]:
    """By which factor the times of BBR-cubic and CUBIC-cubic differ, by buffer."""
    found = {}
    for room in testbed.BUFFERS:
        bbr, cubic = (
            [grid.mean(data, "medium_s", pair, rate, room) for rate in grid.rates(data)]
            for pair in COMPARED
        )
        found[room] = mean(max(b / c, c / b) for b, c in zip(bbr, cubic, strict=True))
    return found


def on_both_sides(described: Data, offload: Data) -> Check:
    """The buffer at which the pairs are nearest, without and with super-packets."""
    places = []
    for data in (described, offload):
        apart = _apart(data)
        places.append(min(apart, key=apart.__getitem__))
    return Check(
        "The buffer at which the two pairs are closest lies on the other side of 2 BDP.",
        "Where the factor between the two mean completion times is least. Passes if 2 BDP is "
        "between the places without and with super-packets, or one of them.",
        "around 2 BDP",
        f"{places[0]:g} BDP without, {places[1]:g} BDP with",
        min(places) <= 2.0 <= max(places),
    )


def slowed(data: Data) -> Check:
    """CUBIC-bbr in large buffers against small ones."""
    return between(
        "In large buffers 1 MB BBR flows beside CUBIC slow down.",
        "Mean completion time of CUBIC-bbr at 4 and 8 BDP over that at 0.5 and 1 BDP, median over "
        "the rates.",
        "slower",
        [median(_ratio(data, "CUBIC-bbr", LARGE, SMALL))],
        (1.1, float("inf")),
    )


def less(data: Data) -> Check:
    """The same of CUBIC-bbr against CUBIC-cubic."""
    bbr, cubic = (median(_ratio(data, pair, LARGE, SMALL)) for pair in ("CUBIC-bbr", "CUBIC-cubic"))
    times = {
        pair: mean(
            grid.mean(data, "medium_s", pair, rate, room)
            for rate in grid.rates(data)
            for room in LARGE
        )
        for pair in ("CUBIC-bbr", "CUBIC-cubic")
    }
    return Check(
        "They slow down less than CUBIC flows do.",
        "Mean completion time at 4 and 8 BDP over all rates. Passes if it is lower for BBR flows.",
        "less",
        f"{times['CUBIC-bbr']:.2f} s against {times['CUBIC-cubic']:.2f} s (slower than in small "
        f"buffers by factors of {bbr:.2f} and {cubic:.2f})",
        times["CUBIC-bbr"] < times["CUBIC-cubic"],
    )
