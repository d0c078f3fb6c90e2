"""Slide on open challenges: PROBE_RTT that is scaled to what it needs, as version 3 has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, ratios
from narrows.reproduce.proposals import AS_IT_IS, PLAIN, Variant

from . import improved_path, probe_rtt_gentle

if TYPE_CHECKING:
    from narrows.report import Check

CLAIM = "ietf98/probe-rtt-scaled"
SCALED = "scaled"
VARIANTS = {PLAIN: AS_IT_IS, SCALED: Variant("BBRv3", "bbr3", cca="bbr3")}
BULK, CLIENTS = "4 flows", "4 flows that answer requests"
ROOM = 4.0
SHOWN_S = (60.0, 85.0)
measure = probe_rtt_gentle.measure


def cases(scope: Scope) -> Iterator[Case]:
    """Four flows that always send, and four that answer requests."""
    make = improved_path.bottleneck(scope, record="samples", sample_interval="100ms")
    size = f"{probe_rtt_gentle.ANSWER_KB}kb"
    for name, variant in VARIANTS.items():
        (flow,) = variant.flows(4)
        answering = {**flow, "workload": {"kind": "requests", "size": size}}
        for mix, flows in {BULK: [flow], CLIENTS: [answering]}.items():
            yield Case({"variant": name, "mix": mix}, make(flows, ROOM))


def draw(data: Data) -> list[Picture]:
    """All flows' throughput and the first one's RTprop over some PROBE_RTTs."""
    panels = (
        _panel(data, "rate", "start_s", "percent", "All flows (% of rate)"),
        _panel(data, "rtprop", "time_s", "value", "RTprop (ms)"),
    )
    figure = Figure(
        "PROBE_RTT scaled to what it needs",
        f"{improved_path.PATH}, {ROOM:g} BDP, {BULK}, first trial; {data.scope.profile}",
        panels,
        "Throughput of all flows and RTprop of one over 25 s, with BBR and with BBRv3.",
        height=2.4,
    )
    return [Picture("", "Throughput of all flows, and what one takes for RTprop", figure)]


def _panel(data: Data, frame: str, time: str, value: str, label: str) -> Panel:
    lines = []
    for name, variant in VARIANTS.items():
        rows = _of(data, frame, name, BULK).filter(
            (pl.col("trial") == 1) & pl.col(time).is_between(*SHOWN_S)
        )
        rows = rows.filter(pl.col("flow") == 0) if "flow" in rows.columns else rows
        x, y = frames.column(rows.sort(time), time), frames.column(rows.sort(time), value)
        lines.append(Line(variant.label, x, y, variant.colour, kind="step", width=1.2))
    guides = (Guide(improved_path.RTT_MS, "the path's delay"),) if frame == "rtprop" else ()
    return Panel("Time (s)", label, tuple(lines), guides=guides)


def _of(data: Data, frame: str, variant: str, mix: str) -> pl.DataFrame:
    return data[frame].filter((pl.col("variant") == variant) & (pl.col("mix") == mix))


def judge(data: Data) -> list[Finding]:
    """Less of a dip, answers less delayed, RTprop still found."""
    return [Finding(CLAIM, [dip(data), latency(data), rtprop_inflation(data)])]


def _lowest(data: Data, variant: str) -> list[float]:
    """The shortfall of the first percentile of the throughput from the rate, in percent."""
    rows = _of(data, "rate", variant, BULK).group_by("trial", maintain_order=True)
    lowest = rows.agg(low=pl.col("percent").quantile(0.01))
    return [100 - float(v) for v in lowest["low"].to_list()]


def dip(data: Data) -> Check:
    """The throughput that PROBE_RTT costs."""
    new, old = _lowest(data, SCALED), _lowest(data, PLAIN)
    return judge_bounds(
        data,
        CLAIM,
        "dip",
        "The dip of throughput in PROBE_RTT is smaller.",
        "What the first percentile of all flows' throughput in windows of 200 ms lacks of the rate "
        f"({BULK}), over that with plain BBR.",
        ratios(new, old),
        f" ({interval(data, new, 3, ' %')} instead of {interval(data, old, 3, ' %')})",
    )


def latency(data: Data) -> Check:
    """The tail of the answers' times."""
    new, old = (
        _of(data, "answers", variant, CLIENTS)["tail_ms"].drop_nulls().to_list()
        for variant in (SCALED, PLAIN)
    )
    return judge_bounds(
        data,
        CLAIM,
        "latency",
        "Its impact on latency is smaller.",
        f"Time within which {probe_rtt_gentle.TAIL:.1%} of the answers of "
        f"{probe_rtt_gentle.ANSWER_KB} KB are complete ({CLIENTS}), over that with plain BBR.",
        ratios(new, old),
        f" ({interval(data, new, 3, ' ms')} instead of {interval(data, old, 3, ' ms')})",
    )


def rtprop_inflation(data: Data) -> Check:
    """RTprop among such flows."""
    flag = (pl.col("value") > 1.1 * improved_path.RTT_MS).cast(pl.Float64) * 100
    rows = _of(data, "rtprop", SCALED, BULK).group_by("trial", maintain_order=True)
    return judge_bounds(
        data,
        CLAIM,
        "found",
        "The lowest RTT is still found.",
        f"Part of the time in which a flow's RTprop is above 1.1 times the path's delay ({BULK}).",
        [float(v) for v in rows.agg(part=flag.mean())["part"].to_list()],
    )
