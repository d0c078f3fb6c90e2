"""Section VII: more large flows at once, which the study leaves to future work."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from narrows.figures.model import Figure, Panel
from narrows.reproduce import run_frames, spread
from narrows.reproduce.conditions import dumbbell
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import differences, interval, judge_bounds, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

COUNTS = (1, 2, 4)
SIZES = {"small": ("100 KB", 5), "medium": ("1 MB", 20)}
"""The arriving CUBIC flows, and the bottleneck on which the study has them, in Mbit/s."""
BUFFERS = (0.5, 1.0, 2.0)
"""The study expects longer completion times up to 2 BDP."""
SHALLOW = 0.5
MANY = COUNTS[-1]
REPETITIONS = 5


def cases(scope: Scope) -> Iterator[Case]:
    """1, 2 and 4 large flows that never end, and successive smaller ones of CUBIC."""
    for label, (size, rate) in SIZES.items():
        for large in ("bbr", "cubic"):
            for count in COUNTS:
                for buffer in BUFFERS:
                    flows: list[dict[str, Any]] = [
                        {"name": "large", "cca": large, "count": count},
                        {"name": "small", "cca": "cubic", "size": _size(size), "start": "5s",
                         "repeat_gap": "0.1s"},
                    ]  # fmt: skip
                    spec = dumbbell(
                        "mixed",
                        testbed.path(rate, buffer),
                        flows,
                        profile=scope.profile,
                        host={"jitter": testbed.JITTER, "fq": True},
                        duration="60s",
                        warmup="5s",
                        trials=3 if scope.quick else REPETITIONS,
                        record="summary",
                    )
                    key = {"size": label, "large": large, "count": count, "buffer_bdp": buffer}
                    yield Case(key, spec)


def _size(words: str) -> str:
    """A size in the form of specifications."""
    return words.replace(" ", "").lower()


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Mean completion time in s of the arriving flows, utilisation in %, least queue in BDP.

    The least queue is the 5th percentile over time, which is 0 where the queue runs empty.
    """
    done = run_frames.completions(trial)
    found = run_frames.summary(trial).select(
        pl.lit(done["fct_s"].mean(), dtype=pl.Float64).alias("fct_s"),
        busy=100 * pl.col("utilization"),
        least_queue_bdp=pl.col("queue_p5_bdp"),
    )
    return {"outcome": found}


def draw(data: Data) -> list[Picture]:
    """Completion times over the number of large flows, a panel for each size and control."""
    panels = tuple(_panel(data, size, large) for size in SIZES for large in ("bbr", "cubic"))
    figure = Figure(
        "More large flows at once",
        "CUBIC flows of 100 KB at 5 Mbit/s and of 1 MB at 20 Mbit/s, 45 ms; mean and range of the "
        f"repetitions; {data.scope.profile}",
        panels,
        "Completion times of arriving CUBIC flows over the number of large flows in three buffers.",
        columns=2,
        height=2.6,
    )
    return [Picture("", "Mean completion times of the arriving flows", figure)]


def _panel(data: Data, size: str, large: str) -> Panel:
    lines = []
    for step, buffer in enumerate(BUFFERS):
        rows = data["outcome"].filter(
            (pl.col("size") == size) & (pl.col("large") == large) & (pl.col("buffer_bdp") == buffer)
        )
        found = spread.over(rows, "count", "fct_s")
        lines.append(spread.line(found, "count", f"{buffer:g} BDP", f"step:{2 * step}"))
    return Panel("Large flows", "Completion time (s)", tuple(lines), y_range=(0, None),
                 title=f"{SIZES[size][0]} flows beside {large.upper()}")  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """Times are longer with more BBR flows; utilisation is higher with more CUBIC flows."""
    return [
        Finding("mixed/more-bbr-flows", [*(slower(data, size) for size in SIZES), standing(data)]),
        Finding("mixed/more-cubic-flows", [busier(data), as_busy(data)]),
    ]


def slower(data: Data, size: str) -> Check:
    """How much longer arriving flows take beside four large BBR flows than beside one."""
    few, many = (
        {
            buffer: data.values("fct_s", size=size, large="bbr", count=count, buffer_bdp=buffer)
            for buffer in BUFFERS
        }
        for count in (1, MANY)
    )
    in_words = "; ".join(
        f"{interval(data, many[buffer])} s instead of {interval(data, few[buffer])} s, "
        f"{buffer:g} BDP"
        for buffer in BUFFERS
    )
    return judge_bounds(
        data,
        "mixed/more-bbr-flows",
        size,
        f"CUBIC flows of {SIZES[size][0]} take longer beside several large BBR flows.",
        f"Mean completion time at {SIZES[size][1]} Mbit/s beside {MANY} large BBR flows over that "
        "beside one.",
        {f"{buffer:g} BDP": ratios(many[buffer], few[buffer]) for buffer in BUFFERS},
        f" ({in_words})",
    )


def standing(data: Data) -> Check:
    """The study's reason: four large BBR flows never let the largest buffer run empty."""
    buffer = BUFFERS[-1]
    return judge_bounds(
        data,
        "mixed/more-bbr-flows",
        "standing",
        "Several BBR flows keep a persistent queue.",
        f"The queue that is there 95 % of the time, of {MANY} large BBR flows beside flows of "
        f"{SIZES['small'][0]} in {buffer:g} BDP.",
        data.values("least_queue_bdp", size="small", large="bbr", count=MANY, buffer_bdp=buffer),
    )


def _more_use(data: Data, buffer: float) -> tuple[dict[str, list[float]], str]:
    """Utilisation with four large CUBIC flows less that with one, and both in words."""
    few, many = (
        {
            size: data.values("busy", size=size, large="cubic", count=count, buffer_bdp=buffer)
            for size in SIZES
        }
        for count in (1, MANY)
    )
    in_words = "; ".join(
        f"{interval(data, many[size])} % instead of {interval(data, few[size])} %, "
        f"{SIZES[size][0]} flows"
        for size in SIZES
    )
    return {SIZES[size][0]: differences(many[size], few[size]) for size in SIZES}, f" ({in_words})"


def busier(data: Data) -> Check:
    """How much more four large CUBIC flows use the link than one, with the smallest buffer."""
    return judge_bounds(
        data,
        "mixed/more-cubic-flows",
        "busier",
        "The use that CUBIC makes of a small buffer's link grows with the number of flows.",
        f"Utilisation at {SHALLOW:g} BDP with {MANY} large CUBIC flows less that with one.",
        *_more_use(data, SHALLOW),
    )


def as_busy(data: Data) -> Check:
    """How much more four large CUBIC flows use the link than one, with the largest buffer."""
    return judge_bounds(
        data,
        "mixed/more-cubic-flows",
        "as-busy",
        "It is the small buffer that makes it so: in a larger one it doesn't grow.",
        f"Utilisation at {BUFFERS[-1]:g} BDP with {MANY} large CUBIC flows less that with one.",
        *_more_use(data, BUFFERS[-1]),
    )
