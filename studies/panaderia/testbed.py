"""The paper's testbed and its Table I, as conditions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from narrows.reproduce import run_frames
from narrows.reproduce.conditions import dumbbell, mix
from narrows.reproduce.exhibit import Case, Data, Scope
from narrows.reproduce.judging import interval, make_note

if TYPE_CHECKING:
    import polars as pl

    from narrows.report import Check
    from narrows.store import StoredTrial

RTT = "25ms"
RTT_S = 0.025
RATES = (40, 80, 120)
FLOWS = (2, 4, 8)
BUFFERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 4.0, 8.0)
QUICK_BUFFERS = (0.5, 1.0, 1.75, 4.0, 8.0)
TRIALS = 3
START_S, END_S = 120, 240
"""Minutes 2 to 4 are evaluated."""
MIXES = ("bbr", "cubic", "mix")
LATE_PROFILE = "linux-4.17"
LATENESS = "50us"
TIMERS = {"late": LATENESS, "perfect": "0s", "later": "100us"}
"""The delay of pacing timers; that of the testbed isn't known."""


def path(rate_mbps: float, buffer_bdp: float) -> dict[str, Any]:
    """A bottleneck of the testbed."""
    return {"rate": f"{rate_mbps:g}mbit", "rtt": RTT, "buffer": f"{buffer_bdp:g}bdp"}


def host(scope: Scope, lateness: str = LATENESS) -> dict[str, Any]:
    """The Raspberry Pis: late pacing timers, and the kernel that they ran."""
    return {"timer_lateness": lateness} if scope.profile == LATE_PROFILE else {}


def flows(kind: str, count: int) -> list[dict[str, Any]]:
    """`count` flows of BBR or CUBIC, or half of each."""
    if kind == "mix":
        return mix(bbr=count // 2, cubic=count // 2)
    return mix(**{kind: count})


def span_s(scope: Scope) -> tuple[int, int]:
    """Begin and end of the time that is counted."""
    part = 2 if scope.quick else 1
    return START_S // part, END_S // part


def span(scope: Scope) -> str:
    """The time that is counted, as in "120 to 240 s"."""
    return "{} to {} s".format(*span_s(scope))


def cell(
    scope: Scope,
    kind: str,
    count: int = 4,
    rate_mbps: int = 80,
    buffer_bdp: float = 1.0,
    lateness: str = LATENESS,
) -> Case:
    """One cell of Table I."""
    start_s, end_s = span_s(scope)
    spec = dumbbell(
        "panaderia",
        path(rate_mbps, buffer_bdp),
        flows(kind, count),
        profile=scope.profile,
        host=host(scope, lateness),
        duration=f"{end_s}s",
        warmup=f"{start_s}s",
        trials=TRIALS,
        sample_interval="500ms",
    )
    key: dict[str, str | int | float] = {
        "kind": kind,
        "flows": count,
        "rate_mbps": rate_mbps,
        "buffer_bdp": buffer_bdp,
    }
    return Case(key, spec)


def buffers(scope: Scope) -> tuple[float, ...]:
    """The buffers of Table I, or some of them."""
    return QUICK_BUFFERS if scope.quick else BUFFERS


def table(scope: Scope, kinds: tuple[str, ...] = MIXES, least_bdp: float = 0.0) -> Iterator[Case]:
    """The cells of Table I with at least `least_bdp` of buffer: flows, rates, controls, buffers."""
    rooms = [room for room in buffers(scope) if room >= least_bdp]
    for kind in kinds:
        for count in (4,) if scope.quick else FLOWS:
            for rate in (80,) if scope.quick else RATES:
                for room in rooms:
                    yield cell(scope, kind, count, rate, room)


def minute(
    scope: Scope,
    kind: str,
    buffer_bdp: float,
    rate_mbps: int = 80,
    *,
    trials: int = TRIALS,
    sample: str = "100ms",
) -> dict[str, Any]:
    """A run whose figure shows a steady minute: two minutes of warm-up, then three."""
    return dumbbell(
        "panaderia",
        path(rate_mbps, buffer_bdp),
        flows(kind, 4),
        profile=scope.profile,
        host=host(scope),
        duration="180s" if scope.quick else "300s",
        warmup="60s" if scope.quick else "120s",
        trials=trials,
        sample_interval=sample,
    )


def loss_rate(trial: StoredTrial) -> pl.DataFrame:
    """The bottleneck's loss in percent after the warm-up: one row, `percent`."""
    import polars as pl

    return run_frames.summary(trial).select((pl.col("loss_rate") * 100).alias("percent"))


def axis_ends(data: Data, axis: float, most: list[float]) -> Check:
    """Notes why the paper's axis ends where it does; `most` is the most that a class gets.

    Both figures have two flows of each kind.
    """
    mean = interval(data, [one / 2 for one in most], 3, " %")
    return make_note(
        f"The paper's axis ends at {axis:g} % of the rate, and its Figure 10 has nearly 100 % for "
        "the flows of BBR together in the same path. So Figures 8 and 9a show the mean of a kind's "
        "flows, of which two can't have more than 50 % each, or other runs.",
        "The highest throughput of a kind's flows in windows of 500 ms.",
        f"{interval(data, most, 3, ' %')} together, {mean} on the mean of the two",
    )
