"""Section IV-E2: an RTprop that a full queue can't inflate, and its costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.report import Check
from narrows.reproduce import proposals, run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, make_note, ratios
from narrows.reproduce.proposals import AS_IT_IS, PLAIN, Variant

from . import fix_path

if TYPE_CHECKING:
    from narrows.store import StoredTrial

VARIANTS = {
    PLAIN: AS_IT_IS,
    "kept": Variant("lowest RTT for ever", "queue", {"rtprop": "keep"}),
    "confirmed": Variant("raised once confirmed", "flow:0", {"rtprop": "confirm"}),
}
MIX, ROUTE = "2 BBR + 2 CUBIC", "1 BBR, a longer path after 100 s"
BUFFER = 1.75
CHANGE_S = 100.0
LONGER_MS = 100.0
BURST = 0.01
INFLATED = 1.2
CLAIM = "panaderia/fix-rtprop"
PROPOSED = ("kept", "confirmed")


def cases(scope: Scope) -> Iterator[Case]:
    """BBR beside CUBIC in a medium buffer, and alone on a path that becomes longer."""
    make = fix_path.bottleneck(scope, record="samples", sample_interval="500ms")
    for name, variant in VARIANTS.items():
        yield Case({"variant": name, "mix": MIX}, make(variant.flows(2, cubic=2), BUFFER))
        alone = make(variant.flows(1), 4.0)
        yield Case({"variant": name, "mix": ROUTE}, _with_route(alone))


def _with_route(spec: dict[str, Any]) -> dict[str, Any]:
    """From 25 ms to 100 ms; two and a half minutes are enough to find it."""
    longer = f"{LONGER_MS - 25:g}ms"
    route = {"kind": "route", "delays": {f"{CHANGE_S:g}s": longer}}
    run = {**spec["run"], "duration": "200s", "warmup": "50s"}
    return {**spec, "path": {**spec["path"], "impairments": [route]}, "run": run}


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's row; loss and BBR's throughput by window; BBR's RTprop over time."""
    kinds = {
        flow: "tested" if str(entry["name"]).startswith("tested") else "other"
        for flow, entry in enumerate(trial.scenario["flows"])
    }
    return {
        "outcome": proposals.outcome(trial),
        "loss": run_frames.loss(trial).select("start_s", "loss_rate"),
        "rate": run_frames.throughput(trial, kinds=kinds).select("start_s", "class", "percent"),
        "rtprop": run_frames.internal(trial, "min_rtt_ms"),
    }


def _of(data: Data, frame: str, variant: str, mix: str, trial: int | None = None) -> pl.DataFrame:
    rows = data[frame].filter((pl.col("variant") == variant) & (pl.col("mix") == mix))
    return rows if trial is None else rows.filter(pl.col("trial") == trial)


def draw(data: Data) -> list[Picture]:
    """RTprop and share over a minute beside CUBIC; RTprop over the change of the path."""
    panels = (
        _rtprop_panel(data, MIX, "beside CUBIC, 1.75 BDP", 25.0),
        _share_panel(data),
        _rtprop_panel(data, ROUTE, "alone; the path becomes longer at 100 s", LONGER_MS),
    )
    figure = Figure(
        "An RTprop that is kept, or raised once confirmed",
        f"80 Mbit/s, 25 ms; {data.scope.profile}",
        panels,
        "Steps of RTprop over time beside CUBIC and on a path that becomes longer, for each way "
        "of keeping it.",
        height=2.6,
    )
    return [Picture("", "The first BBR flow's RTprop, and BBR's throughput", figure)]


def _rtprop_panel(data: Data, mix: str, title: str, true_ms: float) -> Panel:
    lines = []
    for name, variant in VARIANTS.items():
        rows = _of(data, "rtprop", name, mix, 1).filter(pl.col("flow") == 0).sort("time_s")
        x, y = frames.column(rows, "time_s"), frames.column(rows, "value")
        lines.append(Line(variant.label, x, y, variant.colour, kind="step"))
    guides = (Guide(true_ms, "the path's delay"),)
    return Panel("Time (s)", "RTprop (ms)", tuple(lines), title=title, guides=guides)


def _share_panel(data: Data) -> Panel:
    lines = []
    for name, variant in VARIANTS.items():
        rows = _of(data, "rate", name, MIX, 1).filter(pl.col("class") == "tested").sort("start_s")
        x, y = frames.column(rows, "start_s"), frames.column(rows, "percent")
        lines.append(Line(variant.label, x, y, variant.colour, width=1.0))
    guides = (Guide(50, "fair"),)
    return Panel("Time (s)", "BBR, percent of rate", tuple(lines), y_range=(0, 102), guides=guides)


def judge(data: Data) -> list[Finding]:
    """There is no cycle and no burst; a longer path is found by confirming, not by keeping."""
    return [Finding(CLAIM, [cycle(data), bursts(data), finds(data)], notes=[cost(data)])]


def cycle(data: Data) -> Check:
    """How much of the time RTprop is inflated."""
    return judge_bounds(
        data,
        CLAIM,
        "inflated",
        "Beside CUBIC RTprop is no longer inflated, which drives the 20 s cycle.",
        f"Part of the time in which a BBR flow's RTprop is above {INFLATED:g} times the path's "
        "delay, over that with plain BBR.",
        _against_plain(data, _inflated_part),
        _words(data, _inflated_part, " %"),
    )


def _against_plain(data: Data, value: Callable[[Data, str], list[float]]) -> dict[str, list[float]]:
    """A value with each proposal over that with plain BBR, by trial."""
    plain = value(data, PLAIN)
    return {VARIANTS[name].label: ratios(value(data, name), plain) for name in PROPOSED}


def _words(data: Data, value: Callable[[Data, str], list[float]], unit: str = "") -> str:
    """The measurements of each proposal."""
    told = (f"{VARIANTS[n].label} {interval(data, value(data, n), 3, unit)}" for n in VARIANTS)
    return f" ({', '.join(told)})"


def _inflated_part(data: Data, variant: str) -> list[float]:
    rows = _of(data, "rtprop", variant, MIX)
    flag = (pl.col("value") > INFLATED * 25).cast(pl.Float64) * 100
    parts = rows.group_by("trial", maintain_order=True).agg(part=flag.mean())
    return [float(part) for part in parts["part"].to_list()]


def bursts(data: Data) -> Check:
    """Windows with a burst of loss."""
    return judge_bounds(
        data,
        CLAIM,
        "bursts",
        "There are no bursts of loss.",
        f"Windows of 500 ms with {100 * BURST:g} % loss or more in two minutes, over those with "
        "plain BBR.",
        _against_plain(data, _bursts),
        _words(data, _bursts),
    )


def _bursts(data: Data, variant: str) -> list[float]:
    rows = _of(data, "loss", variant, MIX)
    counts = rows.group_by("trial", maintain_order=True).agg(
        n=(pl.col("loss_rate").fill_nan(0.0) >= BURST).sum()
    )
    return [float(n) for n in counts["n"].to_list()]


def _last_rtprop(data: Data, variant: str) -> list[float]:
    rows = _of(data, "rtprop", variant, ROUTE).sort("trial", "time_s")
    last = rows.group_by("trial", maintain_order=True).agg(pl.col("value").tail(20).median())
    return [float(v) for v in last["value"].to_list()]


def finds(data: Data) -> Check:
    """RTprop after the path became longer."""
    return judge_bounds(
        data,
        CLAIM,
        "finds",
        "A route that became longer is found by the second variant.",
        f"The flow's RTprop at the end, {LONGER_MS:g} ms being the path's delay since 100 s.",
        _last_rtprop(data, "confirmed"),
        _words(data, _last_rtprop, " ms"),
    )


def cost(data: Data) -> Check:
    """The costs beside CUBIC; the paper doesn't say."""

    def shares(data: Data, name: str) -> list[float]:
        return [float(v) for v in _of(data, "outcome", name, MIX)["share"].to_list()]

    return make_note(
        "What it costs: BBR's share beside CUBIC.",
        "BBR's share of the goodput, mean over trials.",
        _words(data, shares, " %"),
    )
