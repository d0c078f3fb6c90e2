"""Modelling the buffer: BBR that uses no more than half of its estimated share of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from narrows.figures.model import Figure, Guide
from narrows.reproduce import proposals
from narrows.reproduce.exhibit import Case, Data, Finding, Picture, Scope
from narrows.reproduce.judging import judge_bounds
from narrows.reproduce.proposals import AS_IT_IS, PLAIN, Variant

from . import improved_path

if TYPE_CHECKING:
    import polars as pl

    from narrows.report import Check
    from narrows.store import StoredTrial

MEMORY = "10s"
VARIANTS = {
    PLAIN: AS_IT_IS,
    "model": Variant("with a model of the buffer", "queue", {"buffer_model": MEMORY}),
}
ALONE, CUBIC, RENO = "4 BBR", "2 BBR + 2 CUBIC", "2 BBR + 2 Reno"
MIXES = {ALONE: {"bbr": 4}, CUBIC: {"bbr": 2, "cubic": 2}, RENO: {"bbr": 2, "reno": 2}}
BUFFERS = (0.5, 1.0, 2.0, 4.0)
SHALLOW = (0.5, 1.0)
CLAIM = "ietf98/buffer-model"


def cases(scope: Scope) -> Iterator[Case]:
    """BBR alone, beside CUBIC and beside Reno."""
    make = improved_path.bottleneck(scope)
    yield from proposals.cells(VARIANTS, MIXES, BUFFERS, make)


def measure(trial: StoredTrial) -> dict[str, pl.DataFrame]:
    """Each run's results: one row."""
    return {"outcome": proposals.outcome(trial)}


def draw(data: Data) -> list[Picture]:
    """Loss and queue alone; shares beside the others."""
    fair = (Guide(50, "fair"),)
    panels = (
        proposals.panel(data, "loss", "Loss (%)", VARIANTS, ALONE, title=ALONE),
        proposals.panel(data, "queue", "Mean queue (BDP)", VARIANTS, ALONE, title=ALONE),
        *(
            proposals.panel(
                data, "share", "BBR's share (%)", VARIANTS, mix,
                title=mix, guides=fair, top=102,
            )
            for mix in (CUBIC, RENO)
        ),
    )  # fmt: skip
    figure = Figure(
        "A model of the buffer",
        f"{improved_path.PATH}, mean and range of the trials; {data.scope.profile}",
        panels,
        "Lines over the buffer: loss and queue of BBR alone, and its share beside CUBIC and Reno.",
        columns=2,
        height=3.2,
    )
    return [Picture("", "Loss, queue and shares with a model of the buffer and without", figure)]


def judge(data: Data) -> list[Finding]:
    """Less pressure and loss, fairer shares."""
    checks = [
        _judge_value(data, "loss", "Less loss in shallow buffers.", "loss", " %", ALONE),
        _judge_value(data, "queue", "Less pressure on the buffer there.", "queue", " BDP", ALONE),
        fairer(data, "cubic", "Fairer to CUBIC there.", CUBIC),
        fairer(data, "reno", "Fairer to Reno there.", RENO),
    ]
    return [Finding(CLAIM, checks)]


def _judge_value(data: Data, check: str, statement: str, value: str, unit: str, mix: str) -> Check:
    return judge_bounds(
        data,
        CLAIM,
        check,
        statement,
        f"{proposals.WORDS[value].capitalize()} ({mix}), with the model over that of plain BBR.",
        proposals.against_plain(data, value, "model", mix, SHALLOW),
        proposals.as_measured(data, value, unit, "model", mix, SHALLOW),
    )


def fairer(data: Data, check: str, statement: str, mix: str) -> Check:
    """How far BBR's share, of half the flows, is from one half."""
    return judge_bounds(
        data,
        CLAIM,
        check,
        statement,
        f"How far BBR's share of the goodput is from one half, with as many flows of each kind "
        f"({mix}): with the model over that of plain BBR.",
        proposals.off_half(data, "model", mix, SHALLOW),
        proposals.as_measured(data, "share", " %", "model", mix, SHALLOW),
    )
