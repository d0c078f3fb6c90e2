"""PROBE_RTT at 0.75 BDP instead of four packets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import polars as pl

from narrows.figures import frames
from narrows.figures.model import Figure, Guide, Line, Panel
from narrows.reproduce import proposals, run_frames
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import interval, judge_bounds, make_note, ratios
from narrows.reproduce.proposals import AS_IT_IS, PLAIN, Variant

from . import improved_path

if TYPE_CHECKING:
    from narrows.report import Check
    from narrows.store import StoredTrial

VARIANTS = {
    PLAIN: AS_IT_IS,
    "gentle": Variant("PROBE_RTT at 0.75 BDP", "queue", {"probe_rtt_gain": 0.75}),
}
ALONE, MIXED = "4 BBR", "2 BBR + 2 CUBIC"
MIXES = {ALONE: {"bbr": 4}, MIXED: {"bbr": 2, "cubic": 2}}
BUFFERS = (2.0, 4.0)
CLAIM = "ietf98/probe-rtt-gentle"
CLIENTS, BESIDE = "4 BBR that answer requests", "1 BBR that answers requests, 3 BBR"
ANSWER_KB = 250
"""An answer takes some round trips; several answers fit between two PROBE_RTTs."""
TAIL = 0.995
"""A flow spends about a hundredth of the time in PROBE_RTT if it answers requests."""
SHOWN_S = (60.0, 85.0)


def cases(scope: Scope) -> Iterator[Case]:
    """Among BBR flows, beside CUBIC and answering requests, in buffers that hold BBR's queue."""
    make = improved_path.bottleneck(scope, record="samples", sample_interval="100ms")
    yield from proposals.cells(VARIANTS, MIXES, BUFFERS, make)
    answers = {"workload": {"kind": "requests", "size": f"{ANSWER_KB}kb"}}
    for name, variant in VARIANTS.items():
        (bulk,), (client,) = variant.flows(3), variant.flows(1)
        mixes = {
            CLIENTS: [{**client, **answers, "count": 4}],
            BESIDE: [bulk, {**client, **answers, "name": "client"}],
        }
        for mix, flows in mixes.items():
            spec = make(flows, BUFFERS[0])
            yield Case({"variant": name, "mix": mix, "buffer_bdp": BUFFERS[0]}, spec)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's row; BBR's throughput in windows of 200 ms; the flows' RTprop; the answers."""
    answers = run_frames.completions(trial).filter(pl.col("start_s") >= run_frames.warmup_s(trial))
    return {
        "answers": answers.select(tail_ms=pl.col("fct_s").quantile(TAIL) * 1e3),
        "outcome": proposals.outcome(trial),
        "rate": run_frames.throughput(trial, 0.2).group_by("start_s", maintain_order=True).agg(
            percent=pl.col("percent").sum()
        ),
        "rtprop": run_frames.internal(trial, "min_rtt_ms"),
    }  # fmt: skip


def _of(data: Data, frame: str, variant: str, mix: str) -> pl.DataFrame:
    rows = data[frame].filter((pl.col("variant") == variant) & (pl.col("mix") == mix))
    return rows.filter(pl.col("buffer_bdp") == BUFFERS[0])


def draw(data: Data) -> list[Picture]:
    """Throughput of all flows and RTprop of the first over some PROBE_RTTs."""
    panels = (
        _lines(data, "rate", "start_s", "percent", "All flows (% of rate)", ALONE),
        _lines(data, "rtprop", "time_s", "value", "RTprop (ms)", ALONE),
        _lines(data, "rtprop", "time_s", "value", "RTprop (ms)", MIXED),
    )
    figure = Figure(
        "PROBE_RTT at 0.75 BDP",
        f"{improved_path.PATH}, {BUFFERS[0]:g} BDP; {data.scope.profile}",
        panels,
        "Steps of the throughput and of RTprop over 25 s, alone and beside CUBIC.",
        height=2.4,
    )
    return [Picture("", "Throughput and RTprop over two PROBE_RTTs", figure)]


def _lines(data: Data, frame: str, time: str, value: str, label: str, mix: str) -> Panel:
    lines = []
    for name, variant in VARIANTS.items():
        rows = _of(data, frame, name, mix).filter(
            (pl.col("trial") == 1) & pl.col(time).is_between(*SHOWN_S)
        )
        rows = rows.filter(pl.col("flow") == 0) if "flow" in rows.columns else rows
        x, y = frames.column(rows.sort(time), time), frames.column(rows.sort(time), value)
        lines.append(Line(variant.label, x, y, variant.colour, kind="step", width=1.2))
    guides = (Guide(improved_path.RTT_MS, "the path's delay"),) if frame == "rtprop" else ()
    return Panel("Time (s)", label, tuple(lines), title=mix, guides=guides)


def judge(data: Data) -> list[Finding]:
    """The dip is smaller, tail latency lower, and RTprop still found among BBR flows."""
    checks = [dip(data), packets(data), rtprop_inflation(data)]
    notes = [answers(data), beside_bulk(data), beside_cubic(data)]
    return [Finding(CLAIM, checks, notes=notes)]


def _dips(data: Data, variant: str) -> list[float]:
    """The throughput missing in the worst hundredth of the windows."""
    rows = _of(data, "rate", variant, ALONE).group_by("trial", maintain_order=True)
    lowest = rows.agg(low=pl.col("percent").quantile(0.01))
    return [100 - float(v) for v in lowest["low"].to_list()]


def dip(data: Data) -> Check:
    """The lowest throughput."""
    new, old = _dips(data, "gentle"), _dips(data, PLAIN)
    return judge_bounds(
        data,
        CLAIM,
        "dip",
        "The dip of throughput in PROBE_RTT is smaller.",
        "What the first percentile of all flows' throughput in windows of 200 ms lacks of the rate "
        f"({ALONE}, {BUFFERS[0]:g} BDP), over that with plain BBR.",
        ratios(new, old),
        f" ({interval(data, new, 3, ' %')} instead of {interval(data, old, 3, ' %')})",
    )


def packets(data: Data) -> Check:
    """The tail of packets' queueing delay, one meaning of tail latency."""
    return judge_bounds(
        data,
        CLAIM,
        "packets",
        "The tail latency is lower.",
        f"99th percentile of the packets' queueing delay ({ALONE}), over that with plain BBR.",
        proposals.against_plain(data, "delay_p99", "gentle", ALONE, BUFFERS),
        proposals.as_measured(data, "delay_p99", " ms", "gentle", ALONE, BUFFERS),
    )


def _tails(data: Data, mix: str) -> tuple[list[float], list[float]]:
    """The tail of the answers' times in ms in each trial: with 0.75 BDP, and as it is."""

    def of(variant: str) -> list[float]:
        rows = _of(data, "answers", variant, mix)["tail_ms"].drop_nulls()
        return [float(v) for v in rows.to_list()]

    return of("gentle"), of(PLAIN)


def answers(data: Data) -> Check:
    """The tail of an application's response times."""
    new, old = _tails(data, CLIENTS)
    return make_note(
        "The tail latency as an application sees it.",
        f"{TAIL:.1%} of the answers of {ANSWER_KB} KB to requests one after another are complete "
        f"within this time ({CLIENTS}, {BUFFERS[0]:g} BDP). PROBE_RTT delays what waits at the "
        "sender. This measure was chosen after that of packets had failed, and the slides don't "
        "say which latency they mean.",
        f"{interval(data, new, 3, ' ms')} instead of {interval(data, old, 3, ' ms')}",
    )


def beside_bulk(data: Data) -> Check:
    """The tails of a flow beside others that always send, about which the slides say nothing."""
    new, old = _tails(data, BESIDE)
    return make_note(
        "What becomes of it beside flows that always send.",
        f"As above, {BESIDE}.",
        f"{interval(data, new, 3, ' ms')} instead of {interval(data, old, 3, ' ms')}",
    )


def _high(data: Data, variant: str, mix: str) -> list[float]:
    """Part of the time, in percent, with an RTprop above 1.1 times the path's delay."""
    flag = (pl.col("value") > 1.1 * improved_path.RTT_MS).cast(pl.Float64) * 100
    rows = _of(data, "rtprop", variant, mix).group_by("trial", maintain_order=True)
    return [float(v) for v in rows.agg(part=flag.mean())["part"].to_list()]


def rtprop_inflation(data: Data) -> Check:
    """RTprop among BBR flows."""
    return judge_bounds(
        data,
        CLAIM,
        "found",
        "The lowest RTT is still found among BBR flows.",
        "Part of the time in which a flow's RTprop is above 1.1 times the path's delay "
        f"({ALONE}, {BUFFERS[0]:g} BDP).",
        _high(data, "gentle", ALONE),
    )


def beside_cubic(data: Data) -> Check:
    """RTprop beside CUBIC; the slides don't say."""
    new, old = _high(data, "gentle", MIXED), _high(data, PLAIN, MIXED)
    return make_note(
        "What becomes of it beside CUBIC.",
        f"As above, {MIXED}.",
        f"{interval(data, new, 3, ' %')} of the time inflated instead of "
        f"{interval(data, old, 3, ' %')}",
    )
