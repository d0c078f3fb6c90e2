"""Quicker detection of full pipes, PRR-like recovery, more frequent draining."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from narrows.figures.model import Figure
from narrows.reproduce import proposals
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.ietf98 import improved_path, improvements
from narrows.reproduce.proposals import AS_IT_IS, PLAIN, Variant

if TYPE_CHECKING:
    import polars as pl

    from narrows.store import StoredTrial

VARIANTS = {
    PLAIN: AS_IT_IS,
    "exit": Variant("full pipe after 1 round", "cubic", {"full_bw_rounds": 1}),
    "prr": Variant("PRR-like recovery", "reno", {"prr_recovery": True}),
    "drain": Variant("drains to 1 BDP", "dctcp", {"drain_to_target": True}),
}
LONG, SHORT = "4 BBR", "the first 3 s of 1 BBR"
BUFFERS = (0.5, 1.0, 2.0, 4.0)
SHALLOW, DEEP = (0.5, 1.0), (2.0, 4.0)


def cases(scope: Scope) -> Iterator[Case]:
    """Long flows, and the start of one: STARTUP is over long before the warm-up is."""
    make = improved_path.bottleneck(scope)
    start = improved_path.bottleneck(scope, duration="3s", warmup="0s")
    yield from proposals.cells(VARIANTS, {LONG: {"bbr": 4}}, BUFFERS, make)
    yield from proposals.cells(VARIANTS, {SHORT: {"bbr": 1}}, BUFFERS, start)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """What each run came to: one row."""
    return {"outcome": proposals.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Loss and queue of long flows, and of the start."""
    panels = tuple(
        proposals.panel(data, value, label, VARIANTS, mix, title=mix)
        for mix in (LONG, SHORT)
        for value, label in (("loss", "Loss (percent)"), ("queue", "Mean queue (BDP)"))
    )
    figure = Figure(
        "Three ways to less queue and loss",
        f"{improvements.PATH}, mean and range of the trials; {data.scope.profile}",
        panels,
        "Loss and mean queue by the buffer for BBR and three changes of it.",
        columns=2,
        height=3.2,
    )
    return [Picture("", "Loss and queue of long flows, and of a flow's first seconds", figure)]


def judge(data: Data) -> list[Finding]:
    """Each by itself: lower loss and queue where it can act, at equal throughput."""
    checks = [
        proposals.less(data, "Quicker detection: a lower queue at the start.",
                       "queue", " BDP", "exit", SHORT, BUFFERS),
        proposals.not_less(data, "Quicker detection: the start uses the link as well.",
                           "utilization", " %", "exit", SHORT, BUFFERS, points=3.0),
        proposals.less(data, "PRR-like recovery: less loss in shallow buffers.",
                       "loss", " %", "prr", LONG, SHALLOW),
        proposals.less(data, "More frequent draining: a lower queue in deep buffers.",
                       "queue", " BDP", "drain", LONG, DEEP),
        proposals.less(data, "More frequent draining: less loss in shallow buffers.",
                       "loss", " %", "drain", LONG, SHALLOW),
        *(
            proposals.not_less(data, f"{VARIANTS[name].label}: the same throughput.",
                               "utilization", " %", name, LONG, BUFFERS, points=1.0)
            for name in ("exit", "prr", "drain")
        ),
    ]  # fmt: skip
    return [Finding("ietf98/startup-faster-exit", checks)]
