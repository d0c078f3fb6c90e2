"""The study's Table I, as conditions: a large flow beside successive smaller ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from narrows.metrics.equivalence import LEAST_TRIALS
from narrows.reproduce import run_frames
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Case, Key, Scope

if TYPE_CHECKING:
    from narrows.store import StoredTrial

RATES = (5, 10, 20, 30, 40, 50, 60, 70)
BUFFERS = (0.5, 1.0, 2.0, 4.0, 8.0)
PAIRS = (("bbr", "bbr"), ("bbr", "cubic"), ("cubic", "bbr"), ("cubic", "cubic"))
REPETITIONS = 10
QUICK_RATES = (5, 20, 40, 60)
RTT_MS = 45
JITTER = "20us"


def pair_name(large: str, small: str) -> str:
    """The study's notation: the large flow in capitals."""
    return f"{large.upper()}-{small}"


def spec(
    scope: Scope,
    large: str,
    small: str,
    rate_mbps: float,
    buffer_bdp: float,
    *,
    size: str = "1mb",
    large_size: str = "30mb",
    gap: str = "0.1s",
    repetitions: int = REPETITIONS,
    **run: Any,  # noqa: ANN401 (keys of the table `run`)
) -> dict[str, Any]:
    """A large flow; half a second later the first of successive smaller ones."""
    flows = [
        {"name": "large", "cca": large, "size": large_size},
        {"name": "small", "cca": small, "size": size, "start": "0.5s", "repeat_gap": gap,
         "while": "large"},
    ]  # fmt: skip
    return dumbbell(
        "mixed",
        path(rate_mbps, buffer_bdp),
        flows,
        profile=scope.profile,
        host={"jitter": JITTER, "fq": True},
        **{
            "duration": "900s",
            "stop_when": "large",
            "trials": min(repetitions, LEAST_TRIALS) if scope.quick else repetitions,
            "record": "summary",
            **run,
        },
    )


def path(rate_mbps: float, buffer_bdp: float) -> dict[str, Any]:
    """A bottleneck of the study."""
    return {"rate": f"{rate_mbps:g}mbit", "rtt": f"{RTT_MS}ms", "buffer": f"{buffer_bdp:g}bdp"}


def rates(scope: Scope) -> tuple[int, ...]:
    """The rates of Table I, or some of them."""
    return QUICK_RATES if scope.quick else RATES


def table(scope: Scope, **run: Any) -> Iterator[Case]:  # noqa: ANN401 (keys of the table `run`)
    """All four pairs over all rates and buffers, with flows of 1 MB."""
    for large, small in PAIRS:
        for rate in rates(scope):
            for buffer in BUFFERS:
                key: Key = {
                    "pair": pair_name(large, small), "rate_mbps": rate, "buffer_bdp": buffer,
                }  # fmt: skip
                yield Case(key, spec(scope, large, small, rate, buffer, **run))


def outcome(trial: StoredTrial) -> pl.DataFrame:
    """One row: the large flow's results, and the utilisation while it lasted.

    `goodput_mbps` (of its life), `fct_s`, `utilization`, `medium_s` (mean completion time of the
    others; if none completed before the large flow, its time is a lower bound).
    """
    done = run_frames.completions(trial)
    large, small = (done.filter(pl.col("name") == name) for name in ("large", "small"))
    fct = large["fct_s"].first()
    size = large["size_bytes"].first()
    goodput = None if fct is None or size is None else float(str(size)) * 8e-6 / float(str(fct))
    medium = fct if small["fct_s"].is_empty() else small["fct_s"].mean()
    return run_frames.summary(trial).select(
        pl.lit(goodput, dtype=pl.Float64).alias("goodput_mbps"),
        pl.lit(fct, dtype=pl.Float64).alias("fct_s"),
        "utilization",
        pl.lit(medium, dtype=pl.Float64).alias("medium_s"),
    )


def smaller(trial: StoredTrial) -> pl.DataFrame:
    """Every finished smaller flow: `cca`, `instance`, `start_s`, `fct_s`, `retransmitted`."""
    return (
        run_frames.completions(trial)
        .filter(pl.col("name") != "large")
        .select("name", "cca", "instance", "start_s", "fct_s", "retransmitted")
    )


def means(rows: pl.DataFrame, value: str, *keys: str) -> pl.DataFrame:
    """Mean, deviation and number of `value` over trials, by `keys`."""
    column = pl.col(value)
    return (
        rows.group_by(*keys, maintain_order=True)
        .agg(mean=column.mean(), sd=column.std(), n=column.count())
        .sort(*keys, maintain_order=True)
    )
