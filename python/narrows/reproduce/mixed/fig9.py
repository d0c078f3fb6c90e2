"""Figure 9: completion times of 1 MB CUBIC flows beside 1 MB BBR or CUBIC flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.report import Check
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import between
from narrows.reproduce.mixed import testbed, times

if TYPE_CHECKING:
    from narrows.store import StoredTrial

RATE = 20
DURATION = "60s"


def cases(scope: Scope) -> Iterator[Case]:
    """Two rows of successive flows, one of CUBIC, one of either control."""
    for other in ("bbr", "cubic"):
        for room in testbed.BUFFERS:
            flows = [
                {"name": "cubic", "cca": "cubic", "size": "1mb", "repeat_gap": "0.1s"},
                {"name": "other", "cca": other, "size": "1mb", "start": "0.5s",
                 "repeat_gap": "0.1s"},
            ]  # fmt: skip
            spec = dumbbell(
                "mixed",
                testbed.path(RATE, room),
                flows,
                profile=scope.profile,
                host={"jitter": testbed.JITTER, "fq": True},
                duration=DURATION,
                trials=2 if scope.quick else testbed.REPETITIONS,
                record="summary",
            )
            yield Case({"beside": other, "buffer_bdp": room}, spec)


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
    """Even and steady beside CUBIC, slow and unsteady beside BBR in small buffers."""
    checks = [even(data), steady(data), slow(data), unsteady(data)]
    return [Finding("mixed/fig9", checks)]


def even(data: Data) -> Check:
    """Beside CUBIC over the buffers."""
    means = [times.mean(data, "cubic", room) for room in testbed.BUFFERS]
    return between(
        "Beside CUBIC the completion time is the same for every buffer.",
        "Longest over shortest mean completion time of the five buffers.",
        "no change with the buffer",
        [max(means) / min(means)],
        (1.0, 1.3),
    )


def steady(data: Data) -> Check:
    """The spread beside CUBIC."""
    spreads = [times.spread(data, "cubic", room) for room in testbed.BUFFERS]
    return between(
        "There it varies little.",
        "Largest standard deviation of the completion times of a buffer, in percent of their mean.",
        "very limited",
        [100 * max(spreads)],
        (0.0, 35.0),
        " %",
    )


def slow(data: Data) -> Check:
    """The mean beside BBR at 0.5 BDP."""
    ratio = times.mean(data, "bbr", 0.5) / times.mean(data, "cubic", 0.5)
    return between(
        "Beside BBR in a small buffer it is high.",
        "Mean completion time at 0.5 BDP beside BBR over that beside CUBIC.",
        "very high",
        [ratio],
        (1.5, float("inf")),
    )


def unsteady(data: Data) -> Check:
    """The spread beside BBR at 0.5 BDP."""
    bbr, cubic = (times.spread(data, kind, 0.5) for kind in ("bbr", "cubic"))
    return Check(
        "There it varies a lot.",
        "Standard deviation of the completion times at 0.5 BDP in percent of their mean. Passes if "
        "it is twice as large beside BBR as beside CUBIC.",
        "big variations",
        f"{100 * bbr:.0f} % beside BBR, {100 * cubic:.0f} % beside CUBIC",
        bbr >= 2 * cubic,
    )
