"""Figure 9: completion times of 1 MB CUBIC flows beside 1 MB BBR or CUBIC flows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, per_trial, ratios

from . import testbed, times

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

RATE = 20
DURATION = "60s"


def cases(scope: Scope) -> Iterator[Case]:
    """Two chains of successive flows: one of CUBIC, one of BBR or CUBIC."""
    for other in ("bbr", "cubic"):
        for buffer in testbed.BUFFERS:
            flows = [
                {"name": "cubic", "cca": "cubic", "size": "1mb", "repeat_gap": "0.1s"},
                {"name": "other", "cca": other, "size": "1mb", "start": "0.5s",
                 "repeat_gap": "0.1s"},
            ]  # fmt: skip
            spec = dumbbell(
                "mixed",
                testbed.path(RATE, buffer),
                flows,
                profile=scope.profile,
                host={"jitter": testbed.JITTER, "fq": True},
                duration=DURATION,
                trials=3 if scope.quick else testbed.REPETITIONS,
                record="summary",
            )
            yield Case({"beside": other, "buffer_bdp": buffer}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Completion times of the CUBIC flows that are measured."""
    rows = testbed.smaller(trial).filter(pl.col("name") == "cubic")
    return {"times": rows.drop("name")}


def draw(data: Data) -> list[Picture]:
    """Completion times over the buffer, with their spread."""
    return times.pictures(
        data, "1 MB CUBIC flows beside 1 MB flows", "Two rows of successive flows, 20 Mbit/s, 45 ms"
    )


def judge(data: Data) -> list[Finding]:
    """Flows are equally fast beside CUBIC, but slow and variable beside BBR in small buffers."""
    checks = [even(data), steady(data), slow(data), unsteady(data)]
    return [Finding("mixed/fig9", checks)]


def even(data: Data) -> Check:
    """Completion times beside CUBIC over the buffers."""

    def part(one: Data, buffer: float) -> float:
        means = {b: times.mean(one, "cubic", b) for b in testbed.BUFFERS}
        return means[buffer] * len(means) / sum(means.values())

    return judge_bounds(
        data,
        "mixed/fig9",
        "even",
        "Beside CUBIC the completion time is the same for every buffer.",
        "Mean completion time in each buffer over that in all five.",
        {f"{b:g} BDP": per_trial(data, partial(part, buffer=b)) for b in testbed.BUFFERS},
    )


def _spreads(data: Data, beside: str, buffer: float) -> list[float]:
    return per_trial(data, lambda one: 100 * times.spread(one, beside, buffer))


def steady(data: Data) -> Check:
    """The spread beside CUBIC."""
    return judge_bounds(
        data,
        "mixed/fig9",
        "steady",
        "There it varies little.",
        "Standard deviation of the completion times in each buffer, in percent of their mean.",
        {f"{b:g} BDP": _spreads(data, "cubic", b) for b in testbed.BUFFERS},
    )


def slow(data: Data) -> Check:
    """The mean completion time beside BBR at 0.5 BDP."""
    return judge_bounds(
        data,
        "mixed/fig9",
        "slow",
        "Beside BBR in a small buffer it is high.",
        "Mean completion time at 0.5 BDP beside BBR over that beside CUBIC.",
        per_trial(data, lambda one: times.penalty(one, 0.5)),
    )


def unsteady(data: Data) -> Check:
    """The spread beside BBR at 0.5 BDP."""
    bbr, cubic = (_spreads(data, kind, 0.5) for kind in ("bbr", "cubic"))
    return judge_bounds(
        data,
        "mixed/fig9",
        "unsteady",
        "There it varies a lot.",
        "Standard deviation of the completion times at 0.5 BDP in percent of their mean: beside "
        "BBR over that beside CUBIC.",
        ratios(bbr, cubic),
        f" ({interval(data, bbr)} % beside BBR, {interval(data, cubic)} % beside CUBIC)",
    )
