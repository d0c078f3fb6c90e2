"""Quicker detection of full pipes, PRR-like recovery, more frequent draining."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from narrows.figures.model import Figure
from narrows.reproduce import proposals
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds
from narrows.reproduce.proposals import AS_IT_IS, PLAIN, Variant

from . import improved_path

if TYPE_CHECKING:
    import polars as pl

    from narrows.report import Check
    from narrows.store import StoredTrial

VARIANTS = {
    PLAIN: AS_IT_IS,
    "exit": Variant("full pipe after 1 round", "flow:0", {"full_bw_rounds": 1}),
    "prr": Variant("PRR-like recovery", "flow:1", {"prr_recovery": True}),
    "drain": Variant("drains to 1 BDP", "flow:2", {"drain_to_target": True}),
}
LONG, SHORT = "4 BBR", "the first 3 s of 1 BBR"
BUFFERS = (0.5, 1.0, 2.0, 4.0)
CLAIM = "ietf98/startup-faster-exit"
SHALLOW, DEEP = (0.5, 1.0), (2.0, 4.0)


def cases(scope: Scope) -> Iterator[Case]:
    """Long flows, and the start of one without a warm-up, which would hide STARTUP."""
    make = improved_path.bottleneck(scope)
    start = improved_path.bottleneck(scope, duration="3s", warmup="0s")
    yield from proposals.cells(VARIANTS, {LONG: {"bbr": 4}}, BUFFERS, make)
    yield from proposals.cells(VARIANTS, {SHORT: {"bbr": 1}}, BUFFERS, start)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": proposals.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Loss and queue of long flows, and of the start."""
    panels = tuple(
        proposals.panel(data, value, label, VARIANTS, mix, title=mix)
        for mix in (LONG, SHORT)
        for value, label in (("loss", "Loss (%)"), ("queue", "Mean queue (BDP)"))
    )
    figure = Figure(
        "Quicker exits, gentler recovery, more draining",
        f"{improved_path.PATH}, mean and range of the trials; {data.scope.profile}",
        panels,
        "Loss and mean queue by the buffer for BBR and three changes of it.",
        columns=2,
        height=3.2,
    )
    return [Picture("", "Loss and queue of long flows, and of a flow's first seconds", figure)]


def judge(data: Data) -> list[Finding]:
    """Each change by itself lowers loss and queue where it can act, at equal throughput."""
    checks = [
        less(data, "exit-queue", "Quicker detection: a lower queue at the start.",
             "queue", " BDP", "exit", SHORT, BUFFERS),
        as_much(data, "exit-start", "Quicker detection: the start uses the link as well.",
                "exit", SHORT),
        less(data, "prr-loss", "PRR-like recovery: less loss in shallow buffers.",
             "loss", " %", "prr", LONG, SHALLOW),
        less(data, "drain-queue", "More frequent draining: a lower queue in deep buffers.",
             "queue", " BDP", "drain", LONG, DEEP),
        less(data, "drain-loss", "More frequent draining: less loss in shallow buffers.",
             "loss", " %", "drain", LONG, SHALLOW),
        *(
            as_much(data, f"{name}-throughput", f"{VARIANTS[name].label}: the same throughput.",
                    name, LONG)
            for name in ("exit", "prr", "drain")
        ),
    ]  # fmt: skip
    return [Finding(CLAIM, checks)]


def less(
    data: Data,
    check: str,
    statement: str,
    value: str,
    unit: str,
    variant: str,
    mix: str,
    buffers: Sequence[float],
) -> Check:
    """A value with a change, divided by that of plain BBR."""
    return judge_bounds(
        data,
        CLAIM,
        check,
        statement,
        f"{proposals.WORDS[value].capitalize()} ({mix}), over that of plain BBR.",
        proposals.against_plain(data, value, variant, mix, buffers),
        proposals.as_measured(data, value, unit, variant, mix, buffers),
    )


def as_much(data: Data, check: str, statement: str, variant: str, mix: str) -> Check:
    """The utilisation with a change, minus that of plain BBR."""
    return judge_bounds(
        data,
        CLAIM,
        check,
        statement,
        f"Utilisation of the link ({mix}), less that of plain BBR.",
        proposals.more_than_plain(data, "utilization", variant, mix, BUFFERS),
    )
