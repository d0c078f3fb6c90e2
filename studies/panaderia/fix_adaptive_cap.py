"""Section IV-E1: a cap on data in flight that follows loss, RTT and throughput."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from narrows.figures.model import Figure, Guide
from narrows.reproduce import proposals
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds
from narrows.reproduce.proposals import AS_IT_IS, PLAIN, Variant

from . import fix_path, testbed

if TYPE_CHECKING:
    import polars as pl

    from narrows.store import StoredTrial

VARIANTS = {
    PLAIN: AS_IT_IS,
    "adaptive": Variant("adaptive cap", "queue", {"adaptive_cap": True}),
}
ALONE, MIXED = "4 BBR", "2 BBR + 2 CUBIC"
MIXES = {ALONE: {"bbr": 4}, MIXED: {"bbr": 2, "cubic": 2}}
BUFFERS = (0.5, 1.0, 1.5, 2.0, 4.0, 8.0)
SHALLOW, DEEP = (0.5, 1.0), (4.0, 8.0)


def cases(scope: Scope) -> Iterator[Case]:
    """Both kinds of BBR, alone and beside CUBIC."""
    yield from proposals.cells(VARIANTS, MIXES, BUFFERS, fix_path.bottleneck(scope))


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": proposals.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Loss and queue alone, the share beside CUBIC."""
    panels = (
        proposals.panel(data, "loss", "Loss (%)", VARIANTS, ALONE, title=ALONE),
        proposals.panel(data, "queue", "Mean queue (BDP)", VARIANTS, ALONE, title=ALONE),
        proposals.panel(
            data, "share", "BBR's share (%)", VARIANTS, MIXED,
            title=MIXED, guides=(Guide(50, "fair"),), top=102,
        ),
        proposals.panel(data, "loss", "Loss (%)", VARIANTS, MIXED, title=MIXED),
    )  # fmt: skip
    figure = Figure(
        "A cap that adapts",
        f"80 Mbit/s, 25 ms, {testbed.span(data.scope)}, mean and range; {data.scope.profile}",
        panels,
        "Lines over the buffer: loss, share and queue of BBR with the adaptive cap and without.",
        columns=2,
        height=3.2,
    )
    return [Picture("", "Loss, queue and share with an adaptive cap and without", figure)]


def judge(data: Data) -> list[Finding]:
    """Loss is lower, the share larger."""
    claim = "panaderia/fix-adaptive-cap"
    loss = judge_bounds(
        data,
        claim,
        "loss",
        "It loses less than BBR in shallow buffers.",
        "Packets dropped of packets arrived, 4 BBR flows, over those of plain BBR.",
        proposals.against_plain(data, "loss", "adaptive", ALONE, SHALLOW),
        proposals.as_measured(data, "loss", " %", "adaptive", ALONE, SHALLOW),
    )
    share = judge_bounds(
        data,
        claim,
        "share",
        "In deep buffers it gets a larger share beside CUBIC.",
        "The share of the goodput of 2 BBR flows beside 2 CUBIC flows over that of plain BBR.",
        proposals.against_plain(data, "share", "adaptive", MIXED, DEEP),
        proposals.as_measured(data, "share", " %", "adaptive", MIXED, DEEP),
    )
    return [Finding(claim, [loss, share])]
