"""Slides on 1 MB over LTE, and 'robust detection of full pipes -> faster start-up'."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.figures.palette import name
from narrows.reproduce import run_frames, spread
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

KINDS = ("bbr", "cubic")
SIZES_MB = (1, 20)
NOISES_MS = (0, 5, 10, 20)
NOISY = 20
GAIN = 44.0
"""By how many percent BBR downloads 1 MB faster on the slide."""
TRIALS = 10
RATE, RTT = "50mbit", "50ms"
BDP_PACKETS = 50e6 * 0.05 / 8 / 1500
CLAIM = "ietf98/lte-startup"


def cases(scope: Scope) -> Iterator[Case]:
    """Both sizes and controls over noise in the delay, on a link that is served in slots."""
    slots = {"kind": "cellular", "slot": "10ms", "min_rate": "1mbit", "full_backlog": "100kb"}
    for noise in NOISES_MS:
        noisy = [{"kind": "jitter", "max": f"{noise}ms"}] if noise else []
        path = {"preset": "lte", "rate": RATE, "rtt": RTT, "service": slots, "impairments": noisy}
        for size in SIZES_MB:
            for kind in KINDS:
                spec = testbed.spec(
                    scope,
                    path,
                    [{"cca": kind, "size": f"{size}mb"}],
                    duration="60s",
                    stop_when="all",
                    trials=testbed.trials(scope, TRIALS),
                    sample_interval="20ms",
                )
                yield Case({"noise_ms": noise, "size_mb": size, "kind": kind}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """The completion time, the end of slow start or STARTUP, and arrivals over time."""
    columns = ["cwnd", "lost", "retransmitted", "received_bytes", "cca_state"]
    rows = run_frames.samples(trial, columns, whole=True)
    began = pl.col("cca_state").is_in(["slow_start", "startup"])
    after = rows.filter((pl.col("cca_state") != "") & ~began)
    cwnd = after["cwnd"][0] if after.height else None
    # A kernel tells the retransmissions only, which begin with the recovery that a loss starts.
    lost = after.select(pl.coalesce("lost", "retransmitted"))[0, 0] if after.height else None
    fct = run_frames.completions(trial)["fct_s"].first()
    row = {"fct_s": [testbed.number(fct)], "exit_cwnd": [cwnd], "exit_lost": [lost]}
    schema = {"fct_s": pl.Float64, "exit_cwnd": pl.Int64, "exit_lost": pl.Int64}
    return {
        "ends": pl.DataFrame(row, schema=schema),
        "received": rows.select("time_s", mb=pl.col("received_bytes") / 1e6),
    }


def draw(data: Data) -> list[Picture]:
    """Arrivals over time in every trial, as on the slide; completion times against noise."""
    panels = (
        *(_arrivals(data, size) for size in SIZES_MB),
        *(_times(data, size) for size in SIZES_MB),
        _gains(data),
    )
    figure = Figure(
        "Downloads over a cellular link",
        f"LTE, 50 Mbit/s, 50 ms, slots of 10 ms, up to 20 ms of noise; {data.scope.profile}",
        panels,
        "Downloads of 1 MB and 20 MB over time, and their completion times over the noise. "
        "By how much BBR is faster, beside the slide's 44 %.",
        columns=2,
        height=2.5,
    )
    words = f"Every trial with {NOISY} ms of noise; completion times and BBR's gain by noise"
    return [Picture("", words, figure)]


def _gains(data: Data) -> Panel:
    """By how much BBR is faster in each trial of 1 MB, and the slide's number."""
    noises = sorted(data["ends"]["noise_ms"].unique().to_list())
    found = [(noise_ms, gain) for noise_ms in noises for gain in gains(data, 1, noise_ms)]
    x, y = (np.array([pair[i] for pair in found], float) for i in (0, 1))
    return Panel("Noise in the delay, at most (ms)", "BBR faster by (%)",
                 (Line("each trial", x, y, "bbr", kind="points"),), title="1 MB",
                 y_range=(None, None), guides=(Guide(GAIN, "slide: 44 %"),))  # fmt: skip


def _arrivals(data: Data, size: int) -> Panel:
    rows = data["received"].filter((pl.col("size_mb") == size) & (pl.col("noise_ms") == NOISY))
    lines = []
    for kind in KINDS:
        for _, mine in rows.filter(pl.col("kind") == kind).group_by("trial", maintain_order=True):
            x, y = frames.column(mine, "time_s"), frames.column(mine, "mb")
            lines.append(Line(name(kind), x, y, kind, width=1.0, opacity=0.7))
    return Panel("Time (s)", "Received (MB)", tuple(lines), title=f"{size} MB, {NOISY} ms of noise",
                 x_range=(0, None))  # fmt: skip


def _times(data: Data, size: int) -> Panel:
    lines = []
    for kind in KINDS:
        rows = data["ends"].filter((pl.col("size_mb") == size) & (pl.col("kind") == kind))
        found = spread.over(rows, "noise_ms", "fct_s")
        lines.append(spread.line(found, "noise_ms", name(kind), kind))
    return Panel("Noise in the delay, at most (ms)", "Completion (s)", tuple(lines),
                 title=f"{size} MB")  # fmt: skip


def judge(data: Data) -> list[Finding]:
    """Noise makes HyStart leave early, without a loss, so that BBR is done sooner."""
    checks = [early(data), lossless(data), *(sooner(data, size) for size in SIZES_MB), noise(data)]
    return [Finding(CLAIM, checks)]


def _exits(data: Data) -> pl.DataFrame:
    """CUBIC's exits from slow start in 20 MB with the most noise."""
    return data["ends"].filter(
        (pl.col("kind") == "cubic") & (pl.col("size_mb") == 20) & (pl.col("noise_ms") == NOISY)
    )


def early(data: Data) -> Check:
    """The window at which CUBIC leaves slow start."""
    return judge_bounds(
        data,
        CLAIM,
        "early",
        "HyStart takes the delay's noise for congestion and leaves early.",
        f"20 MB with up to {NOISY} ms of noise: CUBIC's window when it leaves slow start.",
        [cwnd / BDP_PACKETS for cwnd in _exits(data)["exit_cwnd"].drop_nulls().to_list()],
    )


def lossless(data: Data) -> Check:
    """CUBIC's losses by then."""
    return judge_bounds(
        data,
        CLAIM,
        "lossless",
        "Nothing was lost until then.",
        "Packets lost until CUBIC leaves slow start, as above.",
        [float(lost) for lost in _exits(data)["exit_lost"].drop_nulls().to_list()],
    )


def gains(data: Data, size: int, noise_ms: int) -> list[float]:
    """By how many percent BBR is faster than CUBIC, trial by trial."""
    rows = data["ends"].filter((pl.col("size_mb") == size) & (pl.col("noise_ms") == noise_ms))
    bbr, cubic = (
        rows.filter(pl.col("kind") == kind).sort("trial")["fct_s"].to_list() for kind in KINDS
    )
    return [100 * (ratio - 1) for ratio in ratios(cubic, bbr)]


def sooner(data: Data, size: int) -> Check:
    """How much sooner BBR is done."""
    return judge_bounds(
        data,
        CLAIM,
        f"{size}mb",
        f"BBR downloads {size} MB faster.",
        f"By how much BBR's rate is above CUBIC's with up to {NOISY} ms of noise; phone, place and "
        "path of the slide aren't known.",
        gains(data, size, NOISY),
    )


def noise(data: Data) -> Check:
    """The gain without and with noise."""
    found = {
        f"{size} MB": [
            b - 2 * a for a, b in zip(gains(data, size, 0), gains(data, size, NOISY), strict=False)
        ]
        for size in SIZES_MB
    }
    told = "; ".join(
        f"{size} MB: {interval(data, gains(data, size, 0))} % without, "
        f"{interval(data, gains(data, size, NOISY))} % with"
        for size in SIZES_MB
    )
    return judge_bounds(
        data,
        CLAIM,
        "noise",
        "It is the noise that costs CUBIC the time.",
        "The gain with noise less twice that on the same link without noise.",
        found,
        f" ({told})",
    )
