"""Slide 'Lessons from deploying': a token-bucket policer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.report import Check
from narrows.reproduce import run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios

from . import testbed

if TYPE_CHECKING:
    from narrows.store import StoredTrial

POLICED = 10.0
"""Mbit/s, a tenth of the link's rate."""
BURST = "500kb"
TRIALS = 5
WINDOW_S = 0.2
CLAIM = "ietf98/policer"


def cases(scope: Scope) -> Iterator[Case]:
    """BBR with and without its long-term estimate."""
    for label, option in (("with", True), ("without", False)):
        path = {
            "rate": "100mbit",
            "rtt": "40ms",
            "buffer": "4bdp",
            "impairments": [
                {"kind": "policer", "rate": f"{POLICED:g}mbit", "burst": BURST, "at": "before"}
            ],
        }
        spec = testbed.spec(
            scope,
            path,
            [{"cca": "bbr", "options": {"lt_bw": option}}],
            duration="60s",
            trials=testbed.trials(scope, TRIALS),
            sample_interval="100ms",
        )
        yield Case({"estimate": label}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Loss in windows of 200 ms, the long-term estimate, the goodput."""
    rows = run_frames.samples(trial, ["sent", "dropped"], whole=True).sort("time_s")
    every = round(WINDOW_S * 1e9 / float(trial.scenario["run"]["sample_interval_ns"]))
    windows = rows.gather_every(every).select(
        "time_s", pl.col("sent").cast(pl.Int64).diff(), pl.col("dropped").cast(pl.Int64).diff()
    )
    used = run_frames.internal(trial, "lt_use_bw", whole=True).select(
        "time_s", used=pl.col("value")
    )
    rate = run_frames.internal(trial, "lt_bw_mbps", whole=True).select(
        "time_s", rate=pl.col("value")
    )
    joined = windows.sort("time_s").join_asof(used.sort("time_s"), on="time_s")
    joined = joined.join_asof(rate.sort("time_s"), on="time_s").drop_nulls("sent")
    return {"windows": joined, "goodput": testbed.per_flow(trial).select("goodput_mbps")}


def draw(data: Data) -> list[Picture]:
    """Loss over time with and without the estimate, and the estimate."""
    first = data["windows"].filter(pl.col("trial") == 1)
    lines = []
    for label, colour in (("without", "neutral"), ("with", "bbr")):
        rows = first.filter((pl.col("estimate") == label) & (pl.col("sent") > 0))
        x = frames.column(rows, "time_s")
        y = 100 * frames.column(rows, "dropped") / frames.column(rows, "sent")
        lines.append(Line(f"BBR {label} long-term estimate", x, y, colour, kind="step", width=1.1))
    rows = first.filter(pl.col("estimate") == "with")
    x = frames.column(rows, "time_s")
    y = frames.column(rows.with_columns(pl.when(pl.col("used") > 0).then("rate")), "rate")
    estimate = Line("the estimate in use", x, y, "queue", width=2.0)
    panels = (
        Panel("Time (s)", "Loss (%)", tuple(lines), x_range=(0, 30), y_range=(0, 100)),
        Panel("Time (s)", "Mbit/s", (estimate,), x_range=(0, 30), y_range=(0, 12),
              guides=(Guide(POLICED, "policed rate"),)),
    )  # fmt: skip
    figure = Figure(
        "BBR and the rate of a policer",
        f"1 BBR, 100 Mbit/s, 40 ms; policer of 10 Mbit/s, {BURST}; {data.scope.profile}",
        panels,
        "Steps of the loss over time, with the long-term estimate and without.",
        height=2.4,
    )
    return [Picture("", "Loss in windows of 200 ms, and the long-term estimate", figure)]


def judge(data: Data) -> list[Finding]:
    """Loss is high first and low with the estimate; in total it is lower than without it."""
    checks = [starts(data), finds(data), low(data), helps(data)]
    return [Finding(CLAIM, checks)]


def _windows(data: Data, label: str) -> pl.DataFrame:
    return data["windows"].filter((pl.col("estimate") == label) & (pl.col("sent") > 0))


def _loss(rows: pl.DataFrame) -> list[float]:
    """Percent dropped of all sent, by trial."""
    parts = rows.group_by("trial", maintain_order=True).agg(pl.col("sent", "dropped").sum())
    return (parts["dropped"] * 100 / parts["sent"]).to_list()


def starts(data: Data) -> Check:
    """The highest loss of a window in the first seconds."""
    rows = _windows(data, "with").filter(pl.col("time_s") <= 5.0)
    rows = rows.with_columns(loss=100 * pl.col("dropped") / pl.col("sent"))
    worst = rows.group_by("trial", maintain_order=True).agg(pl.col("loss").max())
    return judge_bounds(
        data,
        CLAIM,
        "starts",
        "Loss is very high when the policer's burst is used up.",
        "The greatest loss in a window of 200 ms in the first 5 s.",
        worst["loss"].to_list(),
    )


def finds(data: Data) -> Check:
    """The long-term estimate while it is in use."""
    rows = _windows(data, "with").filter(pl.col("used") > 0)
    rates = rows.group_by("trial", maintain_order=True).agg(pl.col("rate").median())
    return judge_bounds(
        data,
        CLAIM,
        "finds",
        "BBR finds the policed rate.",
        "The long-term estimate of the bandwidth while it is in use, median over time.",
        rates["rate"].to_list(),
    )


def low(data: Data) -> Check:
    """Loss once the estimate has been in use."""
    return judge_bounds(
        data,
        CLAIM,
        "low",
        "Its loss falls to low once it has the estimate.",
        "Packets dropped of packets sent from the window on in which the long-term estimate is "
        "first used, to the end of the minute.",
        _loss(_since(data)),
        f" ({interval(data, _loss(_steady(data)), 3, ' %')} in windows that use it from end to "
        "end)",
    )


def _since(data: Data) -> pl.DataFrame:
    rows = _windows(data, "with").sort("trial", "time_s")
    began = pl.col("used").fill_null(0).cum_max().over("trial")
    return rows.filter(began > 0)


def _steady(data: Data) -> pl.DataFrame:
    rows = _windows(data, "with").sort("trial", "time_s")
    before = pl.col("used").shift(1).over("trial")
    return rows.filter((pl.col("used") > 0) & (before > 0))


def helps(data: Data) -> Check:
    """Total loss with the estimate against that without it."""
    given, without = (_loss(_windows(data, label)) for label in ("with", "without"))
    used = _windows(data, "with").select((pl.col("used") > 0).mean() * 100).item()
    return judge_bounds(
        data,
        CLAIM,
        "helps",
        "It loses less than without the estimate.",
        "Packets dropped of packets sent in the whole minute, with BBR's long-term estimate over "
        "those with it switched off.",
        ratios(given, without),
        f" ({interval(data, given)} % with, {interval(data, without)} % without; in use "
        f"{testbed.number(used):.0f} % of the time)",
    )
